// simulation.h: the clock that plays a StepProgram on a Network.
//
// Order: events by (time, round, phase, sequence). A round of an instant is ends, releases of dependencies, starts;
// what ends without time passing ends in the next round. When no round is left, rates are solved once per touched
// component and memory is sampled. Nothing depends on the order within a phase: `shuffle_seed` permutes it, and
// the results must be the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "sim/network.h"
#include "sim/program.h"
#include "sim/timeline.h"

namespace stepsim {

/// additive: a transfer is delivered its route's latency after it has drained. max: it is delivered at
/// start + max(latency, streaming time), as the book's latency-bound exercises count.
enum class LatencyModel : std::uint8_t { additive, max };

struct RunOptions {
  LatencyModel latency_model = LatencyModel::additive;
  std::uint32_t max_steps = 10;    // played at most, looking for two alike
  std::uint32_t exact_steps = 0;   // > 0: play just so many
  std::uint64_t shuffle_seed = 0;  // > 0: permute events within a phase
  bool record_memory = false;      // keep Timeline::memory
  /// Called about every million events, for people who wait: steps that are complete, and the share of ops done of the
  /// one in progress. Empty: not called. It changes nothing.
  std::function<void(std::uint32_t steps, double share)> progress = nullptr;
};

/// Work was left when nothing could move. The message names the first stuck classes, their ops and what each
/// waits for.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Timeline simulate(const StepProgram& program, const Network& network, const RunOptions& options);

}  // namespace stepsim
