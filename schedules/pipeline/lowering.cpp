// lowering.cpp: PyTorch's passes over a pipeline order (lowering.h).
#include "schedules/pipeline/lowering.h"

#include <algorithm>
#include <array>

#include "schedules/pipeline/circle.h"
#include "schedules/pipeline/clock.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr std::size_t gathered_stages = 3;  // torch: max_active_stages

bool gives_weight_gradient(const LoweredAction& action) {
  return action.kind == LoweredKind::compute &&
         (action.action.kind == ActionKind::weight_gradient || action.action.kind == ActionKind::backward);
}

LoweredAction of_stage(LoweredKind kind, std::int32_t stage) {
  return {kind, {ActionKind::forward, false, stage, 0}};
}

LoweredRank plain(const RankOrder& list) {
  LoweredRank all;
  for (const Action& action : list) all.push_back({LoweredKind::compute, action});
  return all;
}

/// REDUCE_GRAD goes behind a fused pair, never into it.
LoweredRank with_reductions(const LoweredRank& list, std::int32_t stages) {
  std::vector<std::size_t> left(static_cast<std::size_t>(stages), 0);
  for (const LoweredAction& one : list) {
    if (gives_weight_gradient(one)) ++left[static_cast<std::size_t>(one.action.stage)];
  }
  LoweredRank all;
  for (const LoweredAction& one : list) {
    all.push_back(one);
    if (gives_weight_gradient(one) && --left[static_cast<std::size_t>(one.action.stage)] == 0) {
      all.push_back(of_stage(LoweredKind::reduce_gradients, one.action.stage));
    }
  }
  return all;
}

std::size_t cell_size(const LoweredRank& list, std::size_t at) {
  return list[at].action.fused && at + 1 < list.size() ? 2 : 1;
}

/// The next distinct stages from here on. A fused pair counts whole.
std::vector<std::int32_t> next_stages(const LoweredRank& list, std::size_t from) {
  std::vector<std::int32_t> stages;
  for (std::size_t at = from; at < list.size() && stages.size() < gathered_stages;) {
    for (const std::size_t end = at + cell_size(list, at); at < end; ++at) {
      const std::int32_t stage = list[at].action.stage;
      if (std::find(stages.begin(), stages.end(), stage) == stages.end()) stages.push_back(stage);
    }
  }
  return stages;
}

LoweredRank with_gathers(const LoweredRank& list, bool reshard_last) {
  LoweredRank all;
  std::vector<std::int32_t> active;  // ascending
  for (std::size_t at = 0; at < list.size();) {
    const std::vector<std::int32_t> next = next_stages(list, at);
    for (const std::int32_t stage : std::vector<std::int32_t>(active)) {
      if (std::find(next.begin(), next.end(), stage) != next.end()) continue;
      all.push_back(of_stage(LoweredKind::reshard, stage));
      active.erase(std::find(active.begin(), active.end(), stage));
    }
    for (const std::int32_t stage : next) {
      const auto place = std::lower_bound(active.begin(), active.end(), stage);
      if (place != active.end() && *place == stage) continue;
      all.push_back(of_stage(LoweredKind::unshard, stage));
      active.insert(place, stage);
    }
    for (const std::size_t end = at + cell_size(list, at); at < end; ++at) all.push_back(list[at]);
  }
  if (reshard_last) {
    for (const std::int32_t stage : active) all.push_back(of_stage(LoweredKind::reshard, stage));
  }
  return all;
}

