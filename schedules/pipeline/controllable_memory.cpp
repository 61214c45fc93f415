// v_half, v_min: pipelines with controllable memory; two stages a rank, placed as a V.
//
// A block of six slots is repeated for each microbatch. Passes in the order in which a microbatch takes them: 0 F(c0),
// 1 F(c1), 2 I(c1), 3 I(c0). Slots of the first on rank i:
//   V-Min    i, 2p-1-i, 2p+e+i, 4p+e-1-i          e = 2 if 3 divides p, else 0
//   V-Half   2i, 3p-2-i, 3p+e+2i-1, 6p+e-2-i      e = 3 if p is even, else 0
// Then (once with W's, once without) passes of the warm-up and the cool-down move to the first free slot after what
// they wait for at which no rank holds more activations than at first, and everything is squeezed: as early as order and
// inputs allow with passes of one slot. W's are put into free slots, the oldest first; at the end those of c1 first.
// The order is that of the slots and does not depend on costs.
//
// At most (p+2)/2 and (p+4) div 3 microbatches' activations, where 1F1B holds p; bubble with F = I = W of V-Half
// 3p-7 for even p.
// Source: Qi et al., arXiv 2405.15362; the published generator (sail-sg/zero-bubble-pipeline-parallelism,
// scheduler/zbv_greedy.py).
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "schedules/pipeline/families.h"

namespace stepsim {
namespace {

constexpr int passes = 4;  // without W's
constexpr int period = 6;

/// Slot of each pass of a rank by type and number: types 0..3, then one or two of W's.
using Slots = std::vector<std::vector<int>>;

struct Pass {
  int slot = 0;
  int rank = 0;
  int type = 0;
  int number = 0;

