// hanayo: waves of forwards and backwards over zig-zag stages, one copy of the weights. Unverified: no published
// generator was found and its order is not claimed to be Hanayo's own.
//
// Wave placement with v = 2w stages a rank (w waves; v = 2 is the V). A greedy list scheduler plays the ranks with the
// costs that it is given: a rank that is free takes, of what has its inputs, a backward before a forward, then the deeper
// forward, then the older microbatch. At most 2p - 1 microbatches are under way at once (fewer would starve the ranks, all
// at once would hold m activations), so a rank holds the activations of 2p - 1 microbatches at most.
// Source: Liu et al., SC23, arXiv 2308.15762, section 3 (prose and figures).
#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

class Greedy {
 public:
  explicit Greedy(const PipelineSizes& sizes)
      : sizes_(sizes),
        order_(empty_order(sizes.ranks, sizes.microbatches, wave_placement(sizes.ranks, sizes.stages_per_rank))),
        ready_(static_cast<std::size_t>(sizes.ranks)),
        free_(static_cast<std::size_t>(sizes.ranks), true) {}

  PipelineOrder make() {
    while (entered_ < std::min(2 * sizes_.ranks - 1, sizes_.microbatches)) enter();
    start_all();
    while (!events_.empty()) {
      const Ticks now = events_.top().time;
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        event.arrives ? offer(event.action) : finish(event);
      }
      now_ = now;
      start_all();
    }
    return std::move(order_);
  }

 private:
  struct Event {
    Ticks time = 0;
    std::int64_t number = 0;
    bool arrives = false;  // an action's input is there; or else the action ends
    Action action;

    bool operator>(const Event& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };

  /// Backwards first, then deeper stages, then older microbatches.
  struct Before {
    bool operator()(const Action& a, const Action& b) const {
      const bool fa = a.kind == ActionKind::forward;
      const bool fb = b.kind == ActionKind::forward;
      if (fa != fb) return !fa;
      return fa ? std::tie(b.stage, a.microbatch) < std::tie(a.stage, b.microbatch)
                : std::tie(a.microbatch, b.stage) < std::tie(b.microbatch, a.stage);
    }
  };

  [[nodiscard]] std::size_t rank(const Action& action) const {
    return static_cast<std::size_t>(order_.rank(action.stage, action.microbatch));
  }

  void enter() { offer(forward(0, entered_++)); }
  void offer(const Action& action) { ready_[rank(action)].insert(action); }

  void start_all() {
    for (std::size_t r = 0; r < ready_.size(); ++r) {
      if (!free_[r] || ready_[r].empty()) continue;
      const Action action = *ready_[r].begin();
      ready_[r].erase(ready_[r].begin());
      order_.ranks[r].push_back(action);
      free_[r] = false;
      const Ticks lasts = action.kind == ActionKind::forward ? sizes_.costs.forward : sizes_.costs.backward;
      events_.push({now_ + lasts, number_++, false, action});
    }
  }

  void finish(const Event& event) {
    const Action& action = event.action;
    free_[rank(action)] = true;
    const bool ahead = action.kind == ActionKind::forward;
    if (ahead && action.stage + 1 == order_.stages) return offer(backward(action.stage, action.microbatch));
    if (!ahead && action.stage == 0) {
      if (entered_ < sizes_.microbatches) enter();
      return;
    }
    const Action next =
        ahead ? forward(action.stage + 1, action.microbatch) : backward(action.stage - 1, action.microbatch);
    if (rank(next) == rank(action)) return offer(next);
    events_.push({event.time + sizes_.costs.send, number_++, true, next});
  }

  const PipelineSizes& sizes_;
  PipelineOrder order_;
  std::vector<std::set<Action, Before>> ready_;
  std::vector<bool> free_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t number_ = 0;  // ends and arrivals of one time stay in the order they were made
  int entered_ = 0;
  Ticks now_ = 0;
};

PipelineOrder make(const PipelineSizes& sizes) {
  return Greedy(sizes).make();
}

std::vector<std::string> hanayo_refusals(const PipelineSizes& sizes) {
  if (sizes.stages_per_rank % 2 == 0) return {};
  return {"v = " + std::to_string(sizes.stages_per_rank) +
          ": expected an even number, two stages a rank for each wave"};
}

}  // namespace

void add_hanayo(Registry<PipelineFamily>& families) {
  families.add("hanayo", "waves on zig-zag stages (unverified: greedy, no published order to compare with)",
               {.placement = "wave",
                .source = "arXiv 2308.15762, prose and figures",
                .complexity = "O(p v m log(p v m))",
                .refusals = hanayo_refusals,
                .make = make});
}

}  // namespace stepsim
