// Bruck's algorithms: times on a star, and where every block really goes.
#include "collectives/bruck.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/collectives/switch_star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
const Surroundings around{.rate = 1'000'000'000, .latency = us};  // a byte is 1000 ps

CollectiveSpec bruck(CollectiveKind kind, std::uint32_t members, Bytes bytes) {
  return {.kind = kind, .shape = behind_switch(members), .bytes = bytes, .algorithm = "bruck"};
}

// Bruck et al. 1997: the concatenation takes ceil(log2 n) rounds and n - 1 shards, for any n, both optimal.
// Thakur, Rabenseifner, Gropp 2005, section 4: ceil(lg p) alpha + (p-1)/p n beta. Shards of 1000 bytes.
TEST(Bruck, AllGatherIsOptimalForAnyNumber) {
  for (const auto& [members, rounds] : {std::pair{2, 1}, {3, 2}, {5, 3}, {8, 3}, {9, 4}, {12, 4}, {16, 4}, {17, 5}}) {
    const auto count = static_cast<std::uint32_t>(members);
    const CollectiveSpec spec = bruck(CollectiveKind::all_gather, count, 1000 * members);
    EXPECT_EQ(play_on_star(spec, around).end, us * (rounds + members - 1));
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), 1e6 * (rounds + members - 1));
    EXPECT_EQ(follow(spec).received, std::vector<Bytes>(count, 1000 * (members - 1)));
  }
}

// Thakur et al. 2005, section 5: powers of two take lg p (alpha + n/2 beta), n what a member sends in all: 16 members,
// blocks of 100 bytes: 4 x (1 + 0.8). And 5 members by hand: of 1, 2, 3, 4 two are odd, two have bit 1, one bit 2.
TEST(Bruck, AllToAllSendsHalfOfTheBlocksInEachStep) {
  EXPECT_EQ(play_on_star(bruck(CollectiveKind::all_to_all, 16, 100 * 256), around).end, Picoseconds(7'200'000));
  EXPECT_DOUBLE_EQ(bound_on_star(bruck(CollectiveKind::all_to_all, 16, 100 * 256), around), 7.2e6);
  EXPECT_EQ(play_on_star(bruck(CollectiveKind::all_to_all, 5, 1000 * 25), around).end, us * (3 + 2 + 2 + 1));
}

TEST(Bruck, EveryoneHearsOfEveryone) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (std::uint32_t members = 1; members <= 20; ++members) {
      const Causality end = follow(bruck(kind, members, 1000 * members * members));
      EXPECT_TRUE(end.finished);
      for (const auto& has : end.rests_on) EXPECT_EQ(std::count(has.begin(), has.end(), false), 0) << members;
    }
  }
}

// Carries blocks {from, to} by the ports of the pattern alone: a step takes those whose rest of the way, in units of the
// step's own distance, is odd. They all arrive, and they fill just the bytes the step has.
TEST(Bruck, BlocksArriveAndFillTheTransfers) {
  for (std::uint32_t members = 2; members <= 20; ++members) {
    const TransferPattern pattern = bruck_pattern(bruck(CollectiveKind::all_to_all, members, 10 * members * members));
    std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> at(members);
    for (std::uint32_t from = 0; from < members; ++from) {
      for (std::uint32_t to = 0; to < members; ++to) at[from].insert({from, to});
    }
    for (const auto& run : pattern.roles[0].runs) {
      const std::uint32_t distance = pattern.port(0, run.port).to;
      auto next = at;
      for (std::uint32_t member = 0; member < members; ++member) {
        Bytes moved = 0;
        for (const auto& block : at[member]) {
          const std::uint32_t whole_way = (block.second + members - block.first) % members;
          if (whole_way / distance % 2 == 0) continue;
          next[member].erase(block);
          next[pattern.port(member, run.port).to].insert(block);
          moved += 10;
        }
        EXPECT_EQ(moved, run.bytes);
      }
      at = next;
    }
    for (std::uint32_t member = 0; member < members; ++member) {
      EXPECT_EQ(at[member].size(), members);
      for (const auto& block : at[member]) EXPECT_EQ(block.second, member);
    }
  }
}

TEST(Bruck, OnARingAStepIsAMoveTheShorterWayRound) {
  CollectiveSpec spec = bruck(CollectiveKind::all_to_all, 1, 3600);
  spec.shape = {ring_of(6)};
  const TransferPattern pattern = bruck_pattern(spec);
  std::vector<int> steps;
  for (const auto& word : pattern.words) steps.push_back(word.at(0).steps);
  EXPECT_EQ(steps, (std::vector<int>{1, 2, -2}));
}

TEST(Bruck, SaysWhatItDoes) {
  EXPECT_THROW(bruck_pattern(bruck(CollectiveKind::all_reduce, 4, 100)), InputError);
  CollectiveSpec ragged = bruck(CollectiveKind::all_to_all, 2, 100);
  ragged.sends = {0, 10, 20, 0};
  EXPECT_THROW(bruck_pattern(ragged), InputError);
}

}  // namespace
}  // namespace stepsim
