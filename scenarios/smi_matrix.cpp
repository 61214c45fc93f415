#include "scenarios/smi_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr std::size_t most_devices = 256;

struct Token {
  std::string text;
  int line = 0;
  int column = 0;
};

using Line = std::vector<Token>;

/// Length of an escape sequence (ESC [ ... letter) that starts here, else 0.
std::size_t escape_length(const std::string& text, std::size_t at) {
  if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') return 0;
  std::size_t end = at + 2;
  while (end < text.size() && (text[end] < '@' || text[end] > '~') && text[end] != '\n') ++end;
  return end < text.size() && text[end] != '\n' ? end + 1 - at : end - at;
}

/// Words of each line without colours; columns count what is in the file.
std::vector<Line> words(const std::string& text) {
  std::vector<Line> lines(1);
  int column = 1;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t escape = escape_length(text, at);
    if (escape > 0) {
      at += escape;
      column += static_cast<int>(escape);
      continue;
    }
    const char c = text[at++];
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!blank && !inside) lines.back().push_back({"", static_cast<int>(lines.size()), column});
    if (!blank) lines.back().back().text += c;
    inside = !blank;
    ++column;
    if (c == '\n') {
      lines.emplace_back();
      column = 1;
    }
  }
  return lines;
}

bool is_number(const std::string& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_gpu_name(const std::string& text) {
  int number = 0;
  return text.starts_with("GPU") && is_number(text.substr(3), number) && number >= 0;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : lines_(words(text)), name_(name) {}
  SmiMatrix run();

 private:
  std::size_t read_header();
  void read_row(const Line& line);
  void read_legend(std::size_t from);
  void check_symmetry();
  std::optional<SmiClass> read_class(const Token& token, int& links);
  void fail(const Token& token, const std::string& message) {
    problems_.push_back({{name_, token.line, token.column}, "", message});
  }
  void finish() const {
    if (!problems_.empty()) throw InputError(problems_);
  }

  std::vector<Line> lines_;
  const std::string& name_;
  std::vector<Problem> problems_;
  SmiMatrix matrix_;
  std::map<std::string, std::size_t> column_;
  std::vector<Line> rows_;  // per column, empty: not seen
};

/// The first line of names that begin with a GPU, and the next is a row. Returns the line after it.
std::size_t Reader::read_header() {
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const Line& line = lines_[at];
    // A header has several names or is followed by its first row; a row has a class after its name.
    if (line.empty() || !is_gpu_name(line[0].text)) continue;
    int links = 0;
    if (line.size() > 1 && !is_gpu_name(line[1].text) && read_class(line[1], links)) {
      fail(line[0], "expected the line of column names (GPU0 GPU1 ...) before the first row");
      finish();
    }
    for (const Token& token : line) {
      if (token.text == "CPU" || token.text == "NUMA") break;
      if (!column_.try_emplace(token.text, matrix_.names.size()).second) {
        fail(token, fmt::format("expected each column once, found {} again", token.text));
        continue;
      }
      matrix_.names.push_back(token.text);
    }
    if (matrix_.names.size() > most_devices) fail(line[0], fmt::format("expected at most {} columns", most_devices));
    finish();
    return at + 1;
  }
  fail({"", 1, 1}, "no matrix: expected a line of column names such as 'GPU0 GPU1 CPU Affinity'");
  finish();
  return 0;
}

std::optional<SmiClass> Reader::read_class(const Token& token, int& links) {
  static const std::map<std::string, SmiClass> known{
      {"X", SmiClass::self},    {"PIX", SmiClass::pix}, {"PXB", SmiClass::pxb}, {"PHB", SmiClass::phb},
      {"NODE", SmiClass::node}, {"SYS", SmiClass::sys}, {"SOC", SmiClass::sys}};
  if (const auto found = known.find(token.text); found != known.end()) return found->second;
  const bool counted = token.text.starts_with("NV") && is_number(token.text.substr(2), links);
  if (counted && links >= 1 && links <= 1000) return SmiClass::nvlink;
  return std::nullopt;
}

