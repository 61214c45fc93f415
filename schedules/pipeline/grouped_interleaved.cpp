// grouped_interleaved: loop placement, groups of G microbatches on a chunk at a time; less memory than interleaved 1F1B.
//
// q = ceil(p/2), raised until q (F + I + W) >= p max(F, I); k = ceil(q/G); x(c) = 3G (c div (v / gcd(v, k))). In slots, of
// chunk c, member g of group n on rank d, each group 3Gv after the one before:
//   F          3kG c + 3g + d + x(c)
//   I of v-1-c L + 3(p-1-d) + 1 + 3kG c + 3g + x(c), with L = 3kG (v-1) + d + x(v-1);   W one slot later
// Ranks run what they have by slot. The published generator takes a G below q as q and one above p as p; here a G above p
// is refused and one below q made by the rule.
// Source: PipeOffload (arXiv 2503.01328), group_interleaved_1f1b.py of sail-sg/zero-bubble-pipeline-parallelism.
#include <algorithm>
#include <numeric>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

/// The least group that keeps the ranks busy.
int least_group(const PipelineSizes& sizes) {
  const ActionCosts& costs = sizes.costs;
  const Ticks all = costs.forward + costs.input_gradient + costs.weight_gradient;
  int least = (sizes.ranks + 1) / 2;
  while (least < sizes.ranks && least * all < sizes.ranks * std::max(costs.forward, costs.input_gradient)) ++least;
  return least;
}

struct Slot {
  std::int64_t slot = 0;
  Action action;
};

class Slots {
 public:
  explicit Slots(const PipelineSizes& sizes) : p_(sizes.ranks), v_(sizes.stages_per_rank), m_(sizes.microbatches) {
    const int least = least_group(sizes);
    group_ = sizes.group == 0 ? least : sizes.group;
    k_ = (least + group_ - 1) / group_;
    run_ = v_ / std::gcd(v_, k_);
  }

  [[nodiscard]] RankOrder rank_order(int rank) const {
    const std::int64_t first_input = chunk(v_ - 1) + rank + 3 * (p_ - 1 - rank) + 1;
    std::vector<Slot> slots;
    for (int microbatch = 0; microbatch < m_; ++microbatch) {
      const std::int64_t member = 3 * (microbatch % group_) + 3 * group_ * v_ * (microbatch / group_);
      for (int c = 0; c < v_; ++c) {
        const int ahead = static_cast<int>(c * p_) + rank;
        const int back = static_cast<int>((v_ - 1 - c) * p_) + rank;
        const std::int64_t input = first_input + chunk(c) + member;
        slots.push_back({chunk(c) + rank + member, forward(ahead, microbatch)});
        slots.push_back({input, input_gradient(back, microbatch)});
        slots.push_back({input + 1, weight_gradient(back, microbatch)});
      }
    }
    std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.slot < b.slot; });
    RankOrder list;
    for (const Slot& slot : slots) list.push_back(slot.action);
    return list;
  }

 private:
  [[nodiscard]] std::int64_t chunk(std::int64_t c) const { return 3 * k_ * group_ * c + 3 * group_ * (c / run_); }

  std::int64_t p_;
  std::int64_t v_;
  int m_;
  std::int64_t group_ = 1;
  std::int64_t k_ = 1;
  std::int64_t run_ = 1;  // chunks between shifts
};

PipelineOrder make(const PipelineSizes& sizes) {
  PipelineOrder order =
      empty_order(sizes.ranks, sizes.microbatches, loop_placement(sizes.ranks, sizes.stages_per_rank));
  const Slots slots(sizes);
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    order.ranks[static_cast<std::size_t>(rank)] = slots.rank_order(rank);
  }
  return order;
}

std::vector<std::string> grouped_refusals(const PipelineSizes& sizes) {
  if (sizes.group >= 0 && sizes.group <= sizes.ranks) return {};
  return {"group = " + std::to_string(sizes.group) + ": expected 1 to p = " + std::to_string(sizes.ranks)};
}

}  // namespace

void add_grouped_interleaved(Registry<PipelineFamily>& families) {
  families.add("grouped_interleaved", "interleaved in small groups, I and W adjacent",
               {.placement = "loop",
                .source = "PipeOffload, arXiv 2503.01328",
                .complexity = "O(p v m log(v m))",
                .takes_groups = true,
                .refusals = grouped_refusals,
                .make = make});
}

}  // namespace stepsim
