// lowered_clock.cpp: ranks that meet at sends and receives (lowered_clock.h).
#include "schedules/pipeline/lowered_clock.h"

#include <algorithm>
#include <optional>

#include "schedules/pipeline/circle.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr Ticks not_yet = -1;

bool is_send(LoweredKind kind) {
  return kind == LoweredKind::send_forward || kind == LoweredKind::send_backward;
}
bool is_receive(LoweredKind kind) {
  return kind == LoweredKind::receive_forward || kind == LoweredKind::receive_backward;
}

/// When results are there, by stage and microbatch. F and I or B of one rank count for its own next actions; a send's
/// result is entered under what the receive makes of it.
class Results {
 public:
  explicit Results(const PipelineOrder& order)
      : units_(static_cast<std::size_t>(order.units)),
        forward_(static_cast<std::size_t>(order.stages) * units_, not_yet),
        backward_(forward_) {}

  Ticks& at(bool forward, std::int32_t stage, std::int32_t unit) {
    return (forward ? forward_ : backward_)[static_cast<std::size_t>(stage) * units_ + static_cast<std::size_t>(unit)];
  }

 private:
  std::size_t units_;
  std::vector<Ticks> forward_, backward_;
};

class Meeting {
 public:
  Meeting(const PipelineOrder& order, const std::vector<LoweredRank>& lists, const ClockOptions& options)
      : order_(order),
        lists_(lists),
        options_(options),
        done_(order),
        sent_(order),
        received_(order),
        next_(lists.size(), 0),
        clock_(lists.size(), 0) {
    for (const LoweredRank& list : lists) played_.ranks.emplace_back(list.size());
  }

