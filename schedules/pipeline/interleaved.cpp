// interleaved: several stages a rank, groups of microbatches go through them by turns (depth first).
//
// A table of (microbatch, chunk): for each group of N consecutive microbatches, for each chunk c, the group's
// microbatches. The k-th forward of every rank is table[k], the k-th backward the same with chunk v-1-c. Rank r starts
// with w forwards, then forwards and backwards by turns, then the backwards that are left; stage of (c, r) is c p + r.
//
//   interleaved_1f1b              w = 2(p-1-r) + (v-1)N; N given, default p. Bubble (p-1)(F + B) of a chunk.
//   megatron_interleaved_overlap  one more, and every pair after the warm-up fused
//   torch_interleaved_1f1b_flex   N = m / rounds with max(1, m div p) rounds
//   torch_interleaved_zb          N as torch; w = (v-1)N + (p-1-r); I instead of B, and from the r-th step after the
//                                 warm-up on the oldest W after each I. Bubble (p-1)(F + I - W).
//
// Sources: arXiv 2104.04473, section 2.2.2; Megatron-LM get_schedule_table (microbatch_group_size_per_vp_stage,
// overlap_moe_expert_parallel_comm); pytorch 2.8 ScheduleInterleaved1F1B, ScheduleInterleavedZeroBubble.
#include <algorithm>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

struct Turn {
  int microbatch = 0;
  int chunk = 0;
};

std::vector<Turn> turns(const PipelineSizes& sizes, int group) {
  std::vector<Turn> table;
  for (int first = 0; first < sizes.microbatches; first += group) {
    const int last = std::min(first + group, sizes.microbatches);
    for (int chunk = 0; chunk < sizes.stages_per_rank; ++chunk) {
      for (int mb = first; mb < last; ++mb) table.push_back({mb, chunk});
    }
  }
  return table;
}

/// The table read by one rank.
class Reader {
 public:
  Reader(const PipelineSizes& sizes, int group, int rank) : table_(turns(sizes, group)), sizes_(sizes), rank_(rank) {}

  [[nodiscard]] int turns_left(int done) const { return static_cast<int>(table_.size()) - done; }
  [[nodiscard]] int size() const { return static_cast<int>(table_.size()); }
  [[nodiscard]] Action forward_at(int k) const {
    const Turn& turn = table_[static_cast<std::size_t>(k)];
    return forward(turn.chunk * sizes_.ranks + rank_, turn.microbatch);
  }
  [[nodiscard]] Action backward_at(int k) const {
    const Turn& turn = table_[static_cast<std::size_t>(k)];
    return backward((sizes_.stages_per_rank - 1 - turn.chunk) * sizes_.ranks + rank_, turn.microbatch);
  }

 private:
  std::vector<Turn> table_;
  const PipelineSizes& sizes_;
  int rank_;
};

PipelineOrder alternate(const PipelineSizes& sizes, int group, int more_warm_up, bool fused) {
  const int p = sizes.ranks;
  PipelineOrder order = empty_order(p, sizes.microbatches, loop_placement(p, sizes.stages_per_rank));
  for (int rank = 0; rank < p; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    const Reader reader(sizes, group, rank);
    const int warm = std::min(2 * (p - 1 - rank) + (sizes.stages_per_rank - 1) * group + more_warm_up, reader.size());
    for (int k = 0; k < warm; ++k) list.push_back(reader.forward_at(k));
    for (int k = 0; k < reader.size(); ++k) {
      if (warm + k < reader.size()) {
        list.push_back(reader.forward_at(warm + k));
        list.back().fused = fused;
      }
      list.push_back(reader.backward_at(k));
    }
  }
  return order;
}

PipelineOrder split(const PipelineSizes& sizes, int group) {
  const int p = sizes.ranks;
  PipelineOrder order = empty_order(p, sizes.microbatches, loop_placement(p, sizes.stages_per_rank));
  for (int rank = 0; rank < p; ++rank) {
    RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    const Reader reader(sizes, group, rank);
    const int warm = std::min((sizes.stages_per_rank - 1) * group + (p - 1 - rank), reader.size());
    const auto weight_gradient_at = [&](int k) {
      Action action = reader.backward_at(k);
      action.kind = ActionKind::weight_gradient;
      return action;
    };
    for (int k = 0; k < warm; ++k) list.push_back(reader.forward_at(k));
    for (int k = 0; k < reader.size(); ++k) {
      if (warm + k < reader.size()) list.push_back(reader.forward_at(warm + k));
      list.push_back(reader.backward_at(k));
      list.back().kind = ActionKind::input_gradient;
      if (k >= rank) list.push_back(weight_gradient_at(k - rank));
    }
    for (int k = std::max(0, reader.size() - rank); k < reader.size(); ++k) list.push_back(weight_gradient_at(k));
  }
  return order;
}

