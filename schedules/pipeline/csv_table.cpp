// csv_table.cpp: rows, cells and the grammar of a cell (csv_table.h).
//
//   cell    [action | "(" action ";" action ")OVERLAP_F_B"], spaces around each part allowed
//   action  stage letters [microbatch]
//
// PyTorch matches a prefix of the cell, so that junk behind an action passes there; here it is refused.
#include "schedules/pipeline/csv_table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace stepsim {
namespace {

constexpr std::int32_t largest_number = 999'999'999;
constexpr std::string_view overlap = "OVERLAP_F_B";

struct Letters {
  const char* name;
  LoweredKind kind;
  ActionKind compute = ActionKind::forward;
};

constexpr std::array<Letters, 12> all_letters = {{{"F", LoweredKind::compute, ActionKind::forward},
                                                  {"I", LoweredKind::compute, ActionKind::input_gradient},
                                                  {"W", LoweredKind::compute, ActionKind::weight_gradient},
                                                  {"B", LoweredKind::compute, ActionKind::backward},
                                                  {"BW", LoweredKind::compute, ActionKind::backward},
                                                  {"SEND_F", LoweredKind::send_forward},
                                                  {"RECV_F", LoweredKind::receive_forward},
                                                  {"SEND_B", LoweredKind::send_backward},
                                                  {"RECV_B", LoweredKind::receive_backward},
                                                  {"UNSHARD", LoweredKind::unshard},
                                                  {"RESHARD", LoweredKind::reshard},
                                                  {"REDUCE_GRAD", LoweredKind::reduce_gradients}}};

/// A cell's actions, or what is wrong with it.
using ReadCell = std::variant<std::vector<LoweredAction>, std::string>;
using ReadAction = std::variant<LoweredAction, std::string>;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// As it may be printed: short, without control characters.
std::string shown(std::string_view text) {
  std::string all = "'";
  for (const char c : text.substr(0, 40)) all += c >= ' ' && c <= '~' ? c : '?';
  return all + (text.size() > 40 ? "...'" : "'");
}

std::string_view take_while(std::string_view& text, bool (*belongs)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), belongs);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// -1: too large.
std::int32_t number(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) {
    value = 10 * value + (digit - '0');
    if (value > largest_number) return -1;
  }
  return static_cast<std::int32_t>(value);
}

std::string too_large(std::string_view digits) {
  return "the number " + shown(digits) + " is too large: expected at most " + std::to_string(largest_number);
}

std::string unknown_letters(std::string_view word) {
  std::vector<std::string> known;
  std::string list;
  for (const Letters& letters : all_letters) {
    known.emplace_back(letters.name);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  std::string upper(word);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const bool is_known = std::find(known.begin(), known.end(), upper) != known.end();
  const std::string near = is_known          ? upper
                           : word.size() > 1 ? nearest(upper, known)
                                             : "";  // one letter is near to all
  return "unknown action " + shown(word) + (near.empty() ? "" : ", did you mean '" + near + "'?") + " (known: " + list +
         ")";
}

ReadAction read_action(std::string_view text, std::size_t& old_letters) {
  const std::string whole = shown(text);
  const std::string_view stage = take_while(text, is_digit);
  if (stage.empty()) return "expected a stage, a letter and a microbatch, such as '3F5', found " + whole;
  if (number(stage) < 0) return too_large(stage);
  const std::string_view word = take_while(text, is_letter);
  if (word.empty()) return "expected a letter after the stage, such as '3F5', found " + whole;
  const auto* letters = std::find_if(all_letters.begin(), all_letters.end(),
                                     [&](const Letters& candidate) { return candidate.name == word; });
  if (letters == all_letters.end()) return unknown_letters(word);
  const std::string_view microbatch = take_while(text, is_digit);
  if (!text.empty())
    return "expected nothing after " + shown(whole.substr(1, whole.find(text) - 1)) + ", found " + shown(text);
  if (number(microbatch) < 0) return too_large(microbatch);
  if (has_microbatch(letters->kind) && microbatch.empty()) {
    return whole + " has no microbatch: expected one, such as " + shown(std::string(stage) + letters->name + "0");
  }
  if (!has_microbatch(letters->kind) && !microbatch.empty()) {
    return whole + " has a microbatch: " + letters->name + " is of a stage, expected " +
           shown(std::string(stage) + letters->name);
  }
  if (word == "BW") ++old_letters;
  return LoweredAction{letters->kind, {letters->compute, false, number(stage), number(microbatch)}};
}

ReadCell read_pair(std::string_view text, std::size_t& old_letters) {
  const std::string form = "expected a fused pair as '(0F3;3B5)OVERLAP_F_B', found " + shown(text);
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open != 0 || close == std::string_view::npos || trimmed(text.substr(close + 1)) != overlap) return form;
  const std::string_view inside = text.substr(1, close - 1);
  if (inside.find_first_of("()") != std::string_view::npos || inside.find(overlap) != std::string_view::npos) {
    return "pairs cannot hold pairs: " + form;
  }
  const std::size_t middle = inside.find(';');
  if (middle == std::string_view::npos || inside.find(';', middle + 1) != std::string_view::npos) return form;
  std::vector<LoweredAction> pair;
  for (const std::string_view part : {inside.substr(0, middle), inside.substr(middle + 1)}) {
    ReadAction action = read_action(trimmed(part), old_letters);
    if (auto* wrong = std::get_if<std::string>(&action)) return "in a fused pair: " + *wrong;
    pair.push_back(std::get<LoweredAction>(action));
  }
  const bool computes = pair[0].kind == LoweredKind::compute && pair[1].kind == LoweredKind::compute;
  if (!computes || pair[0].action.kind != ActionKind::forward || !gives_input_gradient(pair[1].action.kind)) {
    return "a fused pair is a forward and a backward, in this order: " + form;
  }
  pair[0].action.fused = true;
  return pair;
}

