// Recursive doubling and halving: times on a star, bytes, what everyone ends up with.
#include "collectives/recursive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collectives/switch_star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
const Surroundings around{.rate = 1'000'000'000, .latency = us};  // a byte is 1000 ps

CollectiveSpec spec_of(const char* name, CollectiveKind kind, std::uint32_t members, Bytes bytes) {
  return {.kind = kind, .shape = behind_switch(members), .bytes = bytes, .algorithm = name};
}

const std::vector<std::pair<const char*, CollectiveKind>> all_kinds{
    {"recursive-doubling", CollectiveKind::all_gather},
    {"recursive-doubling", CollectiveKind::all_reduce},
    {"recursive-halving", CollectiveKind::reduce_scatter},
    {"recursive-halving", CollectiveKind::all_reduce}};

// Thakur, Rabenseifner, Gropp 2005, sections 4 to 6, with alpha = 1 us, beta = 1 ns a byte: 16 members, 16000 bytes:
// lg p alpha + (p-1)/p n beta = 4 + 15; lg p (alpha + n beta) = 4 x 17; 2 lg p alpha + 2 (p-1)/p n beta = 8 + 30.
TEST(Recursive, PowersOfTwoTakeTheTimesOfThePaper) {
  const std::vector<int> expected{19, 68, 19, 38};
  for (std::size_t i = 0; i < all_kinds.size(); ++i) {
    const CollectiveSpec spec = spec_of(all_kinds[i].first, all_kinds[i].second, 16, 16'000);
    EXPECT_EQ(play_on_star(spec, around).end, us * expected[i]) << i;
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), expected[i] * 1e6);
    EXPECT_EQ(collective_algorithms().at("", spec.algorithm).pattern(spec).roles.size(), 1U);  // all alike: folds
  }
}

// Three members, V = 3000: rank 0 is extra and hands over to rank 1, which swaps with rank 2 and gives back. At first
// ranks 0 and 2 share the link down to rank 1. By hand, in us, times at which rank 1 starts:
//   all-gather: 1 + 1 shards share: 2 + 1; two shards to rank 2 drain at 5; two back to rank 0: 5 + 2 + 1 = 8
//   all-reduce: twice 3000 share: 6 + 1; to rank 2 until 10; back: 10 + 3 + 1 = 14
//   reduce-scatter: 3000 and the two shards of ranks 0 and 1, in full at 4 and 5: 5 + 1; one shard to rank 2 until 7;
//     shard 0 back: 7 + 1 + 1 = 9
//   halving all-reduce: 3000 and 1500 share, in full at 3 and 4.5: 4.5 + 1; half to rank 2 by 5.5 + 1.5 + 1 = 8; its
//     half back by 8 + 1.5 + 1 = 10.5; the whole back: 10.5 + 3 + 1 = 14.5
// The bound has no sharing: rank 1 starts at 2, 4, 4 and 4: 2 + 2 + 3, 4 + 3 + 4, 4 + 1 + 2, 4 + 2.5 + 2.5 + 4.
TEST(Recursive, ThreeMembersByHand) {
  const std::vector<Picoseconds> expected{us * 8, us * 14, us * 9, Picoseconds(14'500'000)};
  const std::vector<double> bounds{7e6, 11e6, 7e6, 13e6};
  for (std::size_t i = 0; i < all_kinds.size(); ++i) {
    const CollectiveSpec spec = spec_of(all_kinds[i].first, all_kinds[i].second, 3, 3000);
    EXPECT_EQ(play_on_star(spec, around).end, expected[i]) << i;
    EXPECT_DOUBLE_EQ(bound_on_star(spec, around), bounds[i]);
  }
}

TEST(Recursive, EveryoneHearsOfEveryoneAndNobodyBeatsTheBound) {
  for (const auto& [name, kind] : all_kinds) {
    for (std::uint32_t members = 1; members <= 21; ++members) {
      const CollectiveSpec spec = spec_of(name, kind, members, 1000 * members);
      const Causality end = follow(spec);
      EXPECT_TRUE(end.finished);
      for (const auto& has : end.rests_on) EXPECT_EQ(std::count(has.begin(), has.end(), false), 0) << members;
      EXPECT_GE(static_cast<double>(play_on_star(spec, around).end.count()) + 1, bound_on_star(spec, around));
    }
  }
}

// Who gathers receives all shards but its own, each once, no matter how the extras were folded in.
TEST(Recursive, AllGatherDeliversEachShardOnce) {
  for (std::uint32_t members = 1; members <= 21; ++members) {
    const Causality end = follow(spec_of("recursive-doubling", CollectiveKind::all_gather, members, 1000 * members));
    EXPECT_EQ(end.received, std::vector<Bytes>(members, 1000 * (members - 1)));
  }
}

// Everyone but its owner sends on each shard once: V (N-1)/N from each member, for powers of two.
TEST(Recursive, HalvingSendsEachShardOnce) {
  for (const std::uint32_t members : {2U, 8U, 32U}) {
    const Causality end = follow(spec_of("recursive-halving", CollectiveKind::reduce_scatter, members, 1000 * members));
    EXPECT_EQ(end.sent, std::vector<Bytes>(members, 1000 * (members - 1)));
  }
}

TEST(Recursive, SaysWhatItDoes) {
  EXPECT_THROW(recursive_doubling_pattern(spec_of("", CollectiveKind::reduce_scatter, 4, 100)), InputError);
  EXPECT_THROW(recursive_halving_pattern(spec_of("", CollectiveKind::all_gather, 4, 100)), InputError);
  EXPECT_THROW(recursive_halving_pattern(spec_of("", CollectiveKind::all_reduce, 4, -1)), InputError);
}

}  // namespace
}  // namespace stepsim
