// looped_bfs: chunk after chunk, all microbatches of one before the next (breadth first).
//
// Rank r: for c = 0 .. v-1 the forwards of all microbatches on stage c p + r; then for c = v-1 .. 0 the backwards, in
// descending order of microbatches. Each stage's weights are used in one stretch, so FSDP gathers them once.
// Bubble (p - 1)(F + B) of a chunk; keeps m v activations. Source: Lamy-Poirier, arXiv 2211.05953; pytorch 2.8
// ScheduleLoopedBFS.
#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

PipelineOrder make(const PipelineSizes& sizes) {
  const int p = sizes.ranks;
  PipelineOrder order = empty_order(p, sizes.microbatches, loop_placement(p, sizes.stages_per_rank));
  for (int rank = 0; rank < p; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    for (int chunk = 0; chunk < sizes.stages_per_rank; ++chunk) {
      for (int mb = 0; mb < sizes.microbatches; ++mb) list.push_back(forward(chunk * p + rank, mb));
    }
    for (int chunk = sizes.stages_per_rank - 1; chunk >= 0; --chunk) {
      for (int mb = sizes.microbatches - 1; mb >= 0; --mb) list.push_back(backward(chunk * p + rank, mb));
    }
  }
  return order;
}

}  // namespace

void add_looped_bfs(Registry<PipelineFamily>& families) {
  families.add("looped_bfs", "chunk after chunk, all microbatches of each (breadth first)",
               {.placement = "loop",
                .source = "arXiv 2211.05953; pytorch 2.8 ScheduleLoopedBFS",
                .complexity = "O(p v m)",
                .make = make});
}

}  // namespace stepsim
