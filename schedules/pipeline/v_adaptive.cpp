// v_adaptive: the fastest pipeline on a V of two stages a rank that a search over building blocks finds within a memory
// limit.
//
// First rank: F(c0) at slot 0 of six, F(c1), I(c1) and I(c0) at any other three; each next rank has F(c0) and I(c1) d
// slots later and F(c1) and I(c0) one slot earlier, where d = d0 for the first few steps and d1 <= d0 after them, both of
// 1..5; W's at the first free slots after their I's. Blocks in which two passes meet are left out. The longest rank (end
// of its last W - start of its first F) decides; the first of equals. When a block needs more than the limit, so do those
// with a later change from d0 to d1: the search leaves them out as the published one does.
// With 2p chunks it ends early, at p = 16 and m = 256 in 0.04 s; with less it looks at all blocks, in about a second.
// The limit counts chunk activations (half a microbatch's of a rank), by default 2p: all that ZB-V takes.
//
// Source: Qi et al., arXiv 2405.15362, section 3 and appendix A; the published generator
// (sail-sg/zero-bubble-pipeline-parallelism, scheduler/v_auto_schedule.py). Where that stops on a block with an error,
// the block is left out.
#include <algorithm>
#include <optional>

#include "schedules/pipeline/building_block.h"
#include "schedules/pipeline/families.h"
#include "schedules/pipeline/limits.h"
#include "schedules/pipeline/table.h"

namespace stepsim {
namespace {

constexpr int period = 6;
constexpr int most_offset = 5;

struct Costs {
  double forward = 1;
  double input = 1;
  double weight = 1;
  double send = 0;
};

std::vector<BlockRow> first_rows() {
  std::vector<BlockRow> all;
  for (int f1 = 1; f1 < period; ++f1) {
    for (int i1 = 1; i1 < period; ++i1) {
      for (int i0 = 1; i0 < period; ++i0) {
        if (f1 != i1 && f1 != i0 && i1 != i0) all.push_back(with_weights({0, f1, i1, i0, -1, -1}));
      }
    }
  }
  return all;
}

/// None where two passes of a rank meet.
std::optional<VBlock> block_of(const BlockRow& first, int offset, int later_offset, int change, int p) {
  VBlock block = {first};
  for (int rank = 1; rank < p; ++rank) {
    const int there = rank <= change ? offset : later_offset;
    const BlockRow& before = block.back();
    BlockRow row = {(before[0] + there) % period,
                    (before[1] + period - 1) % period,
                    (before[2] + there) % period,
                    (before[3] + period - 1) % period,
                    -1,
                    -1};
    unsigned taken = 0;
    for (std::size_t pass = 0; pass < 4; ++pass) taken |= 1U << static_cast<unsigned>(row[pass]);
    if (__builtin_popcount(taken) < 4) return std::nullopt;
    block.push_back(with_weights(row));
  }
  return block;
}

/// End of a rank's last W - start of its first F, the longest, when the rows are played in order.
double longest_rank(const VRows& rows, int m, const Costs& costs) {
  const int p = static_cast<int>(rows.size());
  Table<double> end(p * v_passes, m, 0);
  std::vector<std::array<int, v_passes>> count(rows.size());
  std::vector<double> clock(rows.size(), 0);
  for (std::size_t slot = 0; slot < rows[0].size(); ++slot) {
    for (int rank = 0; rank < p; ++rank) {
      const VPass pass = rows[static_cast<std::size_t>(rank)][slot];
      if (pass == VPass::idle) continue;
      const int kind = static_cast<int>(pass);
      const int number = count[static_cast<std::size_t>(rank)][static_cast<std::size_t>(kind)]++;
      double& now = clock[static_cast<std::size_t>(rank)];
      const bool there = pass == VPass::f0 || pass == VPass::i1;
      const int from = there ? rank - 1 : rank + 1;
      const bool weight = pass == VPass::w1 || pass == VPass::w0;
      if (!weight && from >= 0 && from < p) now = std::max(now, end(from * v_passes + kind, number) + costs.send);
      const bool forward = pass == VPass::f0 || pass == VPass::f1;
      now += weight ? costs.weight : forward ? costs.forward : costs.input;
      end(rank * v_passes + kind, number) = now;
    }
  }
  double longest = 0;
  for (int rank = 0; rank < p; ++rank) {
    longest = std::max(longest, clock[static_cast<std::size_t>(rank)] - end(rank * v_passes, 0) + costs.forward);
  }
  return longest;
}

class Search {
 public:
  Search(int ranks, int microbatches, const Costs& costs, double limit)
      : p_(ranks), m_(microbatches), costs_(costs), limit_(std::min(limit, 2.0 * ranks)) {}

