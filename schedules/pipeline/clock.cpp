#include "schedules/pipeline/clock.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "schedules/pipeline/circle.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr Ticks not_yet = -1;

/// The input that comes last, of those that are there; or the first that is not (ready == not_yet).
struct Awaited {
  Ticks ready = 0;
  std::int32_t rank = -1;
  Action what;
};

class Player {
 public:
  Player(const PipelineOrder& order, const ClockOptions& options)
      : order_(order),
        options_(options),
        forward_(results(), not_yet),
        backward_(results(), not_yet),
        forward_there_(results(), not_yet),
        backward_there_(results(), not_yet),
        ranks_(order.ranks.size()),
        senders_(order.ranks.size()),
        queued_(order.ranks.size(), false) {
    played_.ranks.resize(order.ranks.size());
    for (std::size_t r = 0; r < order.ranks.size(); ++r) played_.ranks[r].actions.resize(order.ranks[r].size());
  }

  PlayedOrder play() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) wake(static_cast<std::int32_t>(r));
    while (!queue_.empty()) {
      const std::int32_t rank = queue_.front();
      queue_.pop_front();
      queued_[static_cast<std::size_t>(rank)] = false;
      while (advance(rank)) wake_senders(rank);
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].next < order_.ranks[r].size() || !ranks_[r].sends.empty()) {
        throw InputError("schedule", explain_circle(order_, stuck()));
      }
    }
    summarise();
    return std::move(played_);
  }

 private:
  struct Rank {
    std::size_t next = 0;
    Ticks clock = 0;
    Ticks computed = 0;        // when its last action ended
    std::deque<Action> sends;  // blocking: results that still have to leave
  };

  [[nodiscard]] std::size_t results() const {
    return static_cast<std::size_t>(order_.stages) * static_cast<std::size_t>(order_.units);
  }
  [[nodiscard]] std::size_t at(std::int32_t stage, std::int32_t unit) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.units) + static_cast<std::size_t>(unit);
  }

  void wake(std::int32_t rank) {
    if (queued_[static_cast<std::size_t>(rank)]) return;
    queued_[static_cast<std::size_t>(rank)] = true;
    queue_.push_back(rank);
  }

  /// One action or one blocking send; false when the rank is done or has to wait.
  bool advance(std::int32_t rank) {
    Rank& state = ranks_[static_cast<std::size_t>(rank)];
    if (!state.sends.empty()) return meet(state, rank);
    const RankOrder& list = order_.ranks[static_cast<std::size_t>(rank)];
    if (state.next == list.size()) return false;
    const Action& action = list[state.next];
    const std::size_t parts = action.fused && options_.fused == FusedPairs::together ? 2 : 1;
    Ticks start = state.clock;
    for (std::size_t part = 0; part < parts; ++part) {
      const Ticks ready = awaits(list[state.next + part]).ready;
      if (ready == not_yet) return false;
      start = std::max(start, ready);
    }
    const Ticks lasts = parts == 2 ? options_.costs.fused : duration(options_.costs, action.kind);
    finish(rank, {start, start + lasts}, parts);
    return true;
  }

  [[nodiscard]] Awaited awaits(const Action& action) const {
    Awaited last{0, -1, {}};
    for (const Action& one : inputs(order_, action)) {
      const std::int32_t from = order_.rank(one.stage, one.microbatch);
      const bool away = from != order_.rank(action.stage, action.microbatch);
      const auto& done =
          one.kind == ActionKind::forward ? (away ? forward_there_ : forward_) : (away ? backward_there_ : backward_);
      const Ticks ready = done[at(one.stage, one.microbatch)];
      if (ready == not_yet) return {not_yet, from, one};
      if (ready >= last.ready) last = {ready, from, one};
    }
    return last;
  }

  void finish(std::int32_t rank, PlayedAction span, std::size_t parts) {
    Rank& state = ranks_[static_cast<std::size_t>(rank)];
    PlayedRank& played = played_.ranks[static_cast<std::size_t>(rank)];
    played.busy += span.end - span.start;
    state.clock = state.computed = span.end;
    for (; parts > 0; --parts, ++state.next) {
      const Action& action = order_.ranks[static_cast<std::size_t>(rank)][state.next];
      played.actions[state.next] = span;
      if (action.kind == ActionKind::weight_gradient) continue;
      (action.kind == ActionKind::forward ? forward_ : backward_)[at(action.stage, action.microbatch)] = span.end;
      hand_over(rank, state, action, span.end);
    }
  }

  void hand_over(std::int32_t rank, Rank& state, const Action& action, Ticks end) {
    const std::optional<Action> taker = consumer(order_, action);
    if (!taker) return;
    const std::int32_t to = order_.rank(taker->stage, taker->microbatch);
    if (to == rank) return;
    if (rendezvous()) {
      state.sends.push_back(action);
    } else {
      there(action) = end + options_.costs.send;
    }
    wake(to);
  }

  Ticks& there(const Action& result) {
    return (result.kind == ActionKind::forward ? forward_there_ : backward_there_)[at(result.stage, result.microbatch)];
  }

  [[nodiscard]] bool rendezvous() const { return options_.blocking_sends || options_.paired_sends; }

  /// Hands over a result of the rank (the first; paired: any), if its peer stands at the action that takes it.
  bool meet(Rank& state, std::int32_t rank) {
    for (std::size_t i = 0; i < state.sends.size(); ++i) {
      const Action result = state.sends[i];
      const Action taker = *consumer(order_, result);
      const std::int32_t to = order_.rank(taker.stage, taker.microbatch);
      const Rank& peer = ranks_[static_cast<std::size_t>(to)];
      if ((options_.paired_sends || peer.sends.empty()) && stands_at(to, taker)) {
        const Ticks since =
            options_.paired_sends ? std::max(state.computed, peer.computed) : std::max(state.clock, peer.clock);
        there(result) = since + options_.costs.send;
        state.clock = std::max(state.clock, there(result));
        state.sends.erase(state.sends.begin() + static_cast<std::ptrdiff_t>(i));
        wake(to);
        return true;
      }
      senders_[static_cast<std::size_t>(to)].push_back(rank);
      if (!options_.paired_sends) break;
    }
    return false;
  }

  [[nodiscard]] bool stands_at(std::int32_t rank, const Action& taker) const {
    const RankOrder& list = order_.ranks[static_cast<std::size_t>(rank)];
    const std::size_t next = ranks_[static_cast<std::size_t>(rank)].next;
    const auto same = [&](std::size_t i) {
      return i < list.size() && list[i].stage == taker.stage && list[i].microbatch == taker.microbatch &&
             (list[i].kind == taker.kind || (gives_input_gradient(list[i].kind) && gives_input_gradient(taker.kind)));
    };
    return same(next) || (next < list.size() && list[next].fused && same(next + 1));
  }

  /// The rank has moved: those that wait to send to it look again.
  void wake_senders(std::int32_t rank) {
    for (const std::int32_t sender : std::exchange(senders_[static_cast<std::size_t>(rank)], {})) wake(sender);
  }

  /// Where an action of the list stands as a cell, from 0.
  [[nodiscard]] std::size_t cell(std::size_t rank, std::size_t position) const {
    if (options_.cells != nullptr) return static_cast<std::size_t>((*options_.cells)[rank][position]) - 1;
    const RankOrder& list = order_.ranks[rank];
    const auto pairs = std::count_if(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(position),
                                     [](const Action& action) { return action.fused; });
    return position - static_cast<std::size_t>(pairs);
  }

  [[nodiscard]] std::vector<Stuck> stuck() const {
    std::vector<Stuck> all;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Rank& state = ranks_[r];
      if (!state.sends.empty()) {
        const Action taker = *consumer(order_, state.sends.front());
        all.push_back(
            {state.sends.front(), cell(r, state.next - 1), taker, order_.rank(taker.stage, taker.microbatch), true});
      } else if (state.next < order_.ranks[r].size()) {
        const Action& action = order_.ranks[r][state.next];
        Awaited awaited = awaits(action);
        if (awaited.ready != not_yet && action.fused) awaited = awaits(order_.ranks[r][state.next + 1]);
        all.push_back({action, cell(r, state.next), awaited.what, awaited.rank, false});
      } else {
        all.push_back({});
      }
    }
    return all;
  }

  void summarise() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      PlayedRank& played = played_.ranks[r];
      const RankOrder& list = order_.ranks[r];
      if (list.empty()) continue;
      played.start = played.actions.front().start;
      for (const PlayedAction& span : played.actions) played.end = std::max(played.end, span.end);
      std::int32_t until_weight = 0;
      std::int32_t until_input = 0;
      for (const Action& action : list) {
        if (action.kind == ActionKind::forward) ++until_weight, ++until_input;
        if (gives_input_gradient(action.kind)) --until_input;
        if (action.kind == ActionKind::weight_gradient || action.kind == ActionKind::backward) --until_weight;
        played.peak_until_weight = std::max(played.peak_until_weight, until_weight);
        played.peak_until_input = std::max(played.peak_until_input, until_input);
      }
      played_.makespan = std::max(played_.makespan, played.end);
      played_.longest_rank = std::max(played_.longest_rank, played.end - played.start);
    }
  }

  const PipelineOrder& order_;
  ClockOptions options_;
  std::vector<Ticks> forward_, backward_;              // when a result is there, on its own rank
  std::vector<Ticks> forward_there_, backward_there_;  // and on the next one's
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::int32_t>> senders_;  // blocking: who waits for a rank to come to what it sends
  std::vector<bool> queued_;
  std::deque<std::int32_t> queue_;
  PlayedOrder played_;
};

}  // namespace

Ticks duration(const ActionCosts& costs, ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return costs.forward;
    case ActionKind::input_gradient:
      return costs.input_gradient;
    case ActionKind::weight_gradient:
      return costs.weight_gradient;
    case ActionKind::backward:
      return costs.backward;
  }
  return 0;
}

double PlayedOrder::bubble() const {
  double busy = 0;
  for (const PlayedRank& rank : ranks) busy += static_cast<double>(rank.busy);
  return makespan == 0 ? 0 : 1 - busy / (static_cast<double>(ranks.size()) * static_cast<double>(makespan));
}

double PlayedOrder::rank_bubble() const {
  Ticks busiest = 0;
  for (const PlayedRank& rank : ranks) busiest = std::max(busiest, rank.busy);
  return longest_rank == 0 ? 0 : 1 - static_cast<double>(busiest) / static_cast<double>(longest_rank);
}

PlayedOrder play(const PipelineOrder& order, const ClockOptions& options) {
  return Player(order, options).play();
}

}  // namespace stepsim
