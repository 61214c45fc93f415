// Double binary trees: shape, times on a star, what everyone ends up with.
#include "collectives/tree.h"

#include <gtest/gtest.h>

#include <numeric>

#include "collectives/double_tree.h"
#include "tests/collectives/switch_star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
constexpr std::int64_t gigabyte_per_s = 1'000'000'000;  // a byte is 1000 ps
constexpr std::uint32_t top = no_member;

CollectiveSpec tree(CollectiveKind kind, std::uint32_t members, Bytes bytes, std::uint32_t node = 1) {
  CollectiveSpec spec{.kind = kind, .shape = behind_switch(members), .bytes = bytes, .algorithm = "tree"};
  spec.node = node;
  return spec;
}

std::vector<std::uint32_t> parents(std::uint32_t nodes, std::uint32_t which, TreeTops tops = TreeTops::two) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t node = 0; node < nodes; ++node) all.push_back(tree_parent(nodes, which, tops, node));
  return all;
}

// Drawn in src/graph/trees.cc of NVIDIA's nccl, above ncclGetBtree (14 ranks) and ncclGetDtree (12, 13 ranks).
TEST(DoubleTree, IsTheOneDrawnInNccl) {
  EXPECT_EQ(parents(14, 0), (std::vector<std::uint32_t>{top, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}));
  EXPECT_EQ(parents(12, 1), (std::vector<std::uint32_t>{1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, top}));
  EXPECT_EQ(parents(13, 1), (std::vector<std::uint32_t>{9, top, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11}));
}

// Sanders, Speck, Traeff 2009: nobody is an inner node of both (but the top and one other below it, when odd many).
TEST(DoubleTree, HardlyAnyoneForwardsInBoth) {
  for (const TreeTops tops : {TreeTops::two, TreeTops::one}) {
    for (std::uint32_t nodes = 1; nodes < 70; ++nodes) {
      std::vector<int> trees_inner(nodes, 0);
      for (std::uint32_t which = 0; which < 2; ++which) {
        std::vector<int> children(nodes, 0);
        for (const std::uint32_t parent : parents(nodes, which, tops)) {
          if (parent != top) ++children[parent];
        }
        EXPECT_EQ(std::accumulate(children.begin(), children.end(), 0), static_cast<int>(nodes) - 1);
        EXPECT_LE(*std::max_element(children.begin(), children.end()), 2);
        for (std::uint32_t node = 0; node < nodes; ++node) trees_inner[node] += children[node] > 0 ? 1 : 0;
      }
      EXPECT_LE(std::count(trees_inner.begin(), trees_inner.end(), 2), 1) << nodes;
    }
  }
}

// Two members, one half each way: up and down again, 2 (latency + V/2 / w).
TEST(Tree, TwoMembersExchangeHalves) {
  const Surroundings around{.rate = gigabyte_per_s, .latency = us};
  const CollectiveSpec spec = tree(CollectiveKind::all_reduce, 2, 8000);
  EXPECT_EQ(play_on_star(spec, around).end, us * 2 + us * 8);
  EXPECT_DOUBLE_EQ(bound_on_star(spec, around), 10e6);
}

// A chain of 4 in one node: 4 pieces of 1000 bytes in each of two channels that share the links fairly, so each piece
// streams for 2 us: (pieces - 1 + edges) x 2 us + edges x latency.
TEST(Tree, OneNodeIsAPipelinedChain) {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CollectiveSpec spec = tree(kind, 4, 8000, 4);
    spec.chunk = 1000;
    EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s}).end, us * (2 * 6));
    EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s, .latency = us}).end, us * (2 * 6 + 3));
    EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s, .latency = us}).transfers, 2 * 4 * 3U);
  }
}

// Three nodes of one, whole halves, no latency. Channel 0: 1 -> 2 -> 0 -> 2 -> 1; channel 1: 2 -> 0 -> 1 -> 0 -> 2.
// Both have 4 edges in a row and never meet on a link the same way (edge i of channel 1 is edge i of 0 shifted by one).
TEST(Tree, ThreeMembersGoUpAndDownFourEdges) {
  const CollectiveSpec spec = tree(CollectiveKind::all_reduce, 3, 2000);
  EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s, .latency = us}).end, us * (4 * 2));
  EXPECT_DOUBLE_EQ(bound_on_star(spec, {.rate = gigabyte_per_s, .latency = us}), 8e6);
}

