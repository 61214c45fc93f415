// csv_table.h: the cells of a schedule CSV, each by itself.
#pragma once

#include <string>
#include <vector>

#include "schedules/pipeline/csv.h"
#include "sim/input_error.h"

namespace stepsim {

/// An action of the file and where it stands.
struct CsvAction {
  LoweredAction what;
  std::int32_t rank = 0;
  std::int32_t cell = 0;      // of the row, from 1
  std::int32_t position = 0;  // in the rank's list of actions
};

struct CsvTable {
  std::string file;
  std::vector<std::vector<CsvAction>> rows;
  IdleSlots idle;
  std::size_t old_letters = 0;  // cells with BW
};

/// Collects what is wrong, up to a number that can be read.
class CsvProblems {
 public:
  explicit CsvProblems(std::string file) : file_(std::move(file)) {}

  void add(std::int32_t rank, std::int32_t cell, const std::string& text);
  void add(const CsvAction& action, const std::string& text) { add(action.rank, action.cell, text); }
  void add_row(std::int32_t rank, const std::string& text);
  void add_file(const std::string& text);

  [[nodiscard]] bool full() const { return problems_.size() >= 100; }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// Throws them, in the order of the file, if there are any.
  void raise();

 private:
  void add(Problem problem);

  std::string file_;
  std::vector<Problem> problems_;
};

/// Every cell read, or InputError.
CsvTable read_csv_table(const std::string& text, const std::string& file);

}  // namespace stepsim
