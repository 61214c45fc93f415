// dry_run.cpp: PyTorch's dry run of a lowered schedule, in steps (lowered_clock.h).
#include <algorithm>

#include "schedules/pipeline/circle.h"
#include "schedules/pipeline/lowered_clock.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

class DryRun {
 public:
  DryRun(const PipelineOrder& order, const std::vector<LoweredRank>& lists)
      : order_(order),
        lists_(lists),
        next_(lists.size(), 0),
        units_(static_cast<std::size_t>(order.units)),
        done_(2 * static_cast<std::size_t>(order.stages) * units_, false),
        sent_(done_),
        received_(done_) {}

  /// The number of steps, or -1 when no rank can go on.
  int steps() {
    int steps = 0;
    for (; left() > 0; ++steps) {
      bool progress = false;
      std::vector<std::size_t> waiting;
      for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
        if (next_[rank] == lists_[rank].size()) continue;
        if (take(rank)) {
          progress = true;
        } else {
          waiting.push_back(rank);
        }
      }
      if (!progress) return -1;
      for (const std::size_t rank : waiting) take(rank);
    }
    return steps;
  }

 private:
  [[nodiscard]] std::size_t left() const {
    std::size_t left = 0;
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) left += lists_[rank].size() - next_[rank];
    return left;
  }

  bool take(std::size_t rank) {
    const LoweredRank& list = lists_[rank];
    const std::size_t first = next_[rank];
    const std::size_t end = first + (list[first].action.fused ? 2 : 1);
    for (std::size_t i = first; i < end; ++i) {
      if (!ready(rank, list[i])) return false;
    }
    for (; next_[rank] < end; ++next_[rank]) enter(list[next_[rank]]);
    return true;
  }

  [[nodiscard]] std::size_t at(bool forward, const Action& action) const {
    const std::size_t row = 2 * static_cast<std::size_t>(action.stage) + (forward ? 1 : 0);
    return row * units_ + static_cast<std::size_t>(action.microbatch);
  }

  [[nodiscard]] bool ready(std::size_t rank, const LoweredAction& one) const {
    switch (one.kind) {
      case LoweredKind::send_forward:
        return done_[at(true, one.action)];
      case LoweredKind::send_backward:
        return done_[at(false, one.action)];
      case LoweredKind::receive_forward:
        return sent_[at(true, partner(one).action)];
      case LoweredKind::receive_backward:
        return sent_[at(false, partner(one).action)];
      case LoweredKind::compute:
        break;
      default:
        return true;
    }
    if (one.action.kind == ActionKind::weight_gradient) return true;
    const bool forward = one.action.kind == ActionKind::forward;
    if (one.action.stage == (forward ? 0 : order_.stages - 1)) return true;
    if (received_[at(forward, one.action)]) return true;
    Action before = one.action;
    before.stage += forward ? -1 : 1;
    return order_.rank(before.stage, before.microbatch) == static_cast<std::int32_t>(rank) &&
           done_[at(forward, before)];
  }

  void enter(const LoweredAction& one) {
    if (one.kind == LoweredKind::compute && one.action.kind != ActionKind::weight_gradient) {
      done_[at(one.action.kind == ActionKind::forward, one.action)] = true;
    }
    if (one.kind == LoweredKind::send_forward || one.kind == LoweredKind::send_backward) {
      sent_[at(one.kind == LoweredKind::send_forward, one.action)] = true;
    }
    if (one.kind == LoweredKind::receive_forward || one.kind == LoweredKind::receive_backward) {
      received_[at(one.kind == LoweredKind::receive_forward, one.action)] = true;
    }
  }

  const PipelineOrder& order_;
  const std::vector<LoweredRank>& lists_;
  std::vector<std::size_t> next_;
  std::size_t units_;
  std::vector<bool> done_, sent_, received_;
};

}  // namespace

int dry_run_steps(const PipelineOrder& order, const std::vector<LoweredRank>& ranks) {
  const int steps = DryRun(order, ranks).steps();
  if (steps >= 0) return steps;
  play(order, ranks, {});  // says which actions wait for each other
  throw InputError("schedule", "no rank can go on");
}

}  // namespace stepsim