// All-reduce moves 2 (N-1) V in all, no member more than 2 V each way: the full-bandwidth property of two trees.
// The rest is the filling of the pipeline: 2 x 5 edges and the pieces that wait for each other, against 64 pieces.
TEST(Tree, LargeArraysTakeTwiceTheArray) {
  constexpr std::uint32_t members = 32;
  CollectiveSpec spec = tree(CollectiveKind::all_reduce, members, 64'000'000);
  spec.chunk = 1;
  const Played played = play_on_star(spec, {.rate = gigabyte_per_s});
  Bytes all = 0;
  for (std::uint32_t member = 0; member < members; ++member) {
    all += played.carried[2 * member];
    EXPECT_LE(played.carried[2 * member], 2 * spec.bytes);
    EXPECT_LE(played.carried[2 * member + 1], 2 * spec.bytes);
  }
  EXPECT_EQ(all, 2 * (members - 1) * spec.bytes);
  EXPECT_EQ(played.transfers, 2 * (members - 1) * 2 * tree_max_pieces);
  const double perfect = 2 * static_cast<double>(spec.bytes) * 1000;
  EXPECT_GE(static_cast<double>(played.end.count()), perfect * 0.99);
  EXPECT_LE(static_cast<double>(played.end.count()), perfect * 1.25);
}

// Halving the pieces of a long chain nearly halves the time: pipelining, not store and forward.
TEST(Tree, PiecesFillThePipeline) {
  CollectiveSpec spec = tree(CollectiveKind::reduce, 16, 64'000, 16);
  EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s}).end, us * (64 * 15));
  spec.chunk = 500;  // 64 pieces a channel
  EXPECT_EQ(play_on_star(spec, {.rate = gigabyte_per_s}).end, us * (63 + 15));
}

// Whose data a member must end up with; and in a broadcast or reduction the array crosses each edge once.
void expect_outcome(const CollectiveSpec& spec) {
  const Causality end = follow(spec);
  ASSERT_TRUE(end.finished);
  for (std::uint32_t member = 0; member < end.rests_on.size(); ++member) {
    const std::vector<bool>& has = end.rests_on[member];
    const bool has_all = std::find(has.begin(), has.end(), false) == has.end();
    const Bytes once = member == spec.root ? 0 : spec.bytes;
    if (spec.kind == CollectiveKind::broadcast) {
      EXPECT_TRUE(has[spec.root]) << member;
      EXPECT_EQ(end.received[member], once);
    } else if (spec.kind == CollectiveKind::reduce) {
      EXPECT_TRUE(has_all || member != spec.root);
      EXPECT_EQ(end.sent[member], once);
    } else {
      EXPECT_TRUE(has_all) << member;
    }
  }
}

struct Shape {
  std::uint32_t members, node, channels;
};

TEST(Tree, EveryoneEndsUpWithWhatItMustAndNobodyBeatsTheBound) {
  const Surroundings around{.rate = gigabyte_per_s, .latency = us};
  for (const Shape& shape : std::vector<Shape>{
           {1, 1, 1}, {2, 1, 1}, {3, 1, 3}, {7, 1, 2}, {8, 8, 4}, {8, 2, 4}, {12, 4, 5}, {15, 3, 2}, {24, 4, 8}}) {
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::reduce}) {
      for (const std::uint32_t root : {0U, shape.members / 2, shape.members - 1}) {
        CollectiveSpec spec = tree(kind, shape.members, 10'007, shape.node);
        spec.channels = shape.channels;
        spec.chunk = 700;
        spec.root = root;
        expect_outcome(spec);
        EXPECT_GE(static_cast<double>(play_on_star(spec, around).end.count()) + 1, bound_on_star(spec, around));
      }
    }
  }
}

TEST(Tree, SaysWhatItDoes) {
  CollectiveSpec spec = tree(CollectiveKind::all_gather, 6, 100, 4);
  spec.root = 6;
  try {
    tree_pattern(spec);
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 3U);
    EXPECT_EQ(error.problems()[0].key, "collectives.algorithm");
    EXPECT_EQ(error.problems()[1].key, "collectives.node");
    EXPECT_EQ(error.problems()[2].key, "collectives.root");
  }
}

}  // namespace
}  // namespace stepsim
