// lowered_clock.h: plays a pipeline order whose sends and receives are written out (lowering.h), in abstract time.
//
// Each rank runs its list in order. A RECV lasts until its data is there, `send` after the peer's SEND. A SEND takes no
// time; with blocking sends it stands until the peer has come to the RECV, and both go on `send` later (rendezvous).
// UNSHARD, RESHARD and REDUCE_GRAD take no time here.
#pragma once

#include <vector>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/lowering.h"

namespace stepsim {

struct PlayedLowered {
  std::vector<std::vector<PlayedAction>> ranks;  // as the lists
  Ticks makespan = 0;
};

/// InputError("schedule", ...) when ranks wait for each other in a circle: names it, with the cells of
/// ClockOptions::cells where they are given.
PlayedLowered play(const PipelineOrder& order, const std::vector<LoweredRank>& ranks, const ClockOptions& options);

/// Steps of PyTorch's own dry run (_simulate_comms_compute): every action, communication too, is a step of its rank; in
/// each step ranks look one after the other, and those that could not go on look a second time.
int dry_run_steps(const PipelineOrder& order, const std::vector<LoweredRank>& ranks);

}  // namespace stepsim
