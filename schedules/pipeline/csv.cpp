// csv.cpp: schedule CSV in and out (csv.h).
#include "schedules/pipeline/csv.h"

#include <algorithm>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/csv_check.h"
#include "schedules/pipeline/lowered_clock.h"

namespace stepsim {
namespace {

bool is_communication(LoweredKind kind) {
  return kind != LoweredKind::compute && kind != LoweredKind::reduce_gradients;
}

bool has(const CsvTable& table, bool (*belongs)(LoweredKind)) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<CsvAction>& row) {
    return std::any_of(row.begin(), row.end(), [&](const CsvAction& one) { return belongs(one.what.kind); });
  });
}

void refuse_empty_cells(const CsvTable& table) {
  CsvProblems problems(table.file);
  for (std::size_t rank = 0; rank < table.idle.size(); ++rank) {
    const std::vector<std::int32_t>& idle = table.idle[rank];
    const auto first = std::find_if(idle.begin(), idle.end(), [](std::int32_t slots) { return slots > 0; });
    if (first == idle.end()) continue;
    problems.add(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(first - idle.begin()) + 1,
                 "empty cell: idle slots are of the form without communication, expected none");
  }
  problems.raise();
}

/// The cells of the lists that are played.
std::vector<std::vector<std::int32_t>> cell_numbers(const CsvTable& table, bool with_communication) {
  std::vector<std::vector<std::int32_t>> numbers;
  for (const std::vector<CsvAction>& row : table.rows) {
    std::vector<std::int32_t>& list = numbers.emplace_back();
    for (const CsvAction& one : row) {
      if (with_communication || one.what.kind == LoweredKind::compute) list.push_back(one.cell);
    }
  }
  return numbers;
}

void refuse_circles(const CsvTable& table, const ImportedOrder& read) {
  const std::vector<std::vector<std::int32_t>> numbers = cell_numbers(table, read.with_communication);
  ClockOptions options;
  options.cells = &numbers;
  try {
    if (read.with_communication) {
      play(read.order, read.lowered, options);
    } else {
      play(read.order, options);
    }
  } catch (const InputError& error) {
    throw InputError(std::vector<Problem>{{{table.file, 0, 0}, "", error.problems().front().message}});
  }
}

std::vector<std::string> notes(const CsvTable& table, std::size_t renewed, const ImportedOrder& read) {
  std::vector<std::string> all;
  if (table.old_letters > 0)
    all.push_back("old letters: BW (" + std::to_string(table.old_letters) + " cells) is read as B");
  if (renewed > 0) {
    all.push_back("old letters: B of a stage and microbatch with a W of its own (" + std::to_string(renewed) +
                  " cells) is read as I");
  }
  if (read.order.copies() == 2) {
    all.push_back("two copies of the model: microbatches from " + std::to_string(read.order.units / 2) +
                  " on travel through the ranks the other way");
  }
  if (!read.with_communication && has(table, [](LoweredKind kind) { return kind == LoweredKind::reduce_gradients; })) {
    all.emplace_back("REDUCE_GRAD is left out: a stage's gradients are whole after its last W or B");
  }
  return all;
}

std::string row(const std::vector<std::string>& cells, const std::vector<std::int32_t>* idle) {
  std::string text;
  const auto commas = [&](std::size_t at) {
    if (idle != nullptr && at < idle->size()) text.append(static_cast<std::size_t>((*idle)[at]), ',');
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += ',';
    commas(i);
    text += cells[i];
  }
  commas(cells.size());
  return text + "\n";
}

}  // namespace

ImportedOrder read_pipeline_csv(const std::string& text, const std::string& file) {
  CsvTable table = read_csv_table(text, file);
  ImportedOrder read;
  read.with_communication = has(table, is_communication);
  if (read.with_communication) refuse_empty_cells(table);
  const std::size_t renewed = renew_letters(table);
  read.order = order_of(table);
  check_communication(table, read.order);
  if (read.with_communication) {
    for (const std::vector<CsvAction>& one : table.rows) {
      LoweredRank& list = read.lowered.emplace_back();
      for (const CsvAction& action : one) list.push_back(action.what);
    }
  } else {
    read.idle = table.idle;
  }
  refuse_circles(table, read);
  read.notes = notes(table, renewed, read);
  return read;
}

std::string write_pipeline_csv(const PipelineOrder& order, const IdleSlots& idle) {
  std::string text;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    text += row(cells(order.ranks[rank]), rank < idle.size() ? &idle[rank] : nullptr);
  }
  return text;
}

std::string write_pipeline_csv_with_communication(const PipelineOrder& order, const LoweringOptions& options) {
  std::string text;
  for (const LoweredRank& rank : lower(order, options)) text += row(cells(rank), nullptr);
  return text;
}

}  // namespace stepsim
