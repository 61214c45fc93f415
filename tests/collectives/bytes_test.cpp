// Bytes that each member's link carries up to the switch and down from it, by the published formulas. V bytes, n members:
//   Thakur, Rabenseifner, Gropp 2005, "Optimization of Collective Communication Operations in MPICH":
//     all-gather (section 4.1): ring, recursive doubling, Bruck V (n-1)/n each
//     reduce-scatter (4.3): recursive halving V (n-1)/n; all-reduce (4.5): recursive doubling V log2 n, Rabenseifner and
//     ring 2 V (n-1)/n; all-to-all (4.4): Bruck (n/2) log2 n blocks
//   Sanders, Speck, Traeff 2009: two trees carry half the array each, up and down: at most V/2 x (3 + 1) each way
// One-shot and two-shot say it themselves: everything from everyone, or a shard from everyone and then to everyone.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collectives/star.h"
#include "tests/collectives/switch_star.h"

namespace stepsim {
namespace {

using enum CollectiveKind;

constexpr std::int64_t byte_per_ns = 1'000'000'000;
constexpr Picoseconds ns{1'000};
constexpr Bytes shard = 4096;
constexpr Bytes array = 8 * shard;  // V

struct Row {
  std::string algorithm;
  CollectiveKind kind = all_gather;
  Bytes each_way = 0;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.algorithm << " " << to_string(row.kind);
}

CollectiveSpec of_8(const std::string& algorithm, CollectiveKind kind) {
  return {.kind = kind, .shape = behind_switch(8), .bytes = array, .algorithm = algorithm};
}

class BytesOnAStarOf8 : public ::testing::TestWithParam<Row> {};

TEST_P(BytesOnAStarOf8, AreThoseOfTheFormula) {
  const CollectiveSpec spec = of_8(GetParam().algorithm, GetParam().kind);
  const Played played = play_on_star(spec, {.rate = byte_per_ns, .latency = ns * 100});
  ASSERT_EQ(played.carried.size(), 16U);
  for (std::size_t link = 0; link < 16; ++link) {
    EXPECT_EQ(played.carried[link], GetParam().each_way) << "member " << link / 2 << (link % 2 == 0 ? " up" : " down");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BytesOnAStarOf8,
    ::testing::Values(Row{"ring", all_gather, 7 * shard}, Row{"ring", reduce_scatter, 7 * shard},
                      Row{"ring", all_reduce, 14 * shard}, Row{"recursive-doubling", all_gather, 7 * shard},
                      Row{"recursive-doubling", all_reduce, 3 * array},
                      Row{"recursive-halving", reduce_scatter, 7 * shard},
                      Row{"recursive-halving", all_reduce, 14 * shard}, Row{"bruck", all_gather, 7 * shard},
                      Row{"bruck", all_to_all, 4 * 3 * shard / 8}, Row{"pairwise", all_to_all, 7 * shard / 8},
                      Row{"one-shot", all_gather, 7 * shard}, Row{"one-shot", reduce_scatter, 7 * shard},
                      Row{"one-shot", all_reduce, 7 * array}, Row{"two-shot", all_reduce, 14 * shard}));

// Up to the parent and down to two children in one tree, up alone in the other: at most 2 V each way; n-1 edges per tree.
TEST(BytesOnAStar, TreesCarryHalfTheArrayPerEdgeAndDirection) {
  for (const Bytes chunk : {Bytes{0}, Bytes{1024}}) {
    CollectiveSpec spec = of_8("tree", all_reduce);
    spec.channels = 2;  // one tree each
    spec.chunk = chunk;
    const Played played = play_on_star(spec, {.rate = byte_per_ns, .latency = ns * 100});
    Bytes up = 0;
    Bytes down = 0;
    for (std::size_t member = 0; member < 8; ++member) {
      up += played.carried[2 * member];
      down += played.carried[2 * member + 1];
      EXPECT_LE(played.carried[2 * member], 2 * array) << member;
      EXPECT_GE(played.carried[2 * member], array) << "everything goes up to someone, or comes back down";
    }
    EXPECT_EQ(up, 2 * 7 * array) << chunk;
    EXPECT_EQ(down, 2 * 7 * array) << chunk;
  }
}

// Two nodes of four (Cho et al. 2019, BlueConnect): in the node V 3/4, between nodes (V/4) 1/2, per phase.
TEST(BytesOnAStar, HierarchiesSendLessOutside) {
  for (const auto& [kind, phases] :
       {std::pair(all_gather, 1), std::pair(reduce_scatter, 1), std::pair(all_reduce, 2)}) {
    CollectiveSpec spec = of_8("hierarchical", kind);
    spec.shape = {ring_of(2), ring_of(4)};
    spec.chunk = 2 * shard;
    const std::vector<Star> stars(2, Star{byte_per_ns, ns * 100});
    const Played played = play_on_stars(pattern_of(spec), stars);
    for (std::uint32_t m = 0; m < 8; ++m) {
      for (const bool down : {false, true}) {
        EXPECT_EQ(played.carried[star_link(m, 2, 0, down)], phases * array / 8) << to_string(kind) << " outside";
        EXPECT_EQ(played.carried[star_link(m, 2, 1, down)], phases * array * 3 / 4) << to_string(kind) << " inside";
      }
    }
  }
}

// By way of the rails: first to the right local rank inside (3 of 4 quarters), then across (half of everything).
TEST(BytesOnAStar, HierarchicalExchangesSendEverythingTwice) {
  CollectiveSpec spec = of_8("hierarchical", all_to_all);
  spec.shape = {ring_of(2), ring_of(4)};
  const Played played = play_on_stars(pattern_of(spec), {{byte_per_ns, ns * 100}, {byte_per_ns, ns * 100}});
  for (std::uint32_t m = 0; m < 8; ++m) {
    EXPECT_EQ(played.carried[star_link(m, 2, 0, false)], shard / 2);
    EXPECT_EQ(played.carried[star_link(m, 2, 1, false)], shard * 3 / 4);
  }
}

}  // namespace
}  // namespace stepsim
