// table.h: one value per (row, column): what planners note by rank and microbatch.
#pragma once

#include <cstddef>
#include <vector>

namespace stepsim {

template <class T>
class Table {
 public:
  Table(int rows, int columns, T value)
      : columns_(static_cast<std::size_t>(columns)), values_(static_cast<std::size_t>(rows) * columns_, value) {}

  T& operator()(int row, int column) { return values_[place(row, column)]; }
  const T& operator()(int row, int column) const { return values_[place(row, column)]; }

 private:
  [[nodiscard]] std::size_t place(int row, int column) const {
    return static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column);
  }

  std::size_t columns_;
  std::vector<T> values_;
};

}  // namespace stepsim
