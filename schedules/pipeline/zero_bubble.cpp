// zb_h1, zb_h2: the backward split in I and W by hand, so that W fills the bubbles.
//
// Rank r: w forwards; then I after I. While forwards are left, each I is followed by one W if (forwards - W's) have
// reached the cap, then by a forward; afterwards each I is followed by a W; the W's that are left come last.
//   zb_h1  w = min(p - r, m), cap p:             bubble (p-1)(F + I - W), memory as 1F1B's first rank
//   zb_h2  w = min(2(p - r) - 1, m), cap 2p - 1: no bubble within a rank when F = I = W, up to twice the memory
// Source: Qi et al., arXiv 2401.10241, section 2 (prose and figures; no published generator). This rule gives table 5's
// bubble rates.
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

RankOrder rank_order(int rank, int warm, int cap, int m) {
  RankOrder list;
  int f = 0;
  int w = 0;
  while (f < warm) list.push_back(forward(rank, f++));
  for (int i = 0; i < m; ++i) {
    list.push_back(input_gradient(rank, i));
    if (f == m || f - w == cap) list.push_back(weight_gradient(rank, w++));
    if (f < m) list.push_back(forward(rank, f++));
  }
  while (w < m) list.push_back(weight_gradient(rank, w++));
  return list;
}

PipelineOrder h1(const PipelineSizes& sizes) {
  PipelineOrder order = empty_order(sizes.ranks, sizes.microbatches, loop_placement(sizes.ranks, 1));
  for (int r = 0; r < sizes.ranks; ++r) {
    const int warm = std::min(sizes.ranks - r, sizes.microbatches);
    order.ranks[static_cast<std::size_t>(r)] = rank_order(r, warm, sizes.ranks, sizes.microbatches);
  }
  return order;
}

PipelineOrder h2(const PipelineSizes& sizes) {
  PipelineOrder order = empty_order(sizes.ranks, sizes.microbatches, loop_placement(sizes.ranks, 1));
  for (int r = 0; r < sizes.ranks; ++r) {
    const int warm = std::min(2 * (sizes.ranks - r) - 1, sizes.microbatches);
    order.ranks[static_cast<std::size_t>(r)] = rank_order(r, warm, 2 * sizes.ranks - 1, sizes.microbatches);
  }
  return order;
}

}  // namespace

void add_zero_bubble(Registry<PipelineFamily>& families) {
  families.add("zb_h1", "zero bubble by hand, memory of 1F1B",
               {.placement = "one stage a rank",
                .source = "arXiv 2401.10241, section 2",
                .complexity = "O(p m)",
                .stages_per_rank = 1,
                .make = h1});
  families.add("zb_h2", "zero bubble by hand, twice the memory",
               {.placement = "one stage a rank",
                .source = "arXiv 2401.10241, section 2",
                .complexity = "O(p m)",
                .stages_per_rank = 1,
                .make = h2});
}

}  // namespace stepsim
