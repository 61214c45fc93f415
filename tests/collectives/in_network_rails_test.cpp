// Reduction in the switches of nodes and of rails, on stars: 4 nodes of 8, 9 GB/s into the node's switch, 1 GB/s into the
// rail's. Times by hand from which flows share which links; V/w of switches that add is that of "How To Scale Your Model",
// chapter 12 (half of a ring's 2 V/w).
#include "collectives/in_network_rails.h"

#include <gtest/gtest.h>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds ns{1'000};

CollectiveSpec rails(int nodes, int gpus, Bytes bytes, Bytes chunk = 0) {
  CollectiveSpec spec{.kind = CollectiveKind::all_reduce,
                      .shape = {jumps_of(nodes), jumps_of(gpus)},
                      .bytes = bytes,
                      .algorithm = "in-network-rails"};
  spec.chunk = chunk;
  return spec;
}

std::vector<Star> stars(std::int64_t network = 0, std::int64_t node = 0) {
  return {{1'000'000'000, ns * network}, {9'000'000'000, ns * node}};
}

// A piece of q bytes takes q ns on the rail. Before the first, 7 others pull it out of each member: 7 q / 9; after the last,
// 7 multicasts come in: 7 q / 9. Between them the node keeps ahead: 8 q / 9 a piece.
TEST(InNetworkRails, TakesTheTimeOfTheRail) {
  EXPECT_EQ(play_on_stars(pattern_of(rails(4, 8, 2880, 36)), stars()).end, ns * (10 * 36 + 14 * 4));
  EXPECT_EQ(play_on_stars(pattern_of(rails(4, 8, 2880, 72)), stars()).end, ns * (5 * 72 + 14 * 8));
  EXPECT_EQ(play_on_stars(pattern_of(rails(4, 8, 2880)), stars()).end, ns * (360 + 14 * 40));
  EXPECT_EQ(bound_ps(rails(4, 8, 2880), stars()), 360'000);
}

// One piece: all have come, pulled; told the rail, crossed it, told it; multicast, all are done.
TEST(InNetworkRails, PaysForItsSteps) {
  EXPECT_EQ(play_on_stars(pattern_of(rails(4, 8, 2880)), stars(100, 0)).end, ns * (920 + 3 * 100));
  EXPECT_EQ(play_on_stars(pattern_of(rails(4, 8, 2880)), stars(0, 100)).end, ns * (920 + 4 * 100));
  EXPECT_EQ(bound_ps(rails(4, 8, 2880), stars(100, 10)), 480'000);
}

// V each way in the node, V / 8 each way on the rail, whatever the pieces.
TEST(InNetworkRails, LoadsLinksWithTheArrayOnce) {
  for (const Bytes chunk : {0, 36, 1}) {
    const Played played = play_on_stars(pattern_of(rails(4, 8, 2880, chunk)), stars());
    for (std::uint32_t m = 0; m < 32; ++m) {
      for (const bool down : {false, true}) {
        EXPECT_EQ(played.carried[star_link(m, 2, 0, down)], 360) << m;
        EXPECT_EQ(played.carried[star_link(m, 2, 1, down)], 2880) << m;
      }
    }
  }
}

TEST(InNetworkRails, EveryMemberEndsUpWithWhatAllHad) {
  CollectiveSpec three = rails(2, 3, 999, 20);
  three.shape.insert(three.shape.begin(), jumps_of(2));
  for (const CollectiveSpec& spec :
       {rails(4, 8, 2880, 36), rails(2, 2, 1), rails(5, 3, 1000, 7), rails(2, 4, 0), three}) {
    const TransferPlan plan = tabulate(pattern_of(spec));
    check(plan);
    const Causality played = CausalityPlayer(plan).play();
    EXPECT_TRUE(played.finished);
    for (const auto& rests_on : played.rests_on) EXPECT_EQ(rests_on, std::vector<bool>(plan.members, true));
  }
}

// What needs no late member is done by then, and no more: its own node has not begun, no rail has crossed.
TEST(InNetworkRails, WaitsForTheLast) {
  const TransferPattern pattern = pattern_of(rails(3, 4, 1200, 30));
  const Picoseconds end = play_on_stars(pattern, stars(20, 5)).end;
  const Played late = play_on_stars(pattern, stars(20, 5), {{7, ns * 5000}});
  EXPECT_LE(late.end, ns * 5000 + end);
  EXPECT_GE(late.end, ns * (5000 + 1200 / 4));
  for (const Picoseconds left : late.left) EXPECT_GE(left, ns * (5000 + 1200 / 4));
}

TEST(InNetworkRails, RefusesWhatItDoesNotCover) {
  CollectiveSpec gather = rails(4, 8, 4);
  gather.kind = CollectiveKind::all_gather;
  EXPECT_THROW(in_network_rails_pattern(gather), InputError);
  EXPECT_THROW(in_network_rails_pattern(rails(1, 8, 4)), InputError) << "one node";
  EXPECT_THROW(in_network_rails_pattern(rails(8, 1, 4)), InputError) << "nodes of one";
  EXPECT_THROW(in_network_rails_pattern(rails(4, 8, -4)), InputError);
  CollectiveSpec torus = rails(4, 8, 4);
  torus.shape = {ring_of(4), ring_of(8)};
  EXPECT_THROW(in_network_rails_pattern(torus), InputError) << "no switch along a ring";
}

}  // namespace
}  // namespace stepsim