  /// Empty: nothing fits. `any`: stops at the first that does.
  VRows best(bool any) {
    for (const BlockRow& first : first_rows()) {
      for (int offset = 1; offset <= most_offset; ++offset) {
        for (int later = 1; later <= offset; ++later) {
          changes(first, offset, later);
          if (shortest_ > 0 && (any || shortest_ <= work())) return std::move(best_);
        }
      }
    }
    return std::move(best_);
  }

 private:
  /// No rank can be faster.
  [[nodiscard]] double work() const { return 2 * m_ * (costs_.forward + costs_.input + costs_.weight); }

  void changes(const BlockRow& first, int offset, int later) {
    const int last = offset == later ? 1 : p_ - 1;  // without a change they are all one block
    for (int change = 1; change <= last; ++change) {
      const std::optional<VBlock> block = block_of(first, offset, later, change, p_);
      if (!block) continue;
      BuiltRows built = build_rows(*block, m_, limit_);
      if (built.peak > limit_) return;
      if (!built.rows) continue;
      const double length = longest_rank(*built.rows, m_, costs_);
      if (shortest_ > 0 && length >= shortest_) continue;
      shortest_ = length;
      best_ = std::move(*built.rows);
    }
  }

  int p_, m_;
  Costs costs_;
  double limit_;
  double shortest_ = 0;
  VRows best_;
};

PipelineOrder as_order(const VRows& rows, int p, int m) {
  constexpr std::array<ActionKind, v_passes> kinds = {ActionKind::forward,         ActionKind::forward,
                                                      ActionKind::input_gradient,  ActionKind::input_gradient,
                                                      ActionKind::weight_gradient, ActionKind::weight_gradient};
  PipelineOrder order = empty_order(p, m, v_placement(p));
  for (int rank = 0; rank < p; ++rank) {
    std::array<int, v_passes> count{};
    for (const VPass pass : rows[static_cast<std::size_t>(rank)]) {
      if (pass == VPass::idle) continue;
      const auto kind = static_cast<std::size_t>(pass);
      const bool second = pass == VPass::f1 || pass == VPass::i1 || pass == VPass::w1;
      order.ranks[static_cast<std::size_t>(rank)].push_back(
          {kinds[kind], false, second ? 2 * p - 1 - rank : rank, count[kind]++});
    }
  }
  return order;
}

Search search(const PipelineSizes& sizes, const Costs& costs) {
  return {sizes.ranks, sizes.microbatches, costs, sizes.memory_limit.value_or(2 * sizes.ranks)};
}

Costs given(const PipelineSizes& sizes) {
  const ActionCosts& costs = sizes.costs;
  return {to_units(costs.forward), to_units(costs.input_gradient), to_units(costs.weight_gradient),
          to_units(costs.send)};
}

PipelineOrder make_equal(const PipelineSizes& sizes) {
  return as_order(search(sizes, {}).best(false), sizes.ranks, sizes.microbatches);
}
PipelineOrder make_given(const PipelineSizes& sizes) {
  return as_order(search(sizes, given(sizes)).best(false), sizes.ranks, sizes.microbatches);
}

std::vector<std::string> refuse(const PipelineSizes& sizes) {
  if (sizes.ranks < 2) return {"p = 1: expected at least 2 ranks, between which blocks differ"};
  if (search(sizes, {}).best(true).empty()) {
    const std::string limit = format_units(sizes.memory_limit.value_or(2 * sizes.ranks));
    return {"memory limit = " + limit + ": no building block keeps to so few chunk activations; 2p = " +
            std::to_string(2 * sizes.ranks) + " are always enough"};
  }
  return {};
}

}  // namespace

void add_v_adaptive(Registry<PipelineFamily>& families) {
  const auto add = [&](const char* name, const char* what, const char* twin,
                       PipelineOrder (*make)(const PipelineSizes&)) {
    families.add(name, what,
                 {.placement = "V",
                  .source = "arXiv 2405.15362, appendix A; zero-bubble v_auto_schedule.py",
                  .complexity = "O(p (p + m)) for each of up to 60 x 10 p building blocks",
                  .stages_per_rank = 2,
                  .takes_limit = true,
                  .cost_driven_twin = twin,
                  .refusals = refuse,
                  .make = make});
  };
  add("v_adaptive", "the fastest V within a memory limit, for equal costs", "v_adaptive_profiled", make_equal);
  add("v_adaptive_profiled", "the fastest V within a memory limit, for the given costs", "", make_given);
}

}  // namespace stepsim
