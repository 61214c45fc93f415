// Reduction and multicast in the switch, on a star of 1 GB/s each way: a byte takes a nanosecond. Times by hand from which
// flows share which links; the ideal V/w is that of "How To Scale Your Model", chapter 12 (SHARP).
#include "collectives/in_network.h"

#include <gtest/gtest.h>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

using enum CollectiveKind;

constexpr Picoseconds ns{1'000};
constexpr std::int64_t byte_per_ns = 1'000'000'000;

CollectiveSpec in_network(CollectiveKind kind, std::uint32_t n, Bytes bytes, Bytes chunk = 0) {
  CollectiveSpec spec{.kind = kind, .shape = {line_of(static_cast<int>(n))}, .bytes = bytes, .algorithm = "in-network"};
  spec.chunk = chunk;
  return spec;
}

std::vector<Star> star(std::int64_t latency = 0) {
  return {{byte_per_ns, ns * latency}};
}

// Everyone is here (one latency), n-1 shards or the array over a link, delivery, everyone is done.
TEST(InNetwork, PullsOrMulticasts) {
  for (const auto& [kind, time] : {std::pair(all_gather, 7 * 100 + 150), std::pair(reduce_scatter, 7 * 100 + 150),
                                   std::pair(broadcast, 800 + 150), std::pair(reduce, 800 + 150)}) {
    const CollectiveSpec spec = in_network(kind, 8, 800);
    EXPECT_EQ(play_on_stars(pattern_of(spec), star(50)).end, ns * time) << to_string(kind);
    EXPECT_LE(bound_ps(spec, star(50)), time * 1000);
    EXPECT_GE(bound_ps(spec, star(50)), time * 1000 - 50'000) << "all but a latency";
  }
}

// Pulls of the first pieces alone: 7 share every up link. Then, piece by piece, 7 pulls and a multicast: 8 share it. Last
// the multicasts alone: 7. In all 7 p + (k-1) 8 p + 7 p for k pieces of p bytes, which falls to V/w = 800.
TEST(InNetwork, SumsAndMulticastsOverlapInPieces) {
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800)), star()).end, ns * 14 * 100);
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800, 50)), star()).end, ns * (14 + 8) * 50);
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800, 10)), star()).end, ns * (14 + 9 * 8) * 10);
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800, 2)), star()).end, ns * (14 + 49 * 8) * 2);
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800, 1)), star()).end, ns * (14 + 49 * 8) * 2)
      << "in 64 pieces at most";
  EXPECT_EQ(play_on_stars(pattern_of(in_network(all_reduce, 8, 800)), star(50)).end, ns * (1400 + 4 * 50))
      << "barrier, pull, multicast, barrier";
  EXPECT_EQ(bound_ps(in_network(all_reduce, 8, 800), star(50)), 800'000 + 100'000);
}

// All-reduce: up V (n-1)/n of the sums that others pull and V/n of its own multicast, V in all; down the same. Half of a
// ring as n grows: 2 V (n-1)/n.
TEST(InNetwork, LoadsLinksWithTheArrayOnce) {
  for (const Bytes chunk : {Bytes{0}, Bytes{10}, Bytes{1}}) {
    for (const Bytes carried : play_on_stars(pattern_of(in_network(all_reduce, 8, 800, chunk)), star()).carried) {
      EXPECT_EQ(carried, 800) << chunk;
    }
  }
}

// Reduce-scatter: others pull 7 shards of what a member has, it pulls one sum. All-gather the other way round.
TEST(InNetwork, LoadsLinksOneWayWithAllShardsAndTheOtherWithOne) {
  for (const bool gathers : {false, true}) {
    const auto spec = in_network(gathers ? all_gather : reduce_scatter, 8, 800, 10);
    const Played played = play_on_stars(pattern_of(spec), star());
    for (std::uint32_t m = 0; m < 8; ++m) {
      EXPECT_EQ(played.carried[star_link(m, 1, 0, gathers)], 700) << gathers << m;
      EXPECT_EQ(played.carried[star_link(m, 1, 0, !gathers)], 100) << gathers << m;
    }
  }
}

// The root's link carries the array one way, everyone else's the other.
TEST(InNetwork, RootedOnesCrossEveryLinkOnce) {
  for (const bool gathers : {false, true}) {
    CollectiveSpec spec = in_network(gathers ? broadcast : reduce, 8, 800, 20);
    spec.root = 5;
    const Played played = play_on_stars(pattern_of(spec), star());
    for (std::uint32_t m = 0; m < 8; ++m) {
      const bool busy_down = (m == 5) != gathers;
      EXPECT_EQ(played.carried[star_link(m, 1, 0, true)], busy_down ? 800 : 0) << gathers << m;
      EXPECT_EQ(played.carried[star_link(m, 1, 0, false)], busy_down ? 0 : 800) << gathers << m;
    }
  }
}

// Nothing is pulled from a member before it is here, and nobody leaves before that.
TEST(InNetwork, WaitsForTheLast) {
  for (const CollectiveKind kind : {all_reduce, all_gather, reduce_scatter, broadcast, reduce}) {
    const TransferPattern pattern = pattern_of(in_network(kind, 5, 500, 20));
    const Picoseconds end = play_on_stars(pattern, star(50)).end;
    const Played late = play_on_stars(pattern, star(50), {{3, ns * 5000}});
    EXPECT_EQ(late.end, ns * 5000 + end) << to_string(kind);
    for (const Picoseconds left : late.left) EXPECT_GE(left, ns * 5050) << to_string(kind);
  }
}

// The last barrier: where all have a part, all leave together.
TEST(InNetwork, LeavesTogether) {
  for (const CollectiveKind kind : {all_reduce, all_gather, reduce_scatter}) {
    const Played played = play_on_stars(pattern_of(in_network(kind, 5, 500, 20)), star(50));
    for (const Picoseconds left : played.left) EXPECT_EQ(left, played.end) << to_string(kind);
  }
}

TEST(InNetwork, IsWholeAndFinishes) {
  for (const std::uint32_t n : {1U, 2U, 7U}) {
    for (const CollectiveKind kind : {all_reduce, all_gather, reduce_scatter, broadcast, reduce}) {
      for (const Bytes bytes : {0, 1, 999}) {
        const TransferPlan plan = tabulate(pattern_of(in_network(kind, n, bytes, 20)));
        check(plan);
        const Causality played = CausalityPlayer(plan).play();
        EXPECT_TRUE(played.finished);
        for (const auto& rests_on : played.rests_on) EXPECT_EQ(rests_on, std::vector<bool>(n, true));
      }
    }
  }
}

TEST(InNetwork, RefusesWhatItDoesNotCover) {
  for (const CollectiveKind kind : {all_to_all, gather, scatter, barrier, point_to_point}) {
    EXPECT_THROW(in_network_pattern(in_network(kind, 4, 4)), InputError) << to_string(kind);
  }
  CollectiveSpec spec = in_network(broadcast, 4, 4);
  spec.root = 4;
  EXPECT_THROW(in_network_pattern(spec), InputError);
  EXPECT_THROW(in_network_pattern(in_network(all_reduce, 4, -4)), InputError);
}

}  // namespace
}  // namespace stepsim
