// zb_1p, zb_2p and their kin: zero bubble planned for given costs and memory, by a greedy with three choices.
//
// After F an activation keeps M_B, after I M_W of it, until W; no rank goes above the limit L. Round 0: one F on every
// rank; more on each as long as they fit in what the rank waits for its first I and in L; then I(0) on all ranks from
// the last to the first. Every other round i: one F on the ranks that want one, first to last, then I(i), last to
// first. Before each, as many W's as fit in the time until its input is there, and one that does not fit where the rank
// has not yet idled as long as the worst. The W's that are left come last. The best of the eight settings of
//   early bubble      round 0 stops before its forwards delay I(0), or after
//   gradients first   a rank two forwards ahead of the next leaves one out for an earlier I
//   eager             one W that delays what comes, even where the rank has idled enough
// by the longest rank (end of the last W - start of the first F); the first of equals.
//
// Planned in doubles, sums in the generator's order: where real times tie, its rounding decides, and only so are the
// orders equal to the published ones. Whole numbers are exact either way.
//
// Source: the published generator of Qi et al., arXiv 2401.10241 (sail-sg/zero-bubble-pipeline-parallelism,
// scheduler/zb.py); the rule's numbers are the paper's "ZB-1p" (L = p M_B) and "ZB-2p" (L = 2p M_B), table 5.
#include <algorithm>

#include "schedules/pipeline/families.h"
#include "schedules/pipeline/limits.h"
#include "schedules/pipeline/plan_costs.h"
#include "schedules/pipeline/table.h"

namespace stepsim {
namespace {

struct Choices {
  bool early_bubble = true;
  bool gradients_first = true;
  bool eager = true;
};

class Greedy {
 public:
  Greedy(int ranks, int microbatches, const PlanCosts& costs, Choices choices)
      : p_(ranks),
        m_(microbatches),
        costs_(costs),
        choices_(choices),
        forward_end_(ranks, microbatches, 0),
        input_end_(ranks, microbatches, 0),
        ranks_(static_cast<std::size_t>(ranks)),
        order_(empty_order(ranks, microbatches, loop_placement(ranks, 1))) {}

  void plan() {
    first_round();
    for (int mb = 1; mb < m_; ++mb) round(mb);
    for (int j = 0; j < p_; ++j) {
      while (at(j).weights < m_) weight(j);
    }
  }

  [[nodiscard]] double longest_rank() const {
    double longest = 0;
    for (int j = 0; j < p_; ++j) {
      longest = std::max(longest, ranks_[static_cast<std::size_t>(j)].clock - forward_end_(j, 0) + costs_.forward);
    }
    return longest;
  }

  PipelineOrder take() { return std::move(order_); }

 private:
  struct Rank {
    int forwards = 0;  // done
    int inputs = 0;
    int weights = 0;
    double clock = 0;
    double idle = 0;  // since its first F
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  RankOrder& list(int rank) { return order_.ranks[static_cast<std::size_t>(rank)]; }

  /// What the rank holds, with so many more F and W.
  double held(int rank, int forwards, int weights) {
    const Rank& now = at(rank);
    return (now.forwards + forwards - now.inputs) * costs_.activation.after_forward +
           (now.inputs - now.weights - weights) * costs_.activation.after_input;
  }
  bool pending(int rank) { return at(rank).weights < at(rank).inputs; }

  void advance(int rank, double lasts, double arrives) {
    Rank& now = at(rank);
    const double at_once = now.clock + lasts;
    now.clock = std::max(at_once, arrives + lasts);
    if (now.forwards > 0) now.idle += now.clock - at_once;
    most_idle_ = std::max(most_idle_, now.idle);
  }

  double forward_arrives(int rank, int mb) { return rank > 0 ? forward_end_(rank - 1, mb) + costs_.send : 0; }
  double input_arrives(int rank, int mb) { return rank + 1 < p_ ? input_end_(rank + 1, mb) + costs_.send : 0; }

  void forward(int rank) {
    const int mb = at(rank).forwards;
    advance(rank, costs_.forward, forward_arrives(rank, mb));
    forward_end_(rank, mb) = at(rank).clock;
    ++at(rank).forwards;
    list(rank).push_back(stepsim::forward(rank, mb));
  }
  void input(int rank) {
    const int mb = at(rank).inputs;
    advance(rank, costs_.input, input_arrives(rank, mb));
    input_end_(rank, mb) = at(rank).clock;
    ++at(rank).inputs;
    list(rank).push_back(input_gradient(rank, mb));
  }
  void weight(int rank) {
    advance(rank, costs_.weight, 0);
    list(rank).push_back(weight_gradient(rank, at(rank).weights++));
  }

  void first_round() {
    for (int j = 0; j < p_; ++j) forward(j);
    std::vector<int> more(static_cast<std::size_t>(p_), 0);
    double first_input = at(p_ - 1).clock + costs_.input;  // end of it, on the rank after
    for (int j = p_ - 2; j >= 0; --j) {
      int& extra = more[static_cast<std::size_t>(j)];
      const double arrives = first_input + costs_.send;
      double clock = at(j).clock;
      while (at(j).forwards + extra < m_ && held(j, extra + 1, 0) <= costs_.limit &&
             (choices_.early_bubble ? clock + costs_.forward <= arrives : clock < arrives)) {
        clock += costs_.forward;
        ++extra;
      }
      first_input = std::max(clock, arrives) + costs_.input;
    }
    for (int j = 1; j < p_; ++j) {
      int& extra = more[static_cast<std::size_t>(j)];
      const int before = more[static_cast<std::size_t>(j - 1)];
      while (extra > 0 && extra >= before && at(j).forwards + extra < m_) --extra;
    }
    for (int j = 0; j < p_; ++j) {
      for (int k = 0; k < more[static_cast<std::size_t>(j)]; ++k) forward(j);
    }
    for (int j = p_ - 1; j >= 0; --j) input(j);
  }

