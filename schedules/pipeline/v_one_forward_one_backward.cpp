// v_1f1b: 1F1B on a V of two stages a rank; whole backwards of two slots.
//
// A block of six slots is repeated for each microbatch. First microbatch, with a counter n from 7: F(c0) on ranks
// 0..p-1 at n, n+1, ..; F(c1) on ranks p-1..0 likewise; n += 3 if 3 divides p; then B(c1) on ranks 0..p-1 and B(c0) on
// ranks p-1..0, each at n and n += 2, and n += 3 more after every third, the first of which comes as
// y = (3 - (p+2) mod 3) mod 3 says. Then passes move to earlier slots, slot by slot and rank by rank: a half of a B to
// the first free slot after what it waits for (the first half needs two together), an F from its slot to the left while
// the rank held less than the peak just before, then right to the first free slot. The order is that of the slots.
//
// About 2/3 of 1F1B's activations.
// Source: Qi et al., arXiv 2405.15362; the published generator (sail-sg/zero-bubble-pipeline-parallelism,
// scheduler/v1f1b.py).
#include <algorithm>
#include <array>

#include "schedules/pipeline/families.h"
#include "schedules/pipeline/table.h"

namespace stepsim {
namespace {

constexpr int period = 6;

enum Type : signed char { free_slot = -1, f0, f1, b1, b0, b1_end, b0_end };  // in the order a microbatch takes them

bool is_forward(Type type) {
  return type == f0 || type == f1;
}

class Compactor {
 public:
  Compactor(int ranks, int microbatches)
      : p_(ranks),
        m_(microbatches),
        slots_(period * (4 * ranks + microbatches + 1)),
        at_(ranks, slots_, free_slot),
        held_(ranks, slots_, 0),
        place_(ranks * period, microbatches, -1),
        done_(ranks, period, 0) {}

  PipelineOrder make() {
    repeat_blocks();
    count_held();
    for (int slot = 0; slot < slots_; ++slot) {
      for (int r = 0; r < p_; ++r) {
        if (at_(r, slot) != free_slot) settle(r, slot);
      }
    }
    PipelineOrder order = empty_order(p_, m_, v_placement(p_));
    for (int r = 0; r < p_; ++r) list(r, order.ranks[static_cast<std::size_t>(r)]);
    return order;
  }

 private:
  void repeat(Type type, int rank, int slot) {
    for (int mb = 0; mb < m_; ++mb) at_(rank, slot + period * mb) = type;
  }

  void repeat_blocks() {
    int n = period;
    for (int r = 0; r < p_; ++r) repeat(f0, r, ++n);
    for (int r = p_ - 1; r >= 0; --r) repeat(f1, r, ++n);
    ++n;
    if (p_ % 3 == 0) n += 3;
    int third = (3 - (p_ + 2) % 3) % 3;
    const auto backward = [&](int rank, Type first, Type second) {
      repeat(first, rank, n);
      repeat(second, rank, n + 1);
      n += 2;
      if (++third == 3) {
        third = 0;
        n += 3;
      }
    };
    for (int r = 0; r < p_; ++r) backward(r, b1, b1_end);
    for (int r = p_ - 1; r >= 0; --r) backward(r, b0, b0_end);
  }

  void count_held() {
    for (int r = 0; r < p_; ++r) {
      int held = 0;
      for (int slot = 0; slot < slots_; ++slot) {
        const Type type = at_(r, slot);
        if (is_forward(type)) ++held;
        if (type == b1_end || type == b0_end) --held;
        held_(r, slot) = held;
        peak_ = std::max(peak_, held);
      }
    }
  }

  /// The slot of what a pass waits for.
  [[nodiscard]] int last_input(Type type, int rank, int mb) const {
    const auto placed = [&](Type what, int on) { return place_(on * period + what, mb); };
    switch (type) {
      case f0:
        return rank > 0 ? placed(f0, rank - 1) : -1;
      case f1:
        return rank + 1 < p_ ? placed(f1, rank + 1) : placed(f0, rank);
      case b1:
        return rank > 0 ? placed(b1_end, rank - 1) : placed(f1, rank);
      case b0:
        return rank + 1 < p_ ? placed(b0_end, rank + 1) : placed(b1_end, rank);
      case b1_end:
        return placed(b1, rank);
      case b0_end:
        return placed(b0, rank);
      case free_slot:
        break;
    }
    return -1;
  }

  void settle(int rank, int slot) {
    const Type type = at_(rank, slot);
    const int mb = done_(rank, type)++;
    int earliest = last_input(type, rank, mb);
    if (mb > 0) earliest = std::max(earliest, place_(rank * period + type, mb - 1));
    ++earliest;
    const auto taken = [&](int at) { return at_(rank, at) != free_slot; };
    while (earliest < slot && taken(earliest)) ++earliest;
    if (type == b1 || type == b0) {
      while (earliest < slot && (taken(earliest) || taken(earliest + 1))) ++earliest;
    }
    int to = earliest;
    if (is_forward(type) && earliest < slot) {
      to = slot;
      while (to > earliest && held_(rank, to - 1) < peak_) --to;
      while (to < slot && taken(to)) ++to;
    }
    place_(rank * period + type, mb) = to;
    if (to == slot) return;
    at_(rank, to) = type;
    at_(rank, slot) = free_slot;
    const int change = is_forward(type) ? 1 : type == b1_end || type == b0_end ? -1 : 0;
    for (int s = to; s < slot; ++s) held_(rank, s) += change;
  }

  void list(int rank, RankOrder& order) const {
    std::array<int, 6> mb{};
    for (int slot = 0; slot < slots_; ++slot) {
      const Type type = at_(rank, slot);
      if (type == free_slot || type == b1_end || type == b0_end) continue;
      const int stage = type == f0 || type == b0 ? rank : 2 * p_ - 1 - rank;
      const int number = mb[static_cast<std::size_t>(type)]++;
      order.push_back(is_forward(type) ? forward(stage, number) : backward(stage, number));
    }
  }

  int p_, m_, slots_;
  Table<Type> at_;
  Table<int> held_;   // after each slot
  Table<int> place_;  // slot of (rank, type) by microbatch
  Table<int> done_;
  int peak_ = 0;
};

PipelineOrder make(const PipelineSizes& sizes) {
  return Compactor(sizes.ranks, sizes.microbatches).make();
}

}  // namespace

void add_v_one_forward_one_backward(Registry<PipelineFamily>& families) {
  families.add("v_1f1b", "1F1B on a V of two stages a rank",
               {.placement = "V",
                .source = "arXiv 2405.15362; zero-bubble v1f1b.py",
                .complexity = "O(p^2 m)",
                .stages_per_rank = 2,
                .make = make});
}

}  // namespace stepsim