  PlayedLowered play() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
        while (advance(rank)) progress = true;
      }
    }
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
      if (next_[rank] < lists_[rank].size()) throw InputError("schedule", explain(rank));
      played_.makespan = std::max(played_.makespan, clock_[rank]);
    }
    return std::move(played_);
  }

 private:
  /// What keeps a rank from its next action: that of a rank, which may be itself.
  struct Wait {
    std::size_t rank = 0;
    LoweredAction what;
  };

  bool advance(std::size_t rank) {
    if (next_[rank] == lists_[rank].size() || waits(rank)) return false;
    const LoweredAction& one = lists_[rank][next_[rank]];
    const Action& action = one.action;
    if (one.kind == LoweredKind::compute) {
      compute(rank);
    } else if (is_receive(one.kind)) {
      // With blocking sends the sender has moved both.
      const bool forward = one.kind == LoweredKind::receive_forward;
      const Ticks there = sent_.at(forward, action.stage, action.microbatch);
      received_.at(forward, action.stage, action.microbatch) = std::max(clock_[rank], there);
      pass(rank, std::max(clock_[rank], there));
    } else if (is_send(one.kind)) {
      send(rank, one);
    } else {
      pass(rank, clock_[rank]);
    }
    return true;
  }

  void pass(std::size_t rank, Ticks end) {
    played_.ranks[rank][next_[rank]++] = {clock_[rank], end};
    clock_[rank] = end;
  }

  void compute(std::size_t rank) {
    const LoweredAction& one = lists_[rank][next_[rank]];
    const bool pair = one.action.fused && options_.fused == FusedPairs::together;
    const Ticks start = clock_[rank];
    const Ticks end = start + (pair ? options_.costs.fused : duration(options_.costs, one.action.kind));
    for (int part = 0; part < (pair ? 2 : 1); ++part) {
      const Action& action = lists_[rank][next_[rank]].action;
      if (action.kind != ActionKind::weight_gradient) {
        done_.at(action.kind == ActionKind::forward, action.stage, action.microbatch) = end;
      }
      clock_[rank] = start;
      pass(rank, end);
    }
  }

  void send(std::size_t rank, const LoweredAction& one) {
    const LoweredAction taker = partner(one);
    const std::size_t to = rank_of(taker);
    Ticks end = clock_[rank];
    if (options_.blocking_sends) end = std::max(end, clock_[to]) + options_.costs.send;
    sent_.at(one.kind == LoweredKind::send_forward, taker.action.stage, taker.action.microbatch) =
        options_.blocking_sends ? end : end + options_.costs.send;
    pass(rank, end);
  }

  [[nodiscard]] std::size_t rank_of(const LoweredAction& one) const {
    return static_cast<std::size_t>(order_.rank(one.action.stage, one.action.microbatch));
  }

  std::optional<Wait> waits(std::size_t rank) {
    const LoweredAction& one = lists_[rank][next_[rank]];
    if (one.kind == LoweredKind::compute) {
      std::optional<Wait> wait = misses(rank, one.action);
      if (!wait && one.action.fused && options_.fused == FusedPairs::together) {
        wait = misses(rank, lists_[rank][next_[rank] + 1].action);
      }
      return wait;
    }
    const LoweredAction other = partner(one);
    if (is_receive(one.kind) &&
        sent_.at(one.kind == LoweredKind::receive_forward, one.action.stage, one.action.microbatch) == not_yet) {
      return Wait{rank_of(other), other};
    }
    if (is_send(one.kind) && options_.blocking_sends) {
      const std::size_t to = rank_of(other);
      if (next_[to] == lists_[to].size() || lists_[to][next_[to]] != other) return Wait{to, other};
    }
    return std::nullopt;
  }

  /// An input that is not on this rank: it has to be received or computed there first.
  std::optional<Wait> misses(std::size_t rank, const Action& action) {
    for (const Action& input : inputs(order_, action)) {
      const bool forward = input.kind == ActionKind::forward;
      const bool here = order_.rank(input.stage, input.microbatch) == static_cast<std::int32_t>(rank);
      if (here ? done_.at(forward, input.stage, input.microbatch) != not_yet
               : received_.at(forward, action.stage, action.microbatch) != not_yet) {
        continue;
      }
      if (here) return Wait{rank, {LoweredKind::compute, input}};
      return Wait{rank,
                  {forward ? LoweredKind::receive_forward : LoweredKind::receive_backward,
                   {ActionKind::forward, false, action.stage, action.microbatch}}};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string sentence(std::size_t rank, const Wait& wait) const {
    const LoweredAction& at = lists_[rank][next_[rank]];
    std::size_t cell = next_[rank] + 1;
    if (options_.cells != nullptr) {
      cell = static_cast<std::size_t>((*options_.cells)[rank][next_[rank]]);
    } else {
      for (std::size_t i = 0; i < next_[rank]; ++i) cell -= lists_[rank][i].action.fused ? 1 : 0;
    }
    return "rank " + std::to_string(rank) + " at cell " + std::to_string(cell) + " (" + to_string(at) +
           (is_send(at.kind) ? ") until rank " + std::to_string(wait.rank) + " comes to " + to_string(wait.what)
                             : ") waits for " + to_string(wait.what) + " of rank " + std::to_string(wait.rank));
  }

  std::string explain(std::size_t rank) {
    std::vector<std::size_t> path;
    std::string text = "deadlock: ";
    while (std::find(path.begin(), path.end(), rank) == path.end()) {
      path.push_back(rank);
      const std::optional<Wait> wait = waits(rank);
      const LoweredRank& list = lists_[wait->rank];
      if (next_[wait->rank] == list.size() || !listed(wait->rank, wait->what)) {
        return text + sentence(rank, *wait) + ", which has no such action left";
      }
      rank = wait->rank;
    }
    for (auto at = std::find(path.begin(), path.end(), rank); at != path.end(); ++at) {
      if (text.back() != ' ') text += "; ";
      text += sentence(*at, *waits(*at));
    }
    return text;
  }

  /// Still to come in the rank's list; I and B both give the gradient.
  [[nodiscard]] bool listed(std::size_t rank, const LoweredAction& wanted) const {
    return std::any_of(lists_[rank].begin() + static_cast<std::ptrdiff_t>(next_[rank]), lists_[rank].end(),
                       [&](const LoweredAction& one) {
                         return one.kind == wanted.kind && one.action.stage == wanted.action.stage &&
                                one.action.microbatch == wanted.action.microbatch &&
                                (one.kind != LoweredKind::compute || one.action.kind == wanted.action.kind ||
                                 (gives_input_gradient(one.action.kind) && gives_input_gradient(wanted.action.kind)));
                       });
  }

  const PipelineOrder& order_;
  const std::vector<LoweredRank>& lists_;
  ClockOptions options_;
  Results done_, sent_, received_;
  std::vector<std::size_t> next_;
  std::vector<Ticks> clock_;
  PlayedLowered played_;
};

}  // namespace

PlayedLowered play(const PipelineOrder& order, const std::vector<LoweredRank>& ranks, const ClockOptions& options) {
  return Meeting(order, ranks, options).play();
}

}  // namespace stepsim
