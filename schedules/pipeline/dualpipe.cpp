// dualpipe, dualpipev: a forward and a backward of opposite directions overlap as fused pairs.
//
// Both follow the same eight steps on two chunks, 0 (nearer the entry) and 1. With h ranks before this one on the way in,
// d = last - h that follow, n microbatches a chunk beyond `warm` (dualpipe: h = min(r, p-1-r), d = p/2-1-h, n - warm =
// m/2 - p; dualpipev: h = r, d = p-1-r, m - 2p):
//   1  2d times       F0
//   2  h+1 times      F0, F1
//   3  d times        I1, W (the oldest), F1
//   4  n-warm+h+1     (F0;B1) (F1;B0), fused; on the innermost ranks the very first F0, B1 are not
//   5  d times        B1, (F1;B0)
//   6  h+1 times      B1, B0; from the middle on only I, the W waits
//   7  d times        W, I0
//   8  h+1 times      W
// dualpipe: two copies of the model, microbatches [0, m/2) from rank 0 up, the others from rank p-1 down. dualpipev: the V
// placement, 2p stages. Bubble (P/2 - 1)(F&B + B - 3W), P stages in all; P + 1 activations on each rank.
// Sources: deepseek-ai/DualPipe (dualpipe.py, dualpipev.py), DeepSeek-V3 report, table 2; pytorch ScheduleDualPipeV.
#include <algorithm>
#include <array>
#include <deque>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

struct Chunk {
  int stage = 0;
  int first = 0;  // its microbatches are numbered from here
};

/// One rank's list, step by step.
class Steps {
 public:
  explicit Steps(std::array<Chunk, 2> chunks) : chunks_(chunks) {}

  void f(std::size_t chunk) { list_.push_back(forward(chunks_[chunk].stage, next(forwards_, chunk))); }
  void b(std::size_t chunk) { list_.push_back(backward(chunks_[chunk].stage, next(backwards_, chunk))); }
  void i(std::size_t chunk) {
    const int microbatch = next(backwards_, chunk);
    list_.push_back(input_gradient(chunks_[chunk].stage, microbatch));
    weights_.push_back(weight_gradient(chunks_[chunk].stage, microbatch));
  }
  void w() {
    list_.push_back(weights_.front());
    weights_.pop_front();
  }
  void pair(std::size_t ahead, std::size_t back, bool fused = true) {
    f(ahead);
    list_.back().fused = fused;
    b(back);
  }

  RankOrder take() { return std::move(list_); }

 private:
  int next(std::array<int, 2>& counts, std::size_t chunk) const { return chunks_[chunk].first + counts[chunk]++; }

  std::array<Chunk, 2> chunks_;
  std::array<int, 2> forwards_{}, backwards_{};
  std::deque<Action> weights_;  // oldest first, of both chunks
  RankOrder list_;
};

RankOrder rank_order(std::array<Chunk, 2> chunks, int before, int behind, int steady) {
  Steps steps(chunks);
  for (int k = 0; k < 2 * behind; ++k) steps.f(0);
  for (int k = 0; k <= before; ++k) steps.f(0), steps.f(1);
  for (int k = 0; k < behind; ++k) steps.i(1), steps.w(), steps.f(1);
  for (int k = 0; k < steady + before + 1; ++k) {
    steps.pair(0, 1, k > 0 || behind > 0);
    steps.pair(1, 0);
  }
  for (int k = 0; k < behind; ++k) steps.b(1), steps.pair(1, 0);
  const int middle = (before + 1) / 2;
  for (int k = 0; k <= before; ++k) {
    const bool split1 = k > middle || (k == middle && before % 2 == 1);
    split1 ? steps.i(1) : steps.b(1);
    k >= middle ? steps.i(0) : steps.b(0);
  }
  for (int k = 0; k < behind; ++k) steps.w(), steps.i(0);
  for (int k = 0; k <= before; ++k) steps.w();
  return steps.take();
}

PipelineOrder dualpipe(const PipelineSizes& sizes) {
  const int p = sizes.ranks;
  const int half = sizes.microbatches / 2;
  PipelineOrder order = empty_order(p, sizes.microbatches, loop_placement(p, 1));
  order.rank_of.push_back(mirrored(order.rank_of.front(), p));
  for (int rank = 0; rank < p; ++rank) {
    const Chunk up{rank, 0};
    const Chunk down{p - 1 - rank, half};
    const int before = std::min(rank, p - 1 - rank);
    const bool first_half = rank < p / 2;
    order.ranks[static_cast<std::size_t>(rank)] =
        rank_order({first_half ? up : down, first_half ? down : up}, before, p / 2 - 1 - before, half - p);
  }
  return order;
}

PipelineOrder dualpipev(const PipelineSizes& sizes) {
  const int p = sizes.ranks;
  PipelineOrder order = empty_order(p, sizes.microbatches, v_placement(p));
  for (int rank = 0; rank < p; ++rank) {
    const std::array<Chunk, 2> chunks = {{{rank, 0}, {2 * p - 1 - rank, 0}}};
    order.ranks[static_cast<std::size_t>(rank)] = rank_order(chunks, rank, p - 1 - rank, sizes.microbatches - 2 * p);
  }
  return order;
}

std::vector<std::string> dualpipev_refusals(const PipelineSizes& sizes) {
  const std::int64_t least = 2 * static_cast<std::int64_t>(sizes.ranks);
  if (sizes.microbatches >= least) return {};
  return {"m = " + std::to_string(sizes.microbatches) + ": expected at least 2p = " + std::to_string(least)};
}

std::vector<std::string> dualpipe_refusals(const PipelineSizes& sizes) {
  std::vector<std::string> problems;
  const std::string m = "m = " + std::to_string(sizes.microbatches);
  if (sizes.ranks % 2 != 0)
    problems.push_back("p = " + std::to_string(sizes.ranks) + ": expected an even number of ranks");
  if (sizes.microbatches % 2 != 0) problems.push_back(m + ": expected an even number, one half each way");
  for (std::string& problem : dualpipev_refusals(sizes)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace

void add_dualpipe(Registry<PipelineFamily>& families) {
  families.add("dualpipe", "two copies, microbatches in both directions, fused pairs",
               {.placement = "two directions",
                .source = "deepseek-ai/DualPipe dualpipe.py; DeepSeek-V3 report",
                .complexity = "O(p m)",
                .stages_per_rank = 2,
                .copies = 2,
                .refusals = dualpipe_refusals,
                .make = dualpipe});
  families.add("dualpipev", "DualPipe cut in half: V placement, one copy",
               {.placement = "V",
                .source = "deepseek-ai/DualPipe dualpipev.py; pytorch ScheduleDualPipeV",
                .complexity = "O(p m)",
                .stages_per_rank = 2,
                .refusals = dualpipev_refusals,
                .make = dualpipev});
}

}  // namespace stepsim
