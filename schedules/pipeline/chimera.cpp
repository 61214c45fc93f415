// chimera: two copies of the model whose microbatches meet: stage q is on rank q, and in the other copy on p - 1 - q.
//
// Units u = 0, 1, ...: p/2 microbatches each way. The j-th of a unit is at stage q forward in slot 2pu + 2j + q, backward
// in 2pu + 2j + 2p - 1 - q, the same both ways; ranks run what they have by slot (F and B of one length never collide).
// The first half of the microbatches goes from rank 0 up, the second from rank p - 1 down. 2m + p - 2 slots; idle share
// (p - 2) / (2m + p - 2) for F = B. Weights twice, and their gradients are summed between the copies.
// Source: Li and Hoefler, SC21; Shigangli/Chimera chimera_pipeline_rank.py. (Its forward doubling and backward halving
// are not made here.)
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

PipelineOrder make(const PipelineSizes& sizes) {
  const int p = sizes.ranks;
  const int half = sizes.microbatches / 2;
  const int unit = p / 2;
  PipelineOrder order = empty_order(p, sizes.microbatches, loop_placement(p, 1));
  order.rank_of.push_back(mirrored(order.rank_of.front(), p));
  struct Slot {
    int slot = 0;
    Action action;
  };
  for (int rank = 0; rank < p; ++rank) {
    std::vector<Slot> slots;
    for (int microbatch = 0; microbatch < sizes.microbatches; ++microbatch) {
      const bool up = microbatch < half;
      const int stage = up ? rank : p - 1 - rank;
      const int number = up ? microbatch : microbatch - half;  // of its own way
      const int first = 2 * p * (number / unit) + 2 * (number % unit);
      slots.push_back({first + stage, forward(stage, microbatch)});
      slots.push_back({first + 2 * p - 1 - stage, backward(stage, microbatch)});
    }
    std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.slot < b.slot; });
    for (const Slot& slot : slots) order.ranks[static_cast<std::size_t>(rank)].push_back(slot.action);
  }
  return order;
}

std::vector<std::string> chimera_refusals(const PipelineSizes& sizes) {
  std::vector<std::string> problems;
  const std::string p = "p = " + std::to_string(sizes.ranks);
  if (sizes.ranks % 2 != 0) problems.push_back(p + ": expected an even number of ranks");
  if (sizes.microbatches % sizes.ranks != 0) {
    problems.push_back("m = " + std::to_string(sizes.microbatches) + ": expected a multiple of " + p +
                       " (whole units of p/2 microbatches each way)");
  }
  return problems;
}

}  // namespace

void add_chimera(Registry<PipelineFamily>& families) {
  families.add("chimera", "two copies, microbatches in both directions",
               {.placement = "two directions",
                .source = "Chimera, SC21; Shigangli/Chimera",
                .complexity = "O(p m log m)",
                .stages_per_rank = 2,
                .copies = 2,
                .refusals = chimera_refusals,
                .make = make});
}

}  // namespace stepsim