ReadCell read_cell(std::string_view text, std::size_t& old_letters) {
  if (text.find('"') != std::string_view::npos) {
    return "quoted cells are not read: no action has a comma in it, write " + shown("0F0") + " as it is, found " +
           shown(text);
  }
  if (text.front() == '(' || text.find(overlap) != std::string_view::npos) return read_pair(text, old_letters);
  ReadAction action = read_action(text, old_letters);
  if (auto* wrong = std::get_if<std::string>(&action)) return std::move(*wrong);
  return std::vector<LoweredAction>{std::get<LoweredAction>(action)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

std::vector<std::string_view> lines(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // spreadsheets put a byte order mark first
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> all = split(text, '\n');
  for (std::string_view& line : all) {
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return all;
}

void read_row(std::string_view line, CsvTable& table, CsvProblems& problems) {
  const auto rank = static_cast<std::int32_t>(table.rows.size());
  std::vector<CsvAction>& row = table.rows.emplace_back();
  std::vector<std::int32_t>& idle = table.idle.emplace_back(1, 0);
  std::int32_t cell = 0;
  bool found = false;
  for (const std::string_view part : split(line, ',')) {
    ++cell;
    const std::string_view text = trimmed(part);
    if (text.empty()) {
      ++idle.back();
      continue;
    }
    found = true;
    idle.push_back(0);
    ReadCell read = read_cell(text, table.old_letters);
    if (auto* wrong = std::get_if<std::string>(&read)) {
      problems.add(rank, cell, *wrong);
      if (part.find('"') != std::string_view::npos) break;  // where its quotes end is not known
      continue;
    }
    for (const LoweredAction& action : std::get<std::vector<LoweredAction>>(read)) {
      row.push_back({action, rank, cell, static_cast<std::int32_t>(row.size())});
    }
  }
  if (!found) problems.add_row(rank, "empty row: expected the actions of this rank");
}

}  // namespace

void CsvProblems::add(Problem problem) {
  if (!full()) problems_.push_back(std::move(problem));
}

void CsvProblems::add(std::int32_t rank, std::int32_t cell, const std::string& text) {
  add({{file_, rank + 1, cell}, "", "rank " + std::to_string(rank) + ", cell " + std::to_string(cell) + ": " + text});
}

void CsvProblems::add_row(std::int32_t rank, const std::string& text) {
  add({{file_, rank + 1, 0}, "", "rank " + std::to_string(rank) + ": " + text});
}

void CsvProblems::add_file(const std::string& text) {
  add({{file_, 0, 0}, "", text});
}

void CsvProblems::raise() {
  if (problems_.empty()) return;
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  if (full()) problems_.push_back({{file_, 0, 0}, "", "and maybe more: only the first 100 problems are listed"});
  throw InputError(problems_);
}

CsvTable read_csv_table(const std::string& text, const std::string& file) {
  CsvTable table;
  table.file = file;
  CsvProblems problems(file);
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; })) {
    problems.add_file("the file is empty: expected a row of actions for each rank, such as '0F0,0F1,0B0,0B1'");
    problems.raise();
  }
  for (const std::string_view line : lines(text)) read_row(line, table, problems);
  problems.raise();
  return table;
}

}  // namespace stepsim
