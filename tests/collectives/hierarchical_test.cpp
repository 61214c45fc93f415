// Hierarchical: stages one after the other, pieces one behind the other; all-to-all in two phases.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
constexpr std::int64_t gigabyte_per_s = 1'000'000'000;  // a byte is 1 ns, 1000 bytes 1 us

CollectiveSpec hierarchical(CollectiveKind kind, std::vector<GroupAxis> shape, Bytes bytes, Bytes chunk = 0) {
  return {.kind = kind,
          .shape = std::move(shape),
          .bytes = bytes,
          .algorithm = "hierarchical",
          .ring = RingStyle::one_way,
          .chunk = chunk};
}

// 4 nodes of 8, V = 32000 bytes. Inside: 7 steps of V/8 = 4000 bytes at 4 GB/s: 7 (1 + 1) us. Rails: 3 steps of
// V/32 = 1000 bytes at 1 GB/s: 3 (2 + 1) us.
TEST(Hierarchical, OnePieceTakesTheSumOfItsStages) {
  const std::vector<Star> stars{{gigabyte_per_s, us * 2}, {4 * gigabyte_per_s, us}};
  const std::vector<GroupAxis> shape{ring_of(4), ring_of(8)};
  for (const auto& [kind, time] :
       {std::pair{CollectiveKind::reduce_scatter, us * 23}, std::pair{CollectiveKind::all_gather, us * 23},
        std::pair{CollectiveKind::all_reduce, us * 46}}) {
    const CollectiveSpec spec = hierarchical(kind, shape, 32000);
    EXPECT_EQ(play_on_stars(pattern_of(spec), stars).end, time) << to_string(kind);
    EXPECT_EQ(bound_ps(spec, stars), time.count());
  }
}

// Bytes that leave a member: V (g-1)/g inside the node, V (h-1)/gh on its rail (BlueConnect, 2019).
TEST(Hierarchical, OuterAxesCarryTheLeast) {
  const CollectiveSpec spec = hierarchical(CollectiveKind::reduce_scatter, {ring_of(4), ring_of(8)}, 32000, 4000);
  const Played played = play_on_stars(pattern_of(spec), {{gigabyte_per_s, us}, {gigabyte_per_s, us}});
  for (std::size_t m = 0; m < 32; ++m) {
    EXPECT_EQ(played.carried[(m * 2 + 0) * 2], 3000);
    EXPECT_EQ(played.carried[(m * 2 + 1) * 2], 28000);
  }
}

// A flow shop of P equal jobs: sum of the stages + (P - 1) of the slowest. Without latency; 2 nodes of 2, V = 64000:
// a piece of V/P moves V/2P inside (1 GB/s), V/4P on the rail at 1/4 of the rate: 32 us / P and 64 us / P.
TEST(Hierarchical, PiecesKeepNodeAndRailBusyAtOnce) {
  const std::vector<Star> stars{{gigabyte_per_s / 4, {}}, {gigabyte_per_s, {}}};
  const std::vector<GroupAxis> shape{ring_of(2), ring_of(2)};
  for (const Bytes pieces : {1, 2, 8, 16, 64}) {
    CollectiveSpec spec = hierarchical(CollectiveKind::reduce_scatter, shape, 64000, 64000 / pieces);
    EXPECT_EQ(play_on_stars(pattern_of(spec), stars).end, Picoseconds(32'000'000 / pieces) + us * 64);
    EXPECT_EQ(bound_ps(spec, stars), (Picoseconds(32'000'000 / pieces) + us * 64).count());
    spec.kind = CollectiveKind::all_gather;
    EXPECT_EQ(play_on_stars(pattern_of(spec), stars).end, Picoseconds(32'000'000 / pieces) + us * 64);
    spec.kind = CollectiveKind::all_reduce;  // in by the node, both ways on the rail, out by the node
    EXPECT_EQ(play_on_stars(pattern_of(spec), stars).end, Picoseconds(64'000'000 / pieces) + us * 128);
    EXPECT_EQ(bound_ps(spec, stars), (Picoseconds(64'000'000 / pieces) + us * 128).count());
  }
}

// At most 64 pieces: a chunk of a byte is as 1/64.
TEST(Hierarchical, AtMost64Pieces) {
  const CollectiveSpec fine = hierarchical(CollectiveKind::all_reduce, {ring_of(2), ring_of(2)}, 64000, 1);
  EXPECT_EQ(pattern_of(fine).ports, 2u * 64u);
  EXPECT_EQ(pattern_of(fine).roles.size(), 1u);
}