void Reader::read_row(const Line& line) {
  const auto column = column_.find(line[0].text);
  if (column == column_.end()) {
    fail(line[0], fmt::format("a row for {}, which has no column", line[0].text));
    return;
  }
  const std::size_t row = column->second;
  const std::size_t devices = matrix_.names.size();
  if (!rows_[row].empty()) {
    fail(line[0], fmt::format("expected each row once, found {} again", line[0].text));
    return;
  }
  rows_[row] = line;
  if (line.size() < devices + 1) {
    fail(line[0], fmt::format("{}: expected {} entries, found {}", line[0].text, devices, line.size() - 1));
    return;
  }
  for (std::size_t c = 0; c < devices; ++c) {
    const Token& token = line[c + 1];
    const std::optional<SmiClass> one = read_class(token, matrix_.links[row][c]);
    if (!one) {
      fail(token, fmt::format("expected X, NV#, PIX, PXB, PHB, NODE or SYS, found '{}'", token.text));
    } else if ((*one == SmiClass::self) != (c == row)) {
      fail(token, c == row ? fmt::format("expected X for {} itself, found {}", line[0].text, token.text)
                           : fmt::format("expected X only on the diagonal, found it at {}", matrix_.names[c]));
    } else if (*one == SmiClass::nvlink && !(matrix_.is_gpu(row) && matrix_.is_gpu(c))) {
      fail(token, "expected NV# between GPUs only");
    }
    matrix_.classes[row][c] = one.value_or(SmiClass::sys);
  }
  if (line.size() > devices + 1) matrix_.affinity[row] = line[devices + 1].text;
}

/// "NIC0: mlx5_0" names what the columns number.
void Reader::read_legend(std::size_t from) {
  for (; from < lines_.size(); ++from) {
    const Line& line = lines_[from];
    if (line.size() != 2 || !line[0].text.ends_with(":")) continue;
    const auto column = column_.find(line[0].text.substr(0, line[0].text.size() - 1));
    if (column != column_.end() && !matrix_.is_gpu(column->second) && !column_.contains(line[1].text)) {
      matrix_.names[column->second] = line[1].text;
    }
  }
}

void Reader::check_symmetry() {
  for (std::size_t a = 0; a < rows_.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (matrix_.classes[a][b] == matrix_.classes[b][a] && matrix_.links[a][b] == matrix_.links[b][a]) continue;
      const Token& token = rows_[a][b + 1];
      fail(token, fmt::format("expected {} to {} to be as {} to {} ({}), found {}", matrix_.names[a], matrix_.names[b],
                              matrix_.names[b], matrix_.names[a], rows_[b][a + 1].text, token.text));
    }
  }
}

SmiMatrix Reader::run() {
  std::size_t at = read_header();
  const std::size_t devices = matrix_.names.size();
  matrix_.classes.assign(devices, std::vector<SmiClass>(devices, SmiClass::sys));
  matrix_.links.assign(devices, std::vector<int>(devices, 0));
  matrix_.affinity.assign(devices, "");
  rows_.resize(devices);
  std::size_t rows = 0;
  for (; at < lines_.size() && rows < devices; ++at) {
    if (lines_[at].empty()) continue;
    if (lines_[at][0].text == "Legend:") break;
    read_row(lines_[at]);
    ++rows;
  }
  for (std::size_t row = 0; row < devices; ++row) {
    if (rows_[row].empty())
      fail({"", static_cast<int>(std::min(at, lines_.size() - 1)) + 1, 1},
           fmt::format("no row for {}", matrix_.names[row]));
  }
  finish();
  check_symmetry();
  finish();
  read_legend(at);
  return std::move(matrix_);
}

}  // namespace

SmiMatrix read_smi_matrix(const std::string& text, const std::string& name) {
  return Reader(text, name).run();
}

}  // namespace stepsim
