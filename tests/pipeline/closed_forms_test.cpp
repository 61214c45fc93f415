// What papers say in closed form of pipeline schedules, where it is exact, over a grid of sizes and times. Bubble: the
// makespan less a rank's work, so by the wall clock; "of a rank": the longest rank's end - start, less its work.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/family.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

struct Times {
  int f, i, w;
};

/// F = I = W; and as measured: I about F, W less; I above and below F.
constexpr Times some_times[] = {{1, 1, 1}, {10, 12, 8}, {10, 10, 6}, {10, 14, 9}, {12, 10, 9}};

struct Case {
  PipelineSizes sizes;
  int p, v, m;
  Ticks F, I, W, B;
};

std::vector<Case> grid(std::initializer_list<int> stages, int least_m_per_p = 0) {
  std::vector<Case> all;
  for (const Times& times : some_times) {
    for (int p = 1; p <= 8; ++p) {
      for (const int v : stages) {
        for (const int m : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 24, 33}) {
          if (m < least_m_per_p * p) continue;
          Case one{{}, p, v, m, ticks(times.f), ticks(times.i), ticks(times.w), ticks(times.i + times.w)};
          one.sizes.ranks = p;
          one.sizes.stages_per_rank = v;
          one.sizes.microbatches = m;
          one.sizes.costs = {one.F, one.I, one.W, one.B, one.F + one.B, 0};
          all.push_back(one);
        }
      }
    }
  }
  return all;
}

std::string said(const Case& c) {
  return "p = " + std::to_string(c.p) + ", v = " + std::to_string(c.v) + ", m = " + std::to_string(c.m) +
         ", F I W = " + std::to_string(to_units(c.F)) + " " + std::to_string(to_units(c.I)) + " " +
         std::to_string(to_units(c.W));
}

PlayedOrder played(const std::string& name, const Case& c) {
  return play(pipeline_order(name, c.sizes), {c.sizes.costs});
}

bool taken(const std::string& name, const Case& c) {
  return refusals(pipeline_families().at("schedule", name), c.sizes).empty();
}

Ticks work(const Case& c) {
  return c.m * c.v * (c.F + c.B);
}
Ticks bubble(const PlayedOrder& order, const Case& c) {
  return order.makespan - work(c);
}
Ticks bubble_of_rank(const PlayedOrder& order, const Case& c) {
  return order.longest_rank - work(c);
}

int most_until_weight(const PlayedOrder& order) {
  int most = 0;
  for (const PlayedRank& rank : order.ranks) most = std::max(most, rank.peak_until_weight);
  return most;
}

/// Huang et al., arXiv 1811.06965, section 2.3: bubble (K-1)/(M+K-1) of the time; all microbatches are kept.
TEST(ClosedForms, GPipe) {
  for (const Case& c : grid({1})) {
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("gpipe", c);
    EXPECT_EQ(order.makespan, (c.m + c.p - 1) * (c.F + c.B));
    EXPECT_NEAR(order.bubble(), (c.p - 1.0) / (c.m + c.p - 1), 1e-12);
    for (const PlayedRank& rank : order.ranks) EXPECT_EQ(rank.peak_until_weight, c.m);
  }
}

/// Narayanan et al., arXiv 2104.04473, section 2.2.1: bubble (p-1)(tf+tb), (p-1)/m of the ideal time; 2401.10241,
/// table 2: rank r keeps p - r. With m < p, appendix H there: (m+p-1)(F+I+W).
TEST(ClosedForms, OneForwardOneBackward) {
  for (const Case& c : grid({1})) {
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("1f1b", c);
    EXPECT_EQ(order.makespan, (c.m + c.p - 1) * (c.F + c.I + c.W));
    EXPECT_EQ(order.longest_rank, order.makespan);
    for (int r = 0; r < c.p; ++r) {
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_weight, std::min(c.p - r, c.m));
    }
  }
}