  friend bool operator<(const Pass& a, const Pass& b) {
    return std::tie(a.slot, a.rank, a.type, a.number) < std::tie(b.slot, b.rank, b.type, b.number);
  }
};

std::vector<Pass> in_order(const std::vector<Slots>& ranks) {
  std::vector<Pass> all;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t type = 0; type < ranks[r].size(); ++type) {
      for (std::size_t k = 0; k < ranks[r][type].size(); ++k) {
        all.push_back({ranks[r][type][k], static_cast<int>(r), static_cast<int>(type), static_cast<int>(k)});
      }
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

constexpr signed char free_slot = -1;

/// The types of a rank's passes, slot by slot.
std::vector<signed char> row(const Slots& rank) {
  int last = 0;
  for (const std::vector<int>& type : rank) last = std::max(last, type.empty() ? 0 : type.back());
  std::vector<signed char> types(static_cast<std::size_t>(last) + 1, free_slot);
  for (std::size_t type = 0; type < rank.size(); ++type) {
    for (const int slot : rank[type]) types[static_cast<std::size_t>(slot)] = static_cast<signed char>(type);
  }
  return types;
}

/// W's in the free slots after I's, in one queue, or in one per chunk of which the first goes first.
void add_weights(Slots& rank, bool by_chunk) {
  const std::vector<signed char> types = row(rank);
  rank.resize(by_chunk ? passes + 2 : passes + 1);
  std::array<int, 2> pending{};
  int slot = 0;
  const auto place_one = [&] {
    const std::size_t queue = pending[0] > 0 ? 0 : 1;
    if (pending[queue] == 0) return false;
    rank[passes + queue].push_back(slot);
    --pending[queue];
    return true;
  };
  for (const signed char type : types) {
    if (type == 2 || type == 3) ++pending[by_chunk && type == 3 ? 1 : 0];
    if (type == free_slot) place_one();
    ++slot;
  }
  while (place_one()) ++slot;
}

/// What a rank holds, slot by slot: an F adds one; a W takes one, or where W's are not placed, a free slot after an I.
class Memory {
 public:
  explicit Memory(const Slots& rank)
      : types_(row(rank)), states_(types_.size()), weights_placed_(rank.size() > passes) {
    note(0);
  }

  [[nodiscard]] int most() const {
    int most = 0;
    for (const State& state : states_) most = std::max(most, state.held);
    return most;
  }
  [[nodiscard]] bool is_free(int slot) const { return types_[static_cast<std::size_t>(slot)] == free_slot; }

  /// Moves a pass to an earlier free slot, unless the rank then holds more than `cap`.
  bool move(int from, int to, int cap) {
    std::swap(types_[static_cast<std::size_t>(from)], types_[static_cast<std::size_t>(to)]);
    State state = before(to);
    for (std::size_t slot = static_cast<std::size_t>(to); slot < types_.size(); ++slot) {
      state = next(state, types_[slot]);
      if (state.held > cap) {
        std::swap(types_[static_cast<std::size_t>(from)], types_[static_cast<std::size_t>(to)]);
        return false;
      }
      if (slot >= static_cast<std::size_t>(from) && state == states_[slot]) break;  // as it was, and that was within
    }
    note(to);
    return true;
  }

 private:
  struct State {
    int held = 0;
    int pending = 0;  // W's

    friend bool operator==(const State&, const State&) = default;
  };

  [[nodiscard]] State before(int slot) const {
    return slot == 0 ? State{} : states_[static_cast<std::size_t>(slot - 1)];
  }

  [[nodiscard]] State next(State state, signed char type) const {
    if (type == 0 || type == 1) ++state.held;
    if (weights_placed_) {
      if (type == passes) --state.held;
    } else if (type == 2 || type == 3) {
      ++state.pending;
    } else if (type == free_slot && state.pending > 0) {
      --state.held, --state.pending;
    }
    return state;
  }

  void note(int slot) {
    State state = before(slot);
    for (std::size_t s = static_cast<std::size_t>(slot); s < types_.size(); ++s) {
      state = next(state, types_[s]);
      states_[s] = state;
    }
  }

  std::vector<signed char> types_;
  std::vector<State> states_;  // after each slot
  bool weights_placed_;
};

/// Where a pass's inputs come from: the rank before or after for the same type, its own rank for the type before.
template <class SlotOf>
int last_input(const Pass& pass, int ranks, const SlotOf& slot_of) {
  int last = -1;
  const bool there = pass.type == 0 || pass.type == 2;
  const int from = there ? pass.rank - 1 : pass.rank + 1;
  if (pass.type < passes && from >= 0 && from < ranks) last = std::max(last, slot_of(from, pass.type, pass.number));
  if (pass.type > 0 && pass.type < passes) last = std::max(last, slot_of(pass.rank, pass.type - 1, pass.number));
  if (pass.number > 0) last = std::max(last, slot_of(pass.rank, pass.type, pass.number - 1));
  return last;
}

/// Everything as early as order and inputs allow, each pass one slot long.
std::vector<Slots> squeeze(const std::vector<Slots>& ranks) {
  std::vector<Slots> squeezed = ranks;
  std::vector<int> last(ranks.size(), -1);
  const auto slot_of = [&](int rank, int type, int number) {
    return squeezed[static_cast<std::size_t>(rank)][static_cast<std::size_t>(type)][static_cast<std::size_t>(number)];
  };
  for (const Pass& pass : in_order(ranks)) {
    int& own = last[static_cast<std::size_t>(pass.rank)];
    own = std::max(own, last_input(pass, static_cast<int>(ranks.size()), slot_of)) + 1;
    squeezed[static_cast<std::size_t>(pass.rank)][static_cast<std::size_t>(pass.type)]
            [static_cast<std::size_t>(pass.number)] = own;
  }
  return squeezed;
}

/// Which passes may move: those of the warm-up (only if W's are placed) and of the cool-down.
class Phases {
 public:
  Phases(int microbatches, bool warm_up_moves) : last_(microbatches - 1), warm_up_moves_(warm_up_moves) {}

  bool moves(const Pass& pass) {
    if (phase_ == 0 && pass.type == 3 && pass.rank == 0) phase_ = 1;
    if (phase_ == 1) {
      if (pass.type == 0 && pass.number == last_) phase_ = 2;
      return false;
    }
    return phase_ == 2 || warm_up_moves_;
  }

 private:
  int last_;
  bool warm_up_moves_;
  int phase_ = 0;
};

void reorder(std::vector<Slots>& ranks, bool with_weights) {
  if (with_weights) {
    for (Slots& rank : ranks) add_weights(rank, false);
  }
  std::vector<Memory> memory(ranks.begin(), ranks.end());
  int cap = 0;
  for (const Memory& rank : memory) cap = std::max(cap, rank.most());
  const auto slot_of = [&](int rank, int type, int number) -> int& {
    return ranks[static_cast<std::size_t>(rank)][static_cast<std::size_t>(type)][static_cast<std::size_t>(number)];
  };
  Phases phases(static_cast<int>(ranks[0][0].size()), with_weights);
  for (const Pass& pass : in_order(ranks)) {
    if (!phases.moves(pass)) continue;
    int earliest = last_input(pass, static_cast<int>(ranks.size()), slot_of);
    if (pass.type == passes) {  // the W of the rank's k-th I
      const Slots& rank = ranks[static_cast<std::size_t>(pass.rank)];
      std::vector<int> inputs;
      std::merge(rank[2].begin(), rank[2].end(), rank[3].begin(), rank[3].end(), std::back_inserter(inputs));
      earliest = std::max(earliest, inputs[static_cast<std::size_t>(pass.number)]);
    }
    Memory& held = memory[static_cast<std::size_t>(pass.rank)];
    for (int slot = earliest + 1; slot < pass.slot; ++slot) {
      if (!held.is_free(slot) || !held.move(pass.slot, slot, cap)) continue;
      slot_of(pass.rank, pass.type, pass.number) = slot;
      break;
    }
  }
  if (!with_weights) {
    for (Slots& rank : ranks) add_weights(rank, false);
  }
  ranks = squeeze(ranks);
  for (Slots& rank : ranks) rank.resize(passes);
}

using Block = std::vector<std::array<int, passes>>;

Block v_min_block(int p) {
  const int e = p % 3 == 0 ? 2 : 0;
  Block block;
  for (int i = 0; i < p; ++i) block.push_back({i, 2 * p - 1 - i, 2 * p + e + i, 4 * p + e - 1 - i});
  return block;
}
Block v_half_block(int p) {
  const int e = p % 2 == 0 ? 3 : 0;
  Block block;
  for (int i = 0; i < p; ++i) block.push_back({2 * i, 3 * p - 2 - i, 3 * p + e + 2 * i - 1, 6 * p + e - 2 - i});
  return block;
}

PipelineOrder from_block(const Block& block, int p, int m) {
  std::vector<Slots> ranks;
  for (const std::array<int, passes>& first : block) {
    Slots& rank = ranks.emplace_back(passes);
    for (std::size_t type = 0; type < passes; ++type) {
      for (int mb = 0; mb < m; ++mb) rank[type].push_back(first[type] + period * mb);
    }
  }
  reorder(ranks, true);
  reorder(ranks, false);
  for (Slots& rank : ranks) add_weights(rank, true);
  PipelineOrder order = empty_order(p, m, v_placement(p));
  for (const Pass& pass : in_order(ranks)) {
    constexpr std::array<ActionKind, passes + 2> kinds = {ActionKind::forward,         ActionKind::forward,
                                                          ActionKind::input_gradient,  ActionKind::input_gradient,
                                                          ActionKind::weight_gradient, ActionKind::weight_gradient};
    const bool second_chunk = pass.type == 1 || pass.type == 2 || pass.type == 4;
    const int stage = second_chunk ? 2 * p - 1 - pass.rank : pass.rank;
    order.ranks[static_cast<std::size_t>(pass.rank)].push_back(
        {kinds[static_cast<std::size_t>(pass.type)], false, stage, pass.number});
  }
  return order;
}

PipelineOrder v_half(const PipelineSizes& sizes) {
  return from_block(v_half_block(sizes.ranks), sizes.ranks, sizes.microbatches);
}
PipelineOrder v_min(const PipelineSizes& sizes) {
  return from_block(v_min_block(sizes.ranks), sizes.ranks, sizes.microbatches);
}

}  // namespace

void add_controllable_memory(Registry<PipelineFamily>& families) {
  const auto add = [&](const char* name, const char* what, PipelineOrder (*make)(const PipelineSizes&)) {
    families.add(name, what,
                 {.placement = "V",
                  .source = "arXiv 2405.15362; zero-bubble zbv_greedy.py",
                  .complexity = "O(p m log(p m)), and O(p^2 m) for warm-up and cool-down",
                  .stages_per_rank = 2,
                  .make = make});
  };
  add("v_half", "a V with about half the memory of 1F1B", v_half);
  add("v_min", "a V with about a third of the memory of 1F1B", v_min);
}

}  // namespace stepsim
