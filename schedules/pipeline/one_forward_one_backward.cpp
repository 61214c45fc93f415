// 1f1b: a warm-up of forwards, then one forward and one backward by turns (PipeDream-flush).
//
// Rank r: w = min(p - 1 - r, m) forwards; then F(w + k), B(k) for k = 0 .. m - w - 1; then the backwards that are left.
// Bubble (p - 1)(F + B); rank r keeps at most min(p - r, m) activations.
// Source: Narayanan et al., arXiv 2104.04473, section 2.2.1; the same order in Megatron-LM, zero-bubble and PyTorch.
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

PipelineOrder make(const PipelineSizes& sizes) {
  const int m = sizes.microbatches;
  PipelineOrder order = empty_order(sizes.ranks, m, loop_placement(sizes.ranks, 1));
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    const int warm = std::min(sizes.ranks - 1 - rank, m);
    for (int mb = 0; mb < warm; ++mb) list.push_back(forward(rank, mb));
    for (int mb = 0; mb < m; ++mb) {
      if (warm + mb < m) list.push_back(forward(rank, warm + mb));
      list.push_back(backward(rank, mb));
    }
  }
  return order;
}

}  // namespace

void add_one_forward_one_backward(Registry<PipelineFamily>& families) {
  families.add("1f1b", "one forward, one backward by turns",
               {.placement = "one stage a rank",
                .source = "arXiv 2104.04473, section 2.2.1",
                .complexity = "O(p m)",
                .stages_per_rank = 1,
                .make = make});
}

}  // namespace stepsim