/// 2104.04473, section 2.2.2: bubble (p-1)(tf+tb)/v, so (p-1)(F+B) of a chunk, whatever the group; Korthikanti et al.,
/// arXiv 2205.05198, section 4.2.3: L (1 + (p-1)/(pv)) on the first rank with groups of p.
TEST(ClosedForms, Interleaved) {
  int made = 0;
  for (Case c : grid({2, 3, 4})) {
    for (const int group : {c.p, c.p + 1, 2 * c.p, c.m}) {
      c.sizes.group = group;
      if (!taken("interleaved_1f1b", c)) continue;
      SCOPED_TRACE(said(c) + ", group = " + std::to_string(group));
      const PlayedOrder order = played("interleaved_1f1b", c);
      EXPECT_EQ(bubble(order, c), (c.p - 1) * (c.F + c.B));
      EXPECT_EQ(order.longest_rank, order.makespan);
      for (int r = 0; r < c.p; ++r) {
        EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_weight,
                  std::min(2 * (c.p - 1 - r) + (c.v - 1) * group + 1, c.m * c.v));
      }
      if (group == c.p && c.m >= 2 * c.p) {
        EXPECT_DOUBLE_EQ(order.ranks[0].peak_until_weight / static_cast<double>(c.v),
                         c.p * (1 + (c.p - 1.0) / (c.p * c.v)));
      }
      ++made;
    }
  }
  EXPECT_GT(made, 500);
}

/// Lamy-Poirier, arXiv 2211.05953: the bubble of depth first, all microbatches of all chunks kept.
TEST(ClosedForms, LoopedBreadthFirst) {
  for (const Case& c : grid({2, 3, 4}, 1)) {
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("looped_bfs", c);
    EXPECT_EQ(bubble(order, c), (c.p - 1) * (c.F + c.B));
    for (const PlayedRank& rank : order.ranks) EXPECT_EQ(rank.peak_until_weight, c.m * c.v);
  }
}

/// 2401.10241, table 2: (p-1)(T_F + T_B - T_W) in the paper's letters; rank i of 1..p keeps
/// (p-i+1) M_B + (i-1) M_W: p activations until W, p-i+1 of them whole.
TEST(ClosedForms, ZeroBubbleH1) {
  for (const Case& c : grid({1}, 1)) {
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("zb_h1", c);
    EXPECT_EQ(bubble(order, c), (c.p - 1) * (c.F + c.I - c.W));
    EXPECT_EQ(order.longest_rank, order.makespan);
    for (int r = 0; r < c.p; ++r) {
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_weight, c.p);
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_input, c.p - r);
    }
  }
}

/// The same table: (p-1)(T_F + T_B - 2 T_W) of a rank, (2p-2i+1) M_B + (2i-2) M_W; by the wall clock (p-1) F more are
/// between the first rank's start and the last's.
TEST(ClosedForms, ZeroBubbleH2) {
  for (const Case& c : grid({1}, 2)) {
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("zb_h2", c);
    EXPECT_EQ(bubble_of_rank(order, c), (c.p - 1) * (c.F + c.I - 2 * c.W));
    for (int r = 0; r < c.p; ++r) {
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_weight, 2 * c.p - 1);
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_input, 2 * (c.p - r) - 1);
    }
  }
}

/// pytorch's interleaved zero bubble: H1 with chunks; with N = m / max(1, m div p) it keeps (v-1)N + p chunks until W
/// and (v-1)N + p - r until I (counted from its rule).
TEST(ClosedForms, InterleavedZeroBubble) {
  int made = 0;
  for (const Case& c : grid({1, 2, 3}, 1)) {
    if (!taken("torch_interleaved_zb", c)) continue;
    SCOPED_TRACE(said(c));
    const PlayedOrder order = played("torch_interleaved_zb", c);
    EXPECT_EQ(bubble(order, c), (c.p - 1) * (c.F + c.I - c.W));
    const int group = c.m / std::max(1, c.m / c.p);
    for (int r = 0; r < c.p; ++r) {
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_weight,
                std::min((c.v - 1) * group + c.p, c.m * c.v));
      EXPECT_EQ(order.ranks[static_cast<std::size_t>(r)].peak_until_input,
                std::min((c.v - 1) * group + c.p - r, c.m * c.v));
    }
    ++made;
  }
  EXPECT_GT(made, 300);
}

