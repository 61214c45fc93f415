// costs.h: what actions take, in abstract time units, and what activations hold.
//
// Times are whole ticks, a millionth of a unit, so that sums are exact. Sources of the units: arXiv 2401.10241 (Zero
// Bubble Pipeline Parallelism), section 2 and table 1.
#pragma once

#include <cstdint>

namespace stepsim {

using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_unit = 1'000'000;

inline double to_units(Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_unit);
}

/// Of one stage and one microbatch.
struct ActionCosts {
  Ticks forward = ticks_per_unit;
  Ticks input_gradient = ticks_per_unit;
  Ticks weight_gradient = ticks_per_unit;
  Ticks backward = 2 * ticks_per_unit;  // both gradients at once
  Ticks fused = 3 * ticks_per_unit;     // a forward and a backward that overlap
  Ticks send = 0;                       // latency of an edge between stages on different ranks
};

/// What a microbatch keeps on a stage: `after_forward` from F on, `after_input` of it from I until W.
struct ActivationUnits {
  double after_forward = 1;
  double after_input = 1;
};

}  // namespace stepsim
