// seq1f1b: 1F1B over segments of each microbatch's sequence (causal attention).
//
// Each microbatch is cut into k segments, unit u = microbatch x k + segment. Rank r: w = min(p - 2 - r + k, m k) forwards
// in ascending order; then forwards and backwards by turns, then the backwards that are left. The i-th backward is of
// microbatch i div k, segment k - 1 - i mod k: F(segment) needs F of the segment before, B that of the segment after.
// Bubble (p - 1)(F + B) of a segment; rank r keeps at most p - r - 1 + k segments of 1/k activation.
// Source: arXiv 2406.03488; the order as zero-bubble-pipeline-parallelism's seq1f1b.py.
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

PipelineOrder make(const PipelineSizes& sizes) {
  const int segments = sizes.segments;
  const int units = sizes.microbatches * segments;
  PipelineOrder order = empty_order(sizes.ranks, units, loop_placement(sizes.ranks, 1));
  order.segments = segments;
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    const int warm = std::min(sizes.ranks - 2 - rank + segments, units);
    for (int unit = 0; unit < warm; ++unit) list.push_back(forward(rank, unit));
    for (int i = 0; i < units; ++i) {
      if (warm + i < units) list.push_back(forward(rank, warm + i));
      list.push_back(backward(rank, i / segments * segments + segments - 1 - i % segments));
    }
  }
  return order;
}

std::vector<std::string> seq_refusals(const PipelineSizes& sizes) {
  const std::int64_t units = static_cast<std::int64_t>(sizes.microbatches) * sizes.segments;
  if (units <= 1'000'000'000) return {};
  return {"m x segments = " + std::to_string(units) + ": expected at most 1000000000"};
}

}  // namespace

void add_seq1f1b(Registry<PipelineFamily>& families) {
  families.add("seq1f1b", "1F1B over segments of each sequence",
               {.placement = "one stage a rank",
                .source = "arXiv 2406.03488 (Seq1F1B)",
                .complexity = "O(p m k) for k segments",
                .stages_per_rank = 1,
                .takes_segments = true,
                .refusals = seq_refusals,
                .make = make});
}

}  // namespace stepsim