/// 2401.10241, appendix H: with m <= p zero bubble takes (m+p-1)(F+I) + W where I >= F and there is room for W's.
TEST(ClosedForms, ZeroBubbleOfFewMicrobatches) {
  for (const Case& c : grid({1})) {
    if (c.m > c.p) continue;
    SCOPED_TRACE(said(c));
    EXPECT_EQ(played("zb_1p", c).makespan, (c.m + c.p - 1) * (c.F + c.I) + c.W);
  }
}

/// 2401.10241, table 2: with p activations the bubble is H1's at most; section 5.4: none of a rank with
/// ((p-1)(T_B + 2 T_comm) + p T_F) / T_F activations, which are whole, 2p-1, where F = I = W.
TEST(ClosedForms, ZeroBubbleAuto) {
  for (Case c : grid({1}, 2)) {
    SCOPED_TRACE(said(c));
    EXPECT_LE(bubble_of_rank(played("zb_1p", c), c), (c.p - 1) * (c.F + c.I - c.W));
    if (c.F != c.I || c.F != c.W) continue;
    EXPECT_EQ(bubble_of_rank(played("zb_2p", c), c), 0);
    c.sizes.memory_limit = 2 * c.p - 1;
    EXPECT_EQ(bubble_of_rank(played("zb_auto_profiled", c), c), 0);
  }
}

/// 2401.10241, section 6: no bubble of a rank with F = I = W, the memory of 1F1B: 2p chunks on every rank. Where
/// I >= F >= W, read off the published orders: (p-1) I by the wall clock, 2(p-1)(I - W) of a rank.
TEST(ClosedForms, ZeroBubbleV) {
  for (const Case& c : grid({2}, 2)) {
    SCOPED_TRACE(said(c));
    for (const char* name : {"torch_zbv", "zbv_auto"}) {
      const PlayedOrder order = played(name, c);
      if (c.F == c.I && c.F == c.W) {
        EXPECT_EQ(bubble_of_rank(order, c), 0) << name;
      }
      if (c.I >= c.F && c.F >= c.W) {
        EXPECT_EQ(bubble(order, c), (c.p - 1) * c.I) << name << " wall";
        EXPECT_EQ(bubble_of_rank(order, c), 2 * (c.p - 1) * (c.I - c.W)) << name << " rank";
      }
      for (const PlayedRank& rank : order.ranks) EXPECT_EQ(rank.peak_until_weight, 2 * c.p) << name;
    }
  }
}

/// Qi et al., arXiv 2405.15362 (and the table of its public page): V-Half keeps (p+2)/2 microbatches' activations, V-Min
/// (p+4) div 3, of which a chunk is a half.
TEST(ClosedForms, ControllableMemory) {
  for (int p = 2; p <= 24; ++p) {
    for (const int m : {2 * p, 3 * p, 5 * p + 1}) {
      Case c = grid({2}).front();
      c.sizes.ranks = p;
      c.sizes.microbatches = m;
      if (p % 2 == 0) {
        EXPECT_EQ(most_until_weight(played("v_half", c)), p + 2) << p << " " << m;
      }
      EXPECT_EQ(most_until_weight(played("v_min", c)), 2 * ((p + 4) / 3)) << p << " " << m;
    }
  }
}

/// 2405.15362, section 3: a rank keeps at most the sum over its chunks of ceil(lifespan / period) activations. Two of
/// six slots are free and two I's come in them, so a W follows its I within six slots.
TEST(ClosedForms, LifespanBoundsMemory) {
  for (int p = 1; p <= 24; ++p) {
    const int e = p % 2 == 0 ? 3 : 0;
    const int e3 = p % 3 == 0 ? 2 : 0;
    Case c = grid({2}).front();
    c.sizes.ranks = p;
    c.sizes.microbatches = 3 * p;
    const PlayedOrder half = played("v_half", c);
    const PlayedOrder least = played("v_min", c);
    int half_bound = 0;
    int least_bound = 0;
    const auto kept = [](int from_f_to_i) { return (from_f_to_i + 6 + 5) / 6; };
    for (int i = 0; i < p; ++i) {
      half_bound =
          std::max(half_bound, kept(6 * p + e - 2 - i - 2 * i) + kept(3 * p + e + 2 * i - 1 - (3 * p - 2 - i)));
      least_bound = std::max(least_bound, kept(4 * p + e3 - 1 - i - i) + kept(2 * p + e3 + i - (2 * p - 1 - i)));
    }
    EXPECT_LE(most_until_weight(half), half_bound) << p;
    EXPECT_LE(most_until_weight(least), least_bound) << p;
  }
}

