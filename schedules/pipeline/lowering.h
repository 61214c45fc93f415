// lowering.h: a pipeline order with its communication written out, as PyTorch's runtime executes it.
//
// Passes, each as in torch.distributed.pipelining.schedules (PyTorch 2.8; REDUCE_GRAD as in its main branch):
//   merge      an I directly followed by its W becomes B
//   reduce     REDUCE_GRAD of a stage right after its last B or W
//   gather     UNSHARD, RESHARD (FSDP): before each action the next 3 stages of the rank's list are gathered, others freed
//   send       ranks by turns, one action each: an action is placed when what it receives is in its rank's list already;
//              behind an F or I or B whose result leaves the rank stands its SEND, and the RECV goes to the end of the
//              peer's list at that moment. Neighbouring stages on one rank need neither. Idle slots are no turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipeline/order.h"

namespace stepsim {

enum class LoweredKind : std::uint8_t {
  compute,
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
  unshard,
  reshard,
  reduce_gradients
};

struct LoweredAction {
  LoweredKind kind = LoweredKind::compute;
  Action action;  // of what is not compute, only the stage, and of sends and receives the microbatch

  friend bool operator==(const LoweredAction&, const LoweredAction&) = default;
};

using LoweredRank = std::vector<LoweredAction>;

struct LoweringOptions {
  bool reduce_gradients = false;
  bool gather = false;  // UNSHARD and RESHARD
  /// The stages that are left at the end are resharded too (PyTorch's main branch; in ascending order).
  bool reshard_last = false;
};

/// The order with an I and its W that follows at once taken together.
PipelineOrder merge_backwards(const PipelineOrder& order);

/// InputError("schedule", ...) when the order cannot be played: names the circle.
std::vector<LoweredRank> lower(const PipelineOrder& order, const LoweringOptions& options = {});

/// "SEND_F"; of compute the action's own letter.
std::string letters(const LoweredAction& action);
bool has_microbatch(LoweredKind kind);
/// "3SEND_F5", "3UNSHARD", "3F5"
std::string to_string(const LoweredAction& action);
/// The list as its cells, a fused pair in one.
std::vector<std::string> cells(const LoweredRank& rank);

/// What the peer of a send or a receive does: 1SEND_F4 and 2RECV_F4.
LoweredAction partner(const LoweredAction& action);

}  // namespace stepsim
