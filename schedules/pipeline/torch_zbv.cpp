// torch_zbv: ZB-V by a fixed rule, two stages a rank, placed as a V.
//
// Chunk c0 of rank r is stage r, c1 stage 2p-1-r. For n = max(2p-1, m) microbatches, each kind of action of each chunk
// in the order of microbatches:
//   warm-up     F(c0) x (2(p-r)-1); r x [F(c1) F(c0)]; (p-r) x [F(c1) I(c1) W(c1)]
//   steady      while F's are left: [F(c0) if any, I(c0) W(c0) F(c1) I(c1) W(c1)]
//   cool-down   r x [I(c0) I(c1)]; (p-r) x [I(c0) W(c0)]; the W(c1) that are left, then the W(c0)
// With m < 2p-1 the actions of microbatches from m on are left out, which is valid but not the best (zbv_auto is).
// No bubble within a rank when F = I = W and m >= 2p-1; 2p chunk activations on every rank.
// Source: pytorch 2.8 ScheduleZBVZeroBubble; Qi et al., arXiv 2401.10241, section 6 (ZB-V).
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

class Writer {
 public:
  Writer(int ranks, int rank, int microbatches) : p_(ranks), rank_(rank), m_(microbatches) {}

  RankOrder write() {
    const int n = std::max(2 * p_ - 1, m_);
    for (int k = 0; k < 2 * (p_ - rank_) - 1; ++k) forward(0);
    for (int k = 0; k < rank_; ++k) forward(1), forward(0);
    for (int k = 0; k < p_ - rank_; ++k) forward(1), input(1), weight(1);
    while (chunks_[0].forwards < n || chunks_[1].forwards < chunks_[0].forwards) {
      if (chunks_[0].forwards < n) forward(0);
      input(0), weight(0), forward(1), input(1), weight(1);
    }
    for (int k = 0; k < rank_; ++k) input(0), input(1);
    for (int k = 0; k < p_ - rank_; ++k) input(0), weight(0);
    for (const int chunk : {1, 0}) {
      while (chunks_[chunk].weights < n) weight(chunk);
    }
    return std::move(list_);
  }

 private:
  struct Chunk {
    int forwards = 0;
    int inputs = 0;
    int weights = 0;
  };

  void add(ActionKind kind, int chunk, int mb) {
    if (mb < m_) list_.push_back({kind, false, chunk == 0 ? rank_ : 2 * p_ - 1 - rank_, mb});
  }
  void forward(int chunk) { add(ActionKind::forward, chunk, chunks_[chunk].forwards++); }
  void input(int chunk) { add(ActionKind::input_gradient, chunk, chunks_[chunk].inputs++); }
  void weight(int chunk) { add(ActionKind::weight_gradient, chunk, chunks_[chunk].weights++); }

  int p_, rank_, m_;
  Chunk chunks_[2];
  RankOrder list_;
};

PipelineOrder make(const PipelineSizes& sizes) {
  PipelineOrder order = empty_order(sizes.ranks, sizes.microbatches, v_placement(sizes.ranks));
  for (int r = 0; r < sizes.ranks; ++r) {
    order.ranks[static_cast<std::size_t>(r)] = Writer(sizes.ranks, r, sizes.microbatches).write();
  }
  return order;
}

}  // namespace

void add_torch_zbv(Registry<PipelineFamily>& families) {
  families.add("torch_zbv", "zero bubble on a V of two stages a rank, fixed rule",
               {.placement = "V",
                .source = "pytorch 2.8 ScheduleZBVZeroBubble; arXiv 2401.10241, section 6",
                .complexity = "O(p m)",
                .stages_per_rank = 2,
                .make = make});
}

}  // namespace stepsim
