// Roofline: an op takes the longer of its arithmetic and its memory traffic (book, "All about rooflines").
#include <algorithm>
#include <cmath>

#include "schedules/plan.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

double peak(const ChipSpec& chip, const std::string& dtype) {
  const auto found = chip.flops.find(dtype);
  if (found != chip.flops.end()) return found->second;
  std::string known;
  for (const auto& [name, rate] : chip.flops) known += (known.empty() ? "" : ", ") + name;
  throw InputError("parallelism.dtype",
                   "chip '" + chip.name + "' has no peak for dtype '" + dtype + "' (known: " + known + ")");
}

double padded(double dim, int tile) {
  return std::ceil(dim / tile) * tile;
}

}  // namespace

Picoseconds op_time(const ChipSpec& chip, const std::string& dtype, double flop, double bytes) {
  const double arithmetic = flop / (peak(chip, dtype) * chip.matmul_efficiency);
  const double traffic = bytes / (chip.memory_rate * chip.memory_efficiency);
  return from_seconds(std::max(arithmetic, traffic)) + chip.launch_overhead;
}

Picoseconds matmul_time(const ChipSpec& chip, const std::string& dtype, double m, double k, double n,
                        double bytes_per_element) {
  const int tile = std::max(chip.matmul_tile, 1);
  const double flop = 2 * padded(m, tile) * padded(k, tile) * padded(n, tile);
  return op_time(chip, dtype, flop, (m * k + k * n + m * n) * bytes_per_element);
}

}  // namespace stepsim
