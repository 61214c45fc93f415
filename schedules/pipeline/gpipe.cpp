// gpipe: all forwards, then all backwards.
//
// Rank r: F of microbatches 0 to m-1, then B of 0 to m-1 (ascending, as PyTorch's ScheduleGPipe; the paper reverses).
// Time (m + p - 1)(F + B). Source: Huang et al., arXiv 1811.06965; pytorch 2.8 ScheduleGPipe.
#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

PipelineOrder make(const PipelineSizes& sizes) {
  PipelineOrder order = empty_order(sizes.ranks, sizes.microbatches, loop_placement(sizes.ranks, 1));
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    for (int mb = 0; mb < sizes.microbatches; ++mb) list.push_back(forward(rank, mb));
    for (int mb = 0; mb < sizes.microbatches; ++mb) list.push_back(backward(rank, mb));
  }
  return order;
}

}  // namespace

void add_gpipe(Registry<PipelineFamily>& families) {
  families.add("gpipe", "all forwards, then all backwards",
               {.placement = "one stage a rank",
                .source = "arXiv 1811.06965; pytorch 2.8 ScheduleGPipe",
                .complexity = "O(p m)",
                .stages_per_rank = 1,
                .make = make});
}

}  // namespace stepsim
