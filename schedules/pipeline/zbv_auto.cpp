// zbv, zbv_auto, zbv_auto_mw: ZB-V planned by a greedy for given costs and memory; two stages a rank, placed as a V.
//
// Each kind of action has a way there and a way back: F(c0) and I(c1) come from the rank before (leg 0), F(c1) and I(c0)
// from the rank after (leg 1), where the rank is not at the V's turn. W's wait in one queue per rank.
//   a  F(c0) on every rank
//   b  from the last rank down: F(c0) on ranks 0..r while all fit in the time and memory before F(c1) can start; F(c1)
//   c  from rank 1 up, F's by turns of the chunks on ranks p-1..r, until rank r has as many as the rank before and is
//      ahead of it in F(c1)
//   d  2m times: one I on every rank (leg 1 from the last rank down, then leg 0 from the first up), then one F where
//      there is one; before each, W's that fit in the time until its input is there, or that memory asks for, and one
//      that does not fit where the rank has idled less than it may
//   e  the W's that are left
// A rank may idle as long as the worst does so far, or as the run before found (approved); runs are repeated as long as
// the worst gets better. The best of four settings: fill before leg-0 I's, and before F's, even where that delays them.
// No bubble within a rank when F = I = W and m >= 2p-1; memory limit by default 2p chunks.
//
// Source: the published generator of arXiv 2401.10241, section 6 (sail-sg/zero-bubble-pipeline-parallelism,
// scheduler/zbv.py); sums in its order, as in zero_bubble_auto.cpp. Where an action needs no other rank nothing is
// filled in before it (the generator reads the time of its last node there, which matters with latency only).
#include <algorithm>
#include <deque>
#include <utility>

#include "schedules/pipeline/families.h"
#include "schedules/pipeline/limits.h"
#include "schedules/pipeline/plan_costs.h"
#include "schedules/pipeline/table.h"

namespace stepsim {
namespace {

enum Kind : int { f_there, f_back, i_there, i_back, w_there, w_back };  // c0 c1, c1 c0, c1 c0
constexpr int kinds = 6;

struct Fills {
  bool forward = true;
  bool input = true;
};

class Greedy {
 public:
  Greedy(int ranks, int microbatches, const PlanCosts& costs, Fills fills, const std::vector<double>& approved)
      : p_(ranks),
        m_(microbatches),
        costs_(costs),
        fills_(fills),
        approved_(approved),
        most_approved_(*std::max_element(approved.begin(), approved.end())),
        end_(ranks * 4, microbatches, not_yet),
        ranks_(static_cast<std::size_t>(ranks)),
        order_(empty_order(ranks, microbatches, v_placement(ranks))) {}

  /// Where it came to a stop, with no room or no input: "" or "1F5 on rank 2".
  std::string plan() {
    first_forwards();
    even_out();
    for (int turn = 0; turn < 2 * m_ && problem_.empty(); ++turn) inputs_and_forwards();
    for (int r = 0; r < p_; ++r) {
      while (!at(r).pending.empty()) weight(r);
    }
    return problem_;
  }

  [[nodiscard]] double most_idle() const { return most_idle_; }
  [[nodiscard]] std::vector<double> idle() const {
    std::vector<double> all;
    for (const Rank& rank : ranks_) all.push_back(rank.idle);
    return all;
  }
  PipelineOrder take() { return std::move(order_); }

 private:
  static constexpr double not_yet = -1;

  struct Rank {
    int done[kinds] = {};
    double clock = 0;
    double idle = 0;           // since its first F
    std::deque<Kind> pending;  // W's
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  double& end(Kind kind, int rank, int mb) { return end_(rank * 4 + kind, mb); }

  double held(int rank) {
    const int* done = at(rank).done;
    const int forwards = done[f_there] + done[f_back];
    const int inputs = done[i_there] + done[i_back];
    return (forwards - inputs) * costs_.activation.after_forward +
           (inputs - done[w_there] - done[w_back]) * costs_.activation.after_input;
  }
  double after(int rank, int forwards) { return held(rank) + forwards * costs_.activation.after_forward; }

  /// The rank whose result the action takes; -1: its own.
  [[nodiscard]] int source(Kind kind, int rank) const {
    const bool back = kind % 2 == 1;
    if (back) return rank + 1 < p_ ? rank + 1 : -1;
    return rank - 1;
  }
  /// Its input is made; at the turn the rank's own.
  bool made(Kind kind, int rank) {
    const int mb = at(rank).done[kind];
    const int from = source(kind, rank);
    if (mb >= m_ || (kind != f_there && end(static_cast<Kind>(kind - 1), rank, mb) == not_yet)) return false;
    return from < 0 || end(kind, from, mb) != not_yet;
  }