/// 2405.15362: V-Half's bubble is half of 1F1B's (here exactly 3p-7 chunks for even p, read off its orders), V-Min's two
/// thirds, both with something that does not grow with p; 1F1B's is 6(p-1) chunks where F = I = W.
TEST(ClosedForms, ControllableMemoryBubble) {
  for (int p = 4; p <= 24; ++p) {
    Case c = grid({2}).front();
    c.p = p;
    c.m = 4 * p;
    c.sizes.ranks = p;
    c.sizes.microbatches = c.m;
    const double whole = to_units(6 * (p - 1) * c.F);
    const double half = to_units(bubble_of_rank(played("v_half", c), c));
    if (p % 2 == 0) {
      EXPECT_EQ(half, 3 * p - 7);
    }
    EXPECT_NEAR(half, whole / 2, 6);
    EXPECT_NEAR(to_units(bubble_of_rank(played("v_min", c), c)), whole * 2 / 3, 8);
  }
}

/// 2405.15362: 1F1B on a V keeps about 2/3 of 1F1B's activations, which are 2p chunks.
TEST(ClosedForms, OneForwardOneBackwardOnAV) {
  for (int p = 2; p <= 24; ++p) {
    Case c = grid({2}).front();
    c.sizes.ranks = p;
    c.sizes.microbatches = 4 * p;
    EXPECT_NEAR(most_until_weight(played("v_1f1b", c)), 4 * p / 3.0, 2) << p;
  }
}

/// The public page of 2405.15362: V-Half has no bubble between microbatches iff W + 2I >= 2F and W + 2F >= 2I: one more
/// takes its work and nothing else.
TEST(ClosedForms, SteadyStateOfVHalf) {
  const Times times[] = {{1, 1, 1},   {10, 12, 8}, {10, 14, 9}, {10, 15, 9},
                         {10, 14, 6}, {14, 10, 6}, {12, 10, 4}, {13, 10, 4}};
  for (const Times& t : times) {
    for (const int p : {4, 6, 8}) {
      Case c = grid({2}).front();
      c.sizes.ranks = p;
      c.sizes.costs = {ticks(t.f), ticks(t.i), ticks(t.w), 0, 0, 0};
      c.sizes.microbatches = 8 * p;
      const Ticks before = played("v_half", c).makespan;
      c.sizes.microbatches = 8 * p + 10;
      const Ticks ten_more = played("v_half", c).makespan - before;
      const bool none = t.w + 2 * t.i >= 2 * t.f && t.w + 2 * t.f >= 2 * t.i;
      EXPECT_EQ(ten_more == ticks(20 * (t.f + t.i + t.w)), none) << p << ": " << t.f << " " << t.i << " " << t.w;
    }
  }
}

/// V-Min pays for uneven times with every microbatch (2405.15362, section 4): with F, I, W = 10, 12, 8 it takes 12 on top
/// of the work (read off the published orders).
TEST(ClosedForms, SteadyStateOfVMin) {
  for (const int p : {4, 6, 8}) {
    Case c = grid({2}).front();
    c.sizes.ranks = p;
    c.sizes.costs = {ticks(10), ticks(12), ticks(8), 0, 0, 0};
    c.sizes.microbatches = 8 * p;
    const Ticks before = played("v_min", c).makespan;
    c.sizes.microbatches = 8 * p + 10;
    EXPECT_EQ(played("v_min", c).makespan - before, ticks(10 * (2 * (10 + 12 + 8) + 12))) << p;
  }
}

}  // namespace
}  // namespace stepsim
