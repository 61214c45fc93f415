// One-shot and two-shot: times on a star and on a ring, what everyone ends up with, words.
#include "collectives/one_shot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/collectives/switch_star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
constexpr std::int64_t gigabyte_per_s = 1'000'000'000;  // a byte is 1000 ps
const Surroundings around{.rate = gigabyte_per_s, .latency = us};

CollectiveSpec shot(CollectiveKind kind, std::uint32_t members, Bytes bytes, const char* name = "one-shot") {
  return {.kind = kind, .shape = behind_switch(members), .bytes = bytes, .algorithm = name};
}

// 5 members, shards of 1000 bytes, 1 us each through the member's link: 4 us, after or before 1 us of latency.
TEST(OneShot, EveryLinkCarriesAllOtherShards) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const CollectiveSpec spec = shot(kind, 5, 5000);
    const Played played = play_on_star(spec, around);
    EXPECT_EQ(played.end, us * 5);
    EXPECT_EQ(played.carried, std::vector<Bytes>(10, 4000));
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), 5e6);
  }
}

// The whole array to each of 4 others: 20 us + 1 us. In two steps of shards: 2 (4 us + 1 us).
TEST(OneShot, AllReduceInOneStepOrTwo) {
  const CollectiveSpec one = shot(CollectiveKind::all_reduce, 5, 5000);
  const CollectiveSpec two = shot(CollectiveKind::all_reduce, 5, 5000, "two-shot");
  EXPECT_EQ(play_on_star(one, around).end, us * 21);
  EXPECT_EQ(play_on_star(two, around).end, us * 10);
  EXPECT_DOUBLE_EQ(bound_on_star(one, around), 21e6);
  EXPECT_DOUBLE_EQ(bound_on_star(two, around), 10e6);
}

TEST(OneShot, EveryoneHearsOfEveryone) {
  for (const std::uint32_t members : {1U, 2U, 3U, 8U, 13U}) {
    for (const CollectiveSpec& spec :
         {shot(CollectiveKind::all_gather, members, 1000), shot(CollectiveKind::reduce_scatter, members, 1000),
          shot(CollectiveKind::all_reduce, members, 1000),
          shot(CollectiveKind::all_reduce, members, 1000, "two-shot")}) {
      const Causality end = follow(spec);
      EXPECT_TRUE(end.finished);
      EXPECT_EQ(end.depth, members == 1 ? 0 : spec.algorithm == "two-shot" ? 2 : 1);
      for (const auto& has : end.rests_on) EXPECT_EQ(std::count(has.begin(), has.end(), false), 0);
    }
    // The reduced shards that the second step sends rest on everyone's.
    EXPECT_TRUE(follow(shot(CollectiveKind::all_reduce, members, 1000, "two-shot")).last_sends_rest_on_all);
  }
}

// Where legs lead, added up by hand: ranks are row-major over the shape.
TEST(OneShot, WordsLeadWhereThePortsSay) {
  for (const std::vector<int>& extents : std::vector<std::vector<int>>{{2}, {5}, {6}, {4, 3}, {2, 5, 4}}) {
    CollectiveSpec spec = shot(CollectiveKind::all_gather, 1, 7200);
    spec.shape.clear();
    for (const int n : extents) spec.shape.push_back(ring_of(n));
    const TransferPattern pattern = one_shot_pattern(spec);
    ASSERT_EQ(pattern.words.size(), pattern.members - 1);
    for (std::uint32_t member = 0; member < pattern.members; ++member) {
      for (std::uint32_t port = 0; port < pattern.ports; ++port) {
        std::uint32_t to = member;
        for (const Leg& leg : pattern.words[port]) {
          EXPECT_LE(2 * std::abs(leg.steps), extents[static_cast<std::size_t>(leg.axis)]);
          int unit = 1;
          for (std::size_t a = static_cast<std::size_t>(leg.axis) + 1; a < extents.size(); ++a) unit *= extents[a];
          const int n = extents[static_cast<std::size_t>(leg.axis)];
          const int at = static_cast<int>(to) / unit % n;
          to += static_cast<std::uint32_t>(((at + leg.steps + n) % n - at) * unit);
        }
        EXPECT_EQ(to, pattern.port(member, port).to);
      }
    }
    const Causality end = follow(spec);
    for (const auto& has : end.rests_on) EXPECT_EQ(std::count(has.begin(), has.end(), false), 0);
  }
}