TEST(Hierarchical, MovesAndRestsOnWhatTheOperationsSay) {
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    for (const auto& shape : std::vector<std::vector<GroupAxis>>{
             {ring_of(4)}, {ring_of(3), ring_of(4)}, {line_of(3), ring_of(4)}, {ring_of(2), ring_of(3), line_of(2)}}) {
      for (const RingStyle ring : {RingStyle::one_way, RingStyle::halves, RingStyle::whole_shards}) {
        CollectiveSpec spec = hierarchical(kind, shape, 24000, 5000);
        spec.ring = ring;
        const TransferPlan plan = tabulate(pattern_of(spec));
        check(plan);
        const Causality played = CausalityPlayer(plan).play();
        EXPECT_TRUE(played.finished);
        EXPECT_EQ(played.rests_on, std::vector(plan.members, std::vector<bool>(plan.members, true)));
        Bytes total = 0;
        for (const Bytes sent : played.sent) total += sent;
        EXPECT_EQ(total, (kind == CollectiveKind::all_reduce ? 2 : 1) * 24000 * (plan.members - 1));
        std::vector<Star> stars(shape.size(), Star{gigabyte_per_s, us});
        EXPECT_GE(play_on_stars(pattern_of(spec), stars).end.count() + 1, bound_ps(spec, stars));
      }
    }
  }
}

// 3 nodes of 4, 1000 bytes a pair: 3 messages of 3000 inside at 2 GB/s, then 2 of 4000 on the rail at 1 GB/s.
TEST(Hierarchical, AllToAllTakesTwoPhases) {
  const CollectiveSpec spec = hierarchical(CollectiveKind::all_to_all, {ring_of(3), ring_of(4)}, 144'000);
  const std::vector<Star> stars{{gigabyte_per_s, us * 5}, {2 * gigabyte_per_s, us}};
  const Played played = play_on_stars(pattern_of(spec), stars);
  EXPECT_EQ(played.end, Picoseconds(5'500'000) + us * 13);
  for (std::size_t m = 0; m < 12; ++m) {
    EXPECT_EQ(played.carried[(m * 2 + 0) * 2], 8000);
    EXPECT_EQ(played.carried[(m * 2 + 1) * 2], 9000);
  }
}

// Messages a member sends: g - 1 inside and h - 1 outside, where the direct way takes hg - 1 (odd extents: no antipodes).
TEST(Hierarchical, AllToAllSendsFewMessagesOutOfTheNode) {
  const CollectiveSpec spec = hierarchical(CollectiveKind::all_to_all, {ring_of(5), ring_of(7)}, 35 * 35 * 10);
  const TransferPattern pattern = pattern_of(spec);
  EXPECT_EQ(pattern.ports, 6u + 4u);
  EXPECT_EQ(pattern.roles.size(), 1u);
  EXPECT_EQ(play_on_stars(pattern, {{gigabyte_per_s, {}}, {gigabyte_per_s, {}}}).transfers, 35u * 10u);
}

TEST(Hierarchical, AllToAllRestsOnEveryMember) {
  for (const auto& shape : std::vector<std::vector<GroupAxis>>{
           {ring_of(4)}, {ring_of(3), ring_of(4)}, {line_of(3), line_of(4)}, {ring_of(2), line_of(3), ring_of(2)}}) {
    const CollectiveSpec spec = hierarchical(CollectiveKind::all_to_all, shape, 14400);
    const TransferPlan plan = tabulate(pattern_of(spec));
    check(plan);
    const Causality played = CausalityPlayer(plan).play();
    EXPECT_TRUE(played.finished);
    EXPECT_EQ(played.rests_on, std::vector(plan.members, std::vector<bool>(plan.members, true)));
    std::vector<Star> stars(shape.size(), Star{gigabyte_per_s, us});
    EXPECT_LE(play_on_stars(pattern_of(spec), stars).end.count(), 1'000'000'000);
  }
}

TEST(Hierarchical, OneMemberSendsNothing) {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    EXPECT_EQ(bytes_sent(tabulate(pattern_of(hierarchical(kind, {}, 1000))), 0), 0);
  }
}

TEST(Hierarchical, RefusesWhatItDoesNotCover) {
  EXPECT_EQ(
      problem_of(hierarchical(CollectiveKind::broadcast, {ring_of(4)}, 1000)),
      "collectives.algorithm: 'hierarchical' does not do broadcast (it does all-gather, reduce-scatter, all-reduce "
      "and all-to-all)");
  CollectiveSpec ragged = hierarchical(CollectiveKind::all_to_all, {ring_of(2)}, 0);
  ragged.sends = {0, 1, 2, 0};
  EXPECT_EQ(problem_of(ragged), "collectives.sends: 'hierarchical' sends all alike (ragged: use 'pairwise')");
  ragged.algorithm = "direct";
  EXPECT_EQ(problem_of(ragged), "collectives.sends: 'direct' sends all alike (ragged: use 'pairwise')");
}

}  // namespace
}  // namespace stepsim