/// The pass that places sends and receives.
class Sender {
 public:
  Sender(const PipelineOrder& order, const std::vector<LoweredRank>& lists)
      : order_(order),
        lists_(lists),
        next_(lists.size(), 0),
        placed_(lists.size()),
        forward_(static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.units), false),
        backward_(forward_) {}

  std::vector<LoweredRank> place() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < lists_.size(); ++rank) progress = turn(rank) || progress;
    }
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      if (next_[rank] == lists_[rank].size()) continue;
      play(order_, {});  // says which actions wait for each other
      throw InputError("schedule", "no rank can go on");
    }
    return std::move(placed_);
  }

 private:
  bool turn(std::size_t rank) {
    const LoweredRank& list = lists_[rank];
    if (next_[rank] == list.size()) return false;
    const std::size_t end = next_[rank] + cell_size(list, next_[rank]);
    for (std::size_t at = next_[rank]; at < end; ++at) {
      if (!ready(list[at])) return false;
    }
    // PyTorch places a fused pair whole, then the sends of both.
    for (std::size_t at = next_[rank]; at < end; ++at) placed_[rank].push_back(list[at]);
    for (std::size_t at = next_[rank]; at < end; ++at) hand_over(rank, list[at]);
    next_[rank] = end;
    return true;
  }

  [[nodiscard]] std::size_t at(std::int32_t stage, std::int32_t unit) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.units) + static_cast<std::size_t>(unit);
  }

  /// A result is there for the next stage once it is computed on the same rank, or its receive is placed.
  [[nodiscard]] bool ready(const LoweredAction& one) const {
    const Action& action = one.action;
    if (one.kind != LoweredKind::compute) return true;
    if (action.kind == ActionKind::forward && action.stage > 0)
      return forward_[at(action.stage - 1, action.microbatch)];
    if (gives_input_gradient(action.kind) && action.stage + 1 < order_.stages) {
      return backward_[at(action.stage + 1, action.microbatch)];
    }
    return true;
  }

  void hand_over(std::size_t rank, const LoweredAction& one) {
    if (one.kind != LoweredKind::compute || one.action.kind == ActionKind::weight_gradient) return;
    const bool forward = one.action.kind == ActionKind::forward;
    (forward ? forward_ : backward_)[at(one.action.stage, one.action.microbatch)] = true;
    const std::optional<Action> taker = consumer(order_, one.action);
    if (!taker) return;
    const std::int32_t to = order_.rank(taker->stage, taker->microbatch);
    if (to == static_cast<std::int32_t>(rank)) return;
    LoweredAction send{forward ? LoweredKind::send_forward : LoweredKind::send_backward, one.action};
    send.action.kind = ActionKind::forward;
    send.action.fused = false;
    placed_[rank].push_back(send);
    placed_[static_cast<std::size_t>(to)].push_back(partner(send));
  }

  const PipelineOrder& order_;
  const std::vector<LoweredRank>& lists_;
  std::vector<std::size_t> next_;  // in each rank's list
  std::vector<LoweredRank> placed_;
  std::vector<bool> forward_, backward_;
};

}  // namespace

PipelineOrder merge_backwards(const PipelineOrder& order) {
  PipelineOrder merged = order;
  for (RankOrder& list : merged.ranks) {
    RankOrder all;
    for (const Action& action : list) {
      const bool in_pair = all.size() > 1 && all[all.size() - 2].fused;
      if (action.kind == ActionKind::weight_gradient && !all.empty() && !in_pair &&
          all.back() == input_gradient(action.stage, action.microbatch)) {
        all.back().kind = ActionKind::backward;
      } else {
        all.push_back(action);
      }
    }
    list = std::move(all);
  }
  return merged;
}

std::vector<LoweredRank> lower(const PipelineOrder& order, const LoweringOptions& options) {
  std::vector<LoweredRank> lists;
  for (const RankOrder& list : order.ranks) {
    LoweredRank lowered = plain(list);
    if (options.reduce_gradients) lowered = with_reductions(lowered, order.stages);
    if (options.gather) lowered = with_gathers(lowered, options.reshard_last);
    lists.push_back(std::move(lowered));
  }
  return Sender(order, lists).place();
}

std::string letters(const LoweredAction& action) {
  constexpr std::array compute = {"F", "I", "W", "B"};
  constexpr std::array others = {"", "SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD"};
  if (action.kind == LoweredKind::compute) return compute[static_cast<std::size_t>(action.action.kind)];
  return others[static_cast<std::size_t>(action.kind)];
}

bool has_microbatch(LoweredKind kind) {
  return kind < LoweredKind::unshard;
}

std::string to_string(const LoweredAction& action) {
  std::string text = std::to_string(action.action.stage) + letters(action);
  if (has_microbatch(action.kind)) text += std::to_string(action.action.microbatch);
  return text;
}

std::vector<std::string> cells(const LoweredRank& rank) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < rank.size(); ++at) {
    if (cell_size(rank, at) == 2) {
      all.push_back("(" + to_string(rank[at]) + ";" + to_string(rank[at + 1]) + ")OVERLAP_F_B");
      ++at;
    } else {
      all.push_back(to_string(rank[at]));
    }
  }
  return all;
}

LoweredAction partner(const LoweredAction& action) {
  LoweredAction other = action;
  switch (action.kind) {
    case LoweredKind::send_forward:
      other.kind = LoweredKind::receive_forward;
      ++other.action.stage;
      break;
    case LoweredKind::receive_forward:
      other.kind = LoweredKind::send_forward;
      --other.action.stage;
      break;
    case LoweredKind::send_backward:
      other.kind = LoweredKind::receive_backward;
      --other.action.stage;
      break;
    case LoweredKind::receive_backward:
      other.kind = LoweredKind::send_backward;
      ++other.action.stage;
      break;
    default:
      break;
  }
  return other;
}

}  // namespace stepsim