// On a ring of n every transfer takes the links between: as many upward links as the word has steps.
Picoseconds end_on_ring(const CollectiveSpec& spec) {
  LoneCollective a = set_up_star(spec, around);
  const TransferPattern pattern = collective_algorithms().at("algorithm", spec.algorithm).pattern(spec);
  a.network = Network();
  for (std::uint32_t link = 0; link < 2 * pattern.members; ++link) a.network.add_link(around.rate, around.latency);
  std::vector<RouteId>& table = a.program.route_tables[0];
  table.clear();
  for (std::uint32_t member = 0; member < pattern.members; ++member) {
    for (std::uint32_t port = 0; port < pattern.ports; ++port) {
      std::vector<LinkId> links;
      const int steps = pattern.words[port].at(0).steps;
      const auto n = static_cast<int>(pattern.members);
      for (int i = 0; i < std::abs(steps); ++i) {
        const int from = (static_cast<int>(member) + (steps > 0 ? i : n - i)) % n;
        links.push_back(static_cast<LinkId>(2 * from + (steps > 0 ? 0 : 1)));
      }
      table.push_back(a.network.add_route(links));
    }
  }
  return simulate(a.program, a.network, {.exact_steps = 1}).at(0, 0, 1).end;
}

// Ring of 6: distances 1, 2, 3 upward load each link with 6 shards, the farthest is 3 hops away. Ring of 5: 1 + 2.
TEST(OneShot, OnARingTheUpwardLinksDecide) {
  for (const auto& [members, shards, hops] : {std::array{6, 6, 3}, std::array{5, 3, 2}, std::array{2, 1, 1}}) {
    CollectiveSpec spec = shot(CollectiveKind::all_gather, 1, 1000 * members);
    spec.shape = {ring_of(members)};
    EXPECT_EQ(end_on_ring(spec), us * (shards + hops));
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), 1e6 * (shards + hops));
    spec.kind = CollectiveKind::all_reduce;
    spec.algorithm = "two-shot";
    EXPECT_EQ(end_on_ring(spec), us * (2 * (shards + hops)));
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), 2e6 * (shards + hops));
  }
}

// 4 x 4 rings: each upward link is crossed by 1 + 2 of the 4 displacements along its axis, for each of the 4 along the
// other: 12 shards of 1 us. The links of the words themselves, counted: the same on either axis.
TEST(OneShot, OnATorusTheUpwardLinksOfAnAxisBound) {
  CollectiveSpec spec = shot(CollectiveKind::all_gather, 1, 16'000);
  spec.shape = {ring_of(4), ring_of(4)};
  std::vector<int> up(2, 0);
  for (const auto& word : one_shot_pattern(spec).words) {
    for (const Leg& leg : word) up[static_cast<std::size_t>(leg.axis)] += std::max(0, leg.steps);
  }
  EXPECT_EQ(up, (std::vector<int>{12, 12}));
  EXPECT_DOUBLE_EQ(one_shot_bound(spec, {{1e9, 1e9}, {1e-6, 1e-6}}), 13e-6);
}

TEST(OneShot, SaysWhatItDoes) {
  EXPECT_THROW(one_shot_pattern(shot(CollectiveKind::all_to_all, 4, 100)), InputError);
  EXPECT_THROW(two_shot_pattern(shot(CollectiveKind::all_gather, 4, 100)), InputError);
  EXPECT_THROW(one_shot_pattern(shot(CollectiveKind::all_gather, 4, -1)), InputError);
}

}  // namespace
}  // namespace stepsim