  bool wants_forward(int rank) {
    const Rank& now = at(rank);
    if (now.forwards == m_) return false;
    if (!choices_.gradients_first || rank + 1 == p_ || now.forwards < at(rank + 1).forwards + 2) return true;
    const double next_input = at(rank + 1).clock + costs_.forward + costs_.input + costs_.send;
    if (now.clock >= next_input) return false;
    int weights = 0;  // that make room for the F
    double making_room = 0;
    while (held(rank, 1, weights) > costs_.limit && now.weights + weights < now.inputs) {
      ++weights;
      making_room += costs_.weight;
    }
    if (now.clock + costs_.forward + making_room <= next_input) return true;
    return next_input - now.clock > most_idle_ - now.idle;
  }

  /// W's in the time until an input is there.
  void fill(int rank, double arrives) {
    while (pending(rank) && at(rank).clock + costs_.weight <= arrives) weight(rank);
    if (!pending(rank) || at(rank).clock >= arrives) return;
    if (choices_.eager || arrives - at(rank).clock > most_idle_ - at(rank).idle) weight(rank);
  }

  void round(int mb) {
    int first = p_;  // no rank goes ahead where one after it does not want to
    while (first > 0 && wants_forward(first - 1)) --first;
    for (int j = first; j < p_; ++j) {
      while (held(j, 1, 0) > costs_.limit && pending(j)) weight(j);
      fill(j, forward_arrives(j, at(j).forwards));
      forward(j);
    }
    for (int j = p_ - 1; j >= 0; --j) {
      fill(j, input_arrives(j, mb));
      if (j == 0 && at(j).forwards == m_) {
        while (pending(j)) weight(j);
      }
      input(j);
    }
  }

  int p_, m_;
  const PlanCosts& costs_;
  Choices choices_;
  Table<double> forward_end_, input_end_;
  std::vector<Rank> ranks_;
  double most_idle_ = 0;
  PipelineOrder order_;
};

PipelineOrder best(const PipelineSizes& sizes, const PlanCosts& costs) {
  PipelineOrder order;
  double shortest = -1;
  for (const bool early_bubble : {true, false}) {
    for (const bool gradients_first : {true, false}) {
      for (const bool eager : {true, false}) {
        Greedy greedy(sizes.ranks, sizes.microbatches, costs, {early_bubble, gradients_first, eager});
        greedy.plan();
        if (shortest >= 0 && greedy.longest_rank() >= shortest) continue;
        shortest = greedy.longest_rank();
        order = greedy.take();
      }
    }
  }
  return order;
}

/// `times_p`: the default limit in units of p activations.
PlanCosts equal_costs(const PipelineSizes& sizes, int times_p) {
  return equal_plan_costs(sizes, {}, times_p * sizes.ranks);
}
PlanCosts given_costs(const PipelineSizes& sizes, int times_p) {
  return given_plan_costs(sizes, times_p * sizes.ranks);
}

PipelineOrder one_p_equal(const PipelineSizes& sizes) {
  return best(sizes, equal_costs(sizes, 1));
}
PipelineOrder two_p_equal(const PipelineSizes& sizes) {
  return best(sizes, equal_costs(sizes, 2));
}
PipelineOrder one_p(const PipelineSizes& sizes) {
  return best(sizes, given_costs(sizes, 1));
}
PipelineOrder two_p(const PipelineSizes& sizes) {
  return best(sizes, given_costs(sizes, 2));
}

/// The first F has to fit; then every other does, because each later round starts with at most as many activations
/// between F and I as round 0 left, less one, and W's make room for the rest.
std::vector<std::string> limit_refusals(const PipelineSizes& sizes, double after_forward) {
  if (!sizes.memory_limit || *sizes.memory_limit >= after_forward) return {};
  return {"memory limit = " + format_units(*sizes.memory_limit) + ": expected at least one activation, " +
          format_units(after_forward)};
}
std::vector<std::string> equal_refusals(const PipelineSizes& sizes) {
  return limit_refusals(sizes, 1);
}
std::vector<std::string> given_refusals(const PipelineSizes& sizes) {
  std::vector<std::string> problems = limit_refusals(sizes, sizes.activation.after_forward);
  for (std::string& problem : activation_refusals(sizes.activation)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace

void add_zero_bubble_auto(Registry<PipelineFamily>& families) {
  const auto add = [&](const char* name, const char* what, const char* twin,
                       PipelineOrder (*make)(const PipelineSizes&)) {
    families.add(name, what,
                 {.placement = "one stage a rank",
                  .source = "arXiv 2401.10241, section 3; zero-bubble zb.py",
                  .complexity = "O(p m), eight times",
                  .stages_per_rank = 1,
                  .takes_limit = true,
                  .cost_driven_twin = twin,
                  .refusals = *twin != '\0' ? equal_refusals : given_refusals,
                  .make = make});
  };
  add("zb_1p", "zero bubble planned for the given costs, memory of 1F1B", "", one_p);
  add("zb_2p", "zero bubble planned for the given costs, twice the memory", "", two_p);
  add("zb_1p_auto", "zero bubble planned for equal costs, memory of 1F1B", "zb_1p", one_p_equal);
  add("zb_2p_auto", "zero bubble planned for equal costs, twice the memory", "zb_2p", two_p_equal);
  add("zb_auto_profiled", "zero bubble planned for the given costs and memory limit", "", one_p);
}

}  // namespace stepsim
