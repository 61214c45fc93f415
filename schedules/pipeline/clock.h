// clock.h: plays a pipeline order by itself, in abstract time: no model, no cluster.
//
// Each rank runs its list in order, one action at a time, as soon as
//   F(s, u)       has F(s-1, u);   with segments: and F of the segment before
//   I or B(s, u)  has F(s, u) and I or B(s+1, u);   with segments: and that of the segment after
//   W(s, u)       has I(s, u).
// What comes from another rank arrives `send` later. A fused pair starts when both parts may, and both results are there
// at its end. With blocking sends a rank stands still from the end of an action whose result leaves it until the peer
// has come to the action that takes it, and `send` more (rendezvous).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipeline/costs.h"
#include "schedules/pipeline/order.h"

namespace stepsim {

/// Of an action by itself.
Ticks duration(const ActionCosts& costs, ActionKind kind);

enum class FusedPairs : std::uint8_t {
  together,  // last ActionCosts::fused
  serial,    // the forward, then the backward, as if they were not fused
};

struct ClockOptions {
  ActionCosts costs;
  FusedPairs fused = FusedPairs::together;
  bool blocking_sends = false;
  bool paired_sends = false;  // as blocking, but a rank takes what it reads next while it hands over what it made
  /// Of a file: which cell an action stands in (from 1), for what is said of a deadlock. None: cells are counted as
  /// `cells(order)` writes them.
  const std::vector<std::vector<std::int32_t>>* cells = nullptr;
};

struct PlayedAction {
  Ticks start = 0;
  Ticks end = 0;
};

struct PlayedRank {
  std::vector<PlayedAction> actions;  // as the order's list
  Ticks start = 0;                    // of the first action
  Ticks end = 0;                      // of the last
  Ticks busy = 0;
  std::int32_t peak_until_weight = 0;  // most activations alive, from F until W or B
  std::int32_t peak_until_input = 0;   // from F until I or B
};

struct PlayedOrder {
  std::vector<PlayedRank> ranks;
  Ticks makespan = 0;
  Ticks longest_rank = 0;  // max over ranks of end - start: "cost" of the zero-bubble papers

  /// 1 - work / (p x makespan): what share of the ranks' time is idle.
  [[nodiscard]] double bubble() const;
  /// (cost - most work of a rank) / cost: the zero-bubble papers' rate.
  [[nodiscard]] double rank_bubble() const;
};

/// InputError("schedule", ...) when actions wait for each other in a circle: names them.
PlayedOrder play(const PipelineOrder& order, const ClockOptions& options);

}  // namespace stepsim