  [[nodiscard]] static bool is_forward(Kind kind) { return kind < i_there; }

  void put(Kind kind, int rank) {
    Rank& now = at(rank);
    const int mb = now.done[kind];
    const int stage = kind == f_there || kind == i_back || kind == w_back ? rank : 2 * p_ - 1 - rank;
    const Action action = is_forward(kind) ? forward(stage, mb) : input_gradient(stage, mb);
    if (!made(kind, rank) || after(rank, is_forward(kind) ? 1 : 0) > costs_.limit) {
      if (problem_.empty()) problem_ = to_string(action) + " on rank " + std::to_string(rank);
      return;
    }
    const double lasts = is_forward(kind) ? costs_.forward : costs_.input;
    const double at_once = now.clock + lasts;
    now.clock = at_once;
    const int from = source(kind, rank);
    if (from >= 0) now.clock = std::max(now.clock, end(kind, from, mb) + costs_.send + lasts);
    if (now.done[f_there] > 0) now.idle += now.clock - at_once;
    most_idle_ = std::max(most_idle_, now.idle);
    end(kind, rank, mb) = now.clock;
    if (!is_forward(kind)) now.pending.push_back(kind == i_there ? w_there : w_back);
    ++now.done[kind];
    order_.ranks[static_cast<std::size_t>(rank)].push_back(action);
  }

  void weight(int rank) {
    Rank& now = at(rank);
    const Kind kind = now.pending.front();
    now.pending.pop_front();
    now.clock += costs_.weight;
    const int stage = kind == w_back ? rank : 2 * p_ - 1 - rank;
    order_.ranks[static_cast<std::size_t>(rank)].push_back(weight_gradient(stage, now.done[kind]++));
  }

  void first_forwards() {
    for (int r = 0; r < p_; ++r) put(f_there, r);
    for (int r = p_ - 1; r >= 0; --r) {
      while (r + 1 < p_ && problem_.empty() && after(r, 2 + 2 * r) <= costs_.limit &&
             at(r).clock + costs_.forward <= end(f_back, r + 1, 0) + costs_.send && at(r).done[f_there] < m_) {
        for (int up_to = 0; up_to <= r; ++up_to) put(f_there, up_to);
      }
      put(f_back, r);
    }
  }

  void even_out() {
    Kind chunk = f_there;
    for (int r = 1; r < p_; ++r) {
      const int* here = at(r).done;
      const int* before = at(r - 1).done;
      while (problem_.empty() && (here[f_there] + here[f_back] < before[f_there] + before[f_back] ||
                                  (here[f_back] <= before[f_back] && before[f_back] < m_))) {
        for (int down_to = p_ - 1; down_to >= r; --down_to) {
          if (at(down_to).done[chunk] < m_) put(chunk, down_to);
        }
        chunk = chunk == f_there ? f_back : f_there;
      }
    }
  }

  /// W's before an action, in the time until its input is there; `partly`: also one that delays it.
  void fill(Kind kind, int rank, bool partly) {
    const int from = source(kind, rank);
    if (from < 0 || at(rank).done[kind] >= m_) return;
    Rank& now = at(rank);
    const double made_at = end(kind, from, now.done[kind]);
    if (made_at == not_yet) return;
    const double arrives = made_at + costs_.send;
    while (!now.pending.empty() && arrives >= now.clock + costs_.weight) weight(rank);
    const double may_idle = std::max(most_idle_, most_approved_ - approved_[static_cast<std::size_t>(rank)]);
    if (partly && !now.pending.empty() && arrives - now.clock > may_idle - now.idle) weight(rank);
  }

  Kind next_input(int rank) {
    const int* done = at(rank).done;
    if (done[i_back] >= done[i_there]) return i_there;
    if (rank + 1 == p_ || done[i_there] >= m_ || end(i_back, rank + 1, done[i_back]) != not_yet) return i_back;
    return i_there;
  }

  /// The F whose turn it is, if its input is made.
  std::pair<bool, Kind> next_forward(int rank) {
    const int* done = at(rank).done;
    if (done[f_back] >= m_) return {false, f_there};
    if (done[f_back] >= done[f_there]) return {true, f_there};
    if (rank + 1 == p_ || end(f_back, rank + 1, done[f_back]) != not_yet) return {true, f_back};
    const bool there = done[f_there] < m_ && (rank == 0 || end(f_there, rank - 1, done[f_there]) != not_yet);
    return {there, f_there};
  }

