// order.h: a pipeline schedule as data: per rank the ordered list of actions on (stage, microbatch).
//
// The letters are PyTorch's (torch.distributed.pipelining): F forward; I backward for inputs; W backward for weights;
// B both backwards at once. A fused pair (xFa;yBb)OVERLAP_F_B is two actions of a rank's list, the first marked.
// An order says nothing of time: the clock (clock.h) or the simulator plays it with the costs of each stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim {

enum class ActionKind : std::uint8_t { forward, input_gradient, weight_gradient, backward };

struct Action {
  ActionKind kind = ActionKind::forward;
  bool fused = false;  // with the next action of the list: both start together
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;  // where microbatches are cut into segments: microbatch x segments + segment

  friend bool operator==(const Action&, const Action&) = default;
};

inline Action forward(int stage, int microbatch) {
  return {ActionKind::forward, false, stage, microbatch};
}
inline Action input_gradient(int stage, int microbatch) {
  return {ActionKind::input_gradient, false, stage, microbatch};
}
inline Action weight_gradient(int stage, int microbatch) {
  return {ActionKind::weight_gradient, false, stage, microbatch};
}
inline Action backward(int stage, int microbatch) {
  return {ActionKind::backward, false, stage, microbatch};
}

/// I or B: what the stage before waits for.
inline bool gives_input_gradient(ActionKind kind) {
  return kind == ActionKind::input_gradient || kind == ActionKind::backward;
}

using RankOrder = std::vector<Action>;

struct PipelineOrder {
  std::int32_t stages = 0;  // a microbatch passes all of them, 0 first
  std::int32_t units = 0;   // microbatches x segments: what the field Action::microbatch counts
  std::int32_t segments = 1;
  /// Which rank holds a stage, per copy of the model: one copy, or two whose microbatches travel in opposite directions
  /// (the first half of the units goes through copy 0).
  std::vector<std::vector<std::int32_t>> rank_of;
  std::vector<RankOrder> ranks;

  [[nodiscard]] std::int32_t copies() const { return static_cast<std::int32_t>(rank_of.size()); }
  [[nodiscard]] std::int32_t copy_of(std::int32_t unit) const { return copies() == 2 && unit >= units / 2 ? 1 : 0; }
  [[nodiscard]] std::int32_t rank(std::int32_t stage, std::int32_t unit) const {
    return rank_of[static_cast<std::size_t>(copy_of(unit))][static_cast<std::size_t>(stage)];
  }
};

/// "3I5"
std::string to_string(const Action& action);
/// With its partner where it is fused: "(0F3;3B5)OVERLAP_F_B". The list as its cells.
std::vector<std::string> cells(const RankOrder& order);

// Placements: rank of each stage.
std::vector<std::int32_t> loop_placement(int ranks, int stages_per_rank);  // s -> s mod p
std::vector<std::int32_t> v_placement(int ranks);                          // s -> s, then back: 2p stages
std::vector<std::int32_t> wave_placement(int ranks, int stages_per_rank);  // forth and back again: torch's "v"
std::vector<std::int32_t> mirrored(const std::vector<std::int32_t>& placement, int ranks);

/// An order without actions for these sizes.
PipelineOrder empty_order(int ranks, int units, std::vector<std::int32_t> placement);

}  // namespace stepsim
