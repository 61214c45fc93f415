// Rings, played: end times exact in picoseconds.
#include <gtest/gtest.h>

#include "tests/collectives/play.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};

struct Case {
  const char* name;
  int n;
  RingStyle style;
  Picoseconds latency;
  std::int64_t end_ps;
};

// An independent engine in rational arithmetic played these rings: 45 GB/s, shards of 90,000 bytes (2 us a shard).
TEST(Ring, AllGatherAsAnIndependentEngineHasIt) {
  const Picoseconds no{0};
  for (const Case& c :
       {Case{"one way", 4, RingStyle::one_way, no, 6'000'000}, Case{"two halves", 4, RingStyle::halves, no, 3'000'000},
        Case{"whole shards", 4, RingStyle::whole_shards, no, 4'000'000},
        Case{"one way", 4, RingStyle::one_way, us, 9'000'000}, Case{"two halves", 4, RingStyle::halves, us, 6'000'000},
        Case{"whole shards", 4, RingStyle::whole_shards, us, 6'000'000},
        Case{"one way", 8, RingStyle::one_way, no, 14'000'000}, Case{"two halves", 8, RingStyle::halves, no, 7'000'000},
        Case{"whole shards", 8, RingStyle::whole_shards, no, 8'000'000},
        Case{"one way", 8, RingStyle::one_way, us, 21'000'000},
        Case{"two halves", 8, RingStyle::halves, us, 14'000'000},
        Case{"whole shards", 8, RingStyle::whole_shards, us, 12'000'000}}) {
    CollectiveSpec spec{.shape = {ring_of(c.n)}, .bytes = 90'000 * c.n, .ring = c.style};
    const Surroundings around{.rate = 45'000'000'000, .latency = c.latency};
    const std::vector<Picoseconds> all(static_cast<std::size_t>(c.n), Picoseconds(c.end_ps));
    EXPECT_EQ(play(spec, around).left, all) << c.name << " " << c.n;
    spec.kind = CollectiveKind::reduce_scatter;  // the time reverse takes as long
    EXPECT_EQ(play(spec, around).left, all) << c.name << " " << c.n;
    spec.kind = CollectiveKind::all_reduce;  // reduce-scatter, then all-gather
    EXPECT_EQ(play(spec, around).end, Picoseconds(2 * c.end_ps)) << c.name << " " << c.n;
  }
}

std::vector<Picoseconds> microseconds(const std::vector<int>& counts) {
  std::vector<Picoseconds> times;
  for (const int count : counts) times.push_back(us * count);
  return times;
}

// The same engine: one way on a ring of 8 with 1 us of latency; member 2 arrives 10 us late. The delay travels.
TEST(Ring, ALateMemberDelaysItsNeighboursStepByStep) {
  const CollectiveSpec spec{.shape = {ring_of(8)}, .bytes = 8 * 90'000, .ring = RingStyle::one_way};
  const Surroundings around{.rate = 45'000'000'000, .latency = us, .late = {{2, us * 10}}};
  EXPECT_EQ(play(spec, around).left, microseconds({31, 31, 25, 26, 27, 28, 29, 30}));
}

// The same engine: the link from 3 up at half its rate.
TEST(Ring, ASlowLinkHoldsUpWhatComesThroughIt) {
  const CollectiveSpec spec{.shape = {ring_of(8)}, .bytes = 8 * 90'000, .ring = RingStyle::one_way};
  const Surroundings around{
      .rate = 45'000'000'000, .latency = us, .slow_links = {{link_number(3, 1, 0, 0), 22'500'000'000}}};
  EXPECT_EQ(play(spec, around).left, microseconds({25, 24, 23, 28, 29, 28, 27, 26}));
}

// "How To Scale Your Model", the book's figure for even rings, V / W with W = 2w, and with T_min N/2 of latency; odd
// rings: (N-1)/2 whole shards each way. w = 1 GB/s: a byte is 1000 ps.
TEST(Ring, WholeShardsTakeVOverW) {
  for (const int n : {2, 4, 6, 16}) {
    const CollectiveSpec spec{.shape = {ring_of(n)}, .bytes = 1000 * n, .ring = RingStyle::whole_shards};
    EXPECT_EQ(play(spec, {.rate = 1'000'000'000}).end, Picoseconds(1000 * n * 1000 / 2));
    EXPECT_EQ(play(spec, {.rate = 1'000'000'000, .latency = us}).end, Picoseconds(1000 * n * 1000 / 2) + us * (n / 2));
  }
  for (const int n : {3, 5, 7}) {
    const CollectiveSpec spec{.shape = {ring_of(n)}, .bytes = 1000 * n, .ring = RingStyle::whole_shards};
    EXPECT_EQ(play(spec, {.rate = 1'000'000'000}).end, us * ((n - 1) / 2));
  }
}

// Two members: both directions lead to the same peer. Halves use both links; V/2 each way in all.
TEST(Ring, TwoMembersUseBothLinks) {
  CollectiveSpec spec{.shape = {ring_of(2)}, .bytes = 2000, .ring = RingStyle::halves};
  const Played halves = play(spec, {.rate = 1'000'000'000});
  EXPECT_EQ(halves.end, Picoseconds(500'000));
  EXPECT_EQ(halves.carried, (std::vector<Bytes>{500, 500, 500, 500}));
  spec.ring = RingStyle::whole_shards;
  EXPECT_EQ(play(spec, {.rate = 1'000'000'000}).end, us);
}

// An odd shard: the larger half decides. 7 bytes a shard: 4 up, 3 down; the up half takes 3 x (4 ns + latency).
TEST(Ring, OddShardsTakeTheirLargerHalf) {
  const CollectiveSpec spec{.shape = {ring_of(4)}, .bytes = 28, .ring = RingStyle::halves};
  EXPECT_EQ(play(spec, {.rate = 1'000'000'000, .latency = us}).end, Picoseconds(12'000) + us * 3);
}

// Metamorphic: twice the bandwidth and half the latency halve the time.
TEST(Ring, TwiceAsFastLinksHalveTheTime) {
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    const CollectiveSpec spec{.kind = kind, .shape = {ring_of(6)}, .bytes = 6 * 9000};
    const Picoseconds slow = play(spec, {.rate = 1'000'000'000, .latency = us}).end;
    const Picoseconds fast = play(spec, {.rate = 2'000'000'000, .latency = Picoseconds(500'000)}).end;
    EXPECT_EQ(fast * 2, slow);
  }
}

// Permuting events of one instant changes nothing.
TEST(Ring, TiesDoNotMatter) {
  const CollectiveSpec spec{.kind = CollectiveKind::all_reduce, .shape = {ring_of(8)}, .bytes = 8 * 1001};
  Surroundings around{.rate = 3'000'000'007, .latency = us, .late = {{5, us}}};
  const std::vector<Picoseconds> left = play(spec, around).left;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    around.shuffle_seed = seed;
    EXPECT_EQ(play(spec, around).left, left);
  }
}

}  // namespace
}  // namespace stepsim