  void inputs_and_forwards() {
    // I takes M_B and leaves M_W of it, so it always has room.
    std::vector<Kind> next;
    for (int r = 0; r < p_; ++r) next.push_back(next_input(r));
    const auto input = [&](int r) {
      const Kind kind = next[static_cast<std::size_t>(r)];
      fill(kind, r, kind == i_back || fills_.input);
      put(kind, r);
    };
    for (int r = p_ - 1; r >= 0; --r) {
      if (next[static_cast<std::size_t>(r)] == i_back) input(r);
    }
    for (int r = 0; r < p_; ++r) {
      if (next[static_cast<std::size_t>(r)] == i_there) input(r);
    }
    for (int r = 0; r < p_; ++r) {
      const auto [there, kind] = next_forward(r);
      if (!there) continue;
      while (after(r, 1) > costs_.limit && !at(r).pending.empty()) weight(r);
      fill(kind, r, fills_.forward);
      put(kind, r);
    }
  }

  int p_, m_;
  const PlanCosts& costs_;
  Fills fills_;
  const std::vector<double>& approved_;  // what each rank may idle
  double most_approved_;
  Table<double> end_;
  std::vector<Rank> ranks_;
  double most_idle_ = 0;
  PipelineOrder order_;
  std::string problem_;
};

struct Plan {
  PipelineOrder order;
  double most_idle = 0;
  std::string problem;
};

/// Runs until the worst idle time gets no better.
Plan plan(const PipelineSizes& sizes, const PlanCosts& costs, Fills fills) {
  std::vector<double> approved(static_cast<std::size_t>(sizes.ranks), -1);
  Plan best;
  for (bool first = true;; first = false) {
    Greedy greedy(sizes.ranks, sizes.microbatches, costs, fills, approved);
    std::string problem = greedy.plan();
    if (first && !problem.empty()) return {{}, 0, std::move(problem)};
    if (!problem.empty() || (!first && greedy.most_idle() >= best.most_idle)) return best;
    best = {greedy.take(), greedy.most_idle(), {}};
    approved = greedy.idle();
  }
}

Plan best_plan(const PipelineSizes& sizes, const PlanCosts& costs) {
  Plan best;
  bool any = false;
  for (const bool input : {true, false}) {
    for (const bool forward : {true, false}) {
      Plan one = plan(sizes, costs, {forward, input});
      if (any && (!one.problem.empty() || one.most_idle >= best.most_idle)) continue;
      any = one.problem.empty();
      best = std::move(one);
    }
  }
  return best;
}

PlanCosts equal(const PipelineSizes& sizes) {
  return equal_plan_costs(sizes, {}, 2 * sizes.ranks);
}
PlanCosts half_released(const PipelineSizes& sizes) {
  return equal_plan_costs(sizes, {4, 2}, 8 * sizes.ranks);
}
PlanCosts given(const PipelineSizes& sizes) {
  return given_plan_costs(sizes, 2 * sizes.ranks);
}

template <PlanCosts (*costs)(const PipelineSizes&)>
PipelineOrder make(const PipelineSizes& sizes) {
  return best_plan(sizes, costs(sizes)).order;
}

template <PlanCosts (*costs)(const PipelineSizes&)>
std::vector<std::string> refuse(const PipelineSizes& sizes) {
  const PlanCosts with = costs(sizes);
  std::vector<std::string> problems = activation_refusals(with.activation);
  const double enough = 2 * sizes.ranks * with.activation.after_forward;
  if (!problems.empty()) return problems;
  const std::string problem = best_plan(sizes, with).problem;
  if (!problem.empty()) {
    problems.push_back("memory limit = " + format_units(with.limit) + ": the plan comes to a stop at " + problem +
                       "; 2p chunks, " + format_units(enough) + ", are always enough");
  }
  return problems;
}

}  // namespace

void add_zbv_auto(Registry<PipelineFamily>& families) {
  const auto add = [&](const char* name, const char* what, const char* twin, auto refuse, auto make) {
    families.add(name, what,
                 {.placement = "V",
                  .source = "arXiv 2401.10241, section 6; zero-bubble zbv.py",
                  .complexity = "O(p m) for each of four settings, a few times",
                  .stages_per_rank = 2,
                  .takes_limit = true,
                  .cost_driven_twin = twin,
                  .refusals = refuse,
                  .make = make});
  };
  add("zbv", "zero bubble on a V, planned for the given costs", "", refuse<given>, make<given>);
  add("zbv_auto", "zero bubble on a V, planned for equal costs", "zbv", refuse<equal>, make<equal>);
  add("zbv_auto_mw", "the same where I releases half of an activation; the limit counts quarters of one", "zbv",
      refuse<half_released>, make<half_released>);
}

}  // namespace stepsim