int megatron_group(const PipelineSizes& sizes) {
  return sizes.group == 0 ? sizes.ranks : sizes.group;
}

std::vector<std::string> megatron_refusals(const PipelineSizes& sizes) {
  std::vector<std::string> problems;
  const int p = sizes.ranks;
  const int m = sizes.microbatches;
  const int group = megatron_group(sizes);
  const std::string n = "group = " + std::to_string(group);
  if (sizes.stages_per_rank < 2) problems.push_back("v = 1: expected at least 2 stages a rank");
  if (group < p || group > m) {
    problems.push_back(n + ": expected p = " + std::to_string(p) + " <= group <= m = " + std::to_string(m));
  } else if (m % group != 0 && m % group < p) {
    problems.push_back("m = " + std::to_string(m) + ": the last group has " + std::to_string(m % group) +
                       " microbatches; expected none or at least p = " + std::to_string(p) + " (" + n + ")");
  }
  return problems;
}

int rounds(const PipelineSizes& sizes) {
  return std::max(1, sizes.microbatches / sizes.ranks);
}

std::vector<std::string> torch_zb_refusals(const PipelineSizes& sizes) {
  const int m = sizes.microbatches;
  if (m % rounds(sizes) == 0) return {};
  return {"m = " + std::to_string(m) + ": expected a multiple of the " + std::to_string(rounds(sizes)) +
          " rounds (m div p)"};
}

std::vector<std::string> torch_refusals(const PipelineSizes& sizes) {
  std::vector<std::string> problems = torch_zb_refusals(sizes);
  if (sizes.stages_per_rank < 2) problems.push_back("v = 1: expected at least 2 stages a rank");
  return problems;
}

PipelineOrder megatron(const PipelineSizes& sizes) {
  return alternate(sizes, megatron_group(sizes), 0, false);
}
PipelineOrder megatron_overlap(const PipelineSizes& sizes) {
  return alternate(sizes, megatron_group(sizes), 1, true);
}
PipelineOrder torch(const PipelineSizes& sizes) {
  return alternate(sizes, sizes.microbatches / rounds(sizes), 0, false);
}
PipelineOrder torch_zb(const PipelineSizes& sizes) {
  return split(sizes, sizes.microbatches / rounds(sizes));
}

}  // namespace

void add_interleaved(Registry<PipelineFamily>& families) {
  families.add("interleaved_1f1b", "1F1B over several stages a rank, in groups as Megatron (depth first)",
               {.placement = "loop",
                .source = "arXiv 2104.04473, section 2.2.2; Megatron-LM",
                .complexity = "O(p v m)",
                .takes_groups = true,
                .refusals = megatron_refusals,
                .make = megatron});
  families.add("megatron_interleaved_overlap", "the same with fused pairs, for MoE overlap",
               {.placement = "loop",
                .source = "Megatron-LM overlap_moe_expert_parallel_comm",
                .complexity = "O(p v m)",
                .takes_groups = true,
                .refusals = megatron_refusals,
                .make = megatron_overlap});
  families.add("torch_interleaved_1f1b_flex", "interleaved 1F1B in rounds as PyTorch",
               {.placement = "loop",
                .source = "pytorch 2.8 ScheduleInterleaved1F1B",
                .complexity = "O(p v m)",
                .refusals = torch_refusals,
                .make = torch});
  families.add("torch_interleaved_zb", "interleaved with split backwards (PyTorch's ZB1P)",
               {.placement = "loop",
                .source = "pytorch 2.8 ScheduleInterleavedZeroBubble; arXiv 2401.10241",
                .complexity = "O(p v m)",
                .refusals = torch_zb_refusals,
                .make = torch_zb});
}

}  // namespace stepsim
