// send_matrix.h: who sends whom how much in a ragged all-to-all, from a CSV file.
//
//   from,0,1,2,3
//   0,0,40 %,0.1,0         a row: what member 0 sends to 0, 1, 2, 3 (by rank; what it keeps is never sent)
//   1,...
//
// Either all entries are sizes with their units (4 MiB, 100 kB), or all are shares of the size that is played, what one
// member sends: 0 to 1 or in percent, at most 1 in a row, rounded up to whole bytes. 0 is either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/units.h"

namespace stepsim {

struct SendMatrix {
  std::string file;
  std::uint32_t members = 0;     // 0: no matrix
  std::vector<Fraction> shares;  // [from * members + to]; empty: sizes
  std::vector<Bytes> sizes;      // likewise; empty: shares

  /// Bytes from each to each. size counts only where the matrix has shares.
  [[nodiscard]] std::vector<Bytes> at(Bytes size) const;
  /// Most that one member sends, its own part included: the size where the matrix has sizes.
  [[nodiscard]] Bytes largest_row() const;
};

/// InputError with row and column (all that are wrong, up to 20).
SendMatrix read_send_matrix(const std::string& text, const std::string& file);

}  // namespace stepsim
