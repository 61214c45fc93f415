// console.h: what the two output streams can show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/input_error.h"

namespace stepsim {

enum class ExitCode : int {
  ok = 0,
  failed = 1,         // a deadlock, an expectation that is not met, an error of the program itself
  input_error = 2,    // what was given is wrong; nothing was run or written
  out_of_memory = 3,  // the configuration does not fit the chips' memory
};

/// Colour for a terminal that can show it, unless NO_COLOR is set (no-color.org).
bool colour_on_stdout();

/// COLUMNS, else what the terminal says itself; 100 where there is none.
std::size_t columns_of_stdout();

/// A line on standard error that says what is being done; only on a terminal, and gone when `Progress` goes.
class Progress {
 public:
  explicit Progress(const std::string& text);
  ~Progress();
  /// "TEXT: step 1, 43 %", from RunOptions::progress.
  void show(std::uint32_t steps, double share) const;
  /// "TEXT: 3 of 24"
  void show_rows(std::size_t done, std::size_t of) const;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::string text_;
};

/// One line per problem on standard error.
void print_problems(const InputError& error);

}  // namespace stepsim
