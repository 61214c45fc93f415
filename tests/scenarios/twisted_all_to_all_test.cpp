// All-to-all on twisted slices: time, fold and the gain over the regular torus.
//
// Regular K x K x 2K or K x 2K x 2K: the long rings are full, each link carries N x 2K / 8 parts (all_to_all.h).
// Twisted: every link carries (sum of distances) / 6 parts (topology/twist.h; sums in tests/topology/twist_test.cpp).
//   4x4x8    128 parts against  440 / 6 =  73.3:  ideal gain 192 / 110 = 1.745, published (measured) 1.63
//   4x8x8    256 parts against 1104 / 6 = 184  :  ideal gain  32 /  23 = 1.391, published (measured) 1.31
//   large K  1/2 K^4 x 6 / (7/4 K^4) = 12/7 = 1.714 and K^4 x 6 / (35/8 K^4) = 48/35 = 1.371
// Published: Jouppi et al., "TPU v4" (ISCA 2023, arXiv 2304.01433), all-to-all of large aggregates in 4 KiB DMAs on v4.
// The measured gains are 0.934 and 0.942 of the ideal: the ideal takes links that are full to the end, every tie between
// shortest ways split evenly and nothing but the links in the way; a real run pays for starting each message and for
// ways fixed by tables, and the faster network feels both more. The paper gives no split, so we hold the ideal exactly
// and the distance to the measurement as a figure.
#include <gtest/gtest.h>

#include "torus_play.h"

namespace stepsim::testing {
namespace {

constexpr std::int64_t rate = 45'000'000'000;
constexpr std::int64_t hop = 1'000'000;  // ps
constexpr Bytes part = 360'000;          // 8 us on a link; divides by every number of equal ways

Cluster slice(std::vector<int> shape, bool twisted) {
  return torus_of(std::move(shape), {true, true, true}, rate, Picoseconds(hop), twisted);
}

/// All-to-all among the groups along some hardware axes, each taken whole; the others tell groups apart.
CollectiveSpec among(const Cluster& cluster, const std::vector<int>& along) {
  std::vector<MeshAxis> axes;
  Placement placement;
  for (int axis = 0; axis < 3; ++axis) {
    const int extent = cluster.axes()[static_cast<std::size_t>(axis)].extent;
    axes.push_back({std::string(1, static_cast<char>('a' + axis)), extent});
    placement.digits.push_back({{axis, extent, 1}});
  }
  CollectiveSpec spec{.kind = CollectiveKind::all_to_all,
                      .shape = Mesh(cluster, axes, placement).group_shape(along),
                      .algorithm = "direct"};
  spec.bytes = part * members(spec.shape) * members(spec.shape);
  return spec;
}

PlayedOnTorus play(const Cluster& cluster, const std::vector<int>& along, bool fold) {
  return play_on_torus(cluster, among(cluster, along), fold);
}

/// In seconds, of the algorithm itself.
double bound_of(const CollectiveSpec& spec) {
  AxisRates rates;
  rates.rate.assign(spec.shape.size(), static_cast<double>(rate));
  rates.latency.assign(spec.shape.size(), 1e-12 * hop);
  return collective_algorithms().at("algorithm", spec.algorithm).bound(spec, rates);
}

struct Case {
  std::vector<int> shape;
  std::int64_t distances;  // from a chip to all
  int farthest;
};

TEST(TwistedAllToAll, TakesTheSumOfTheDistancesOverSixLinks) {
  for (const Case& one :
       {Case{{4, 4, 8}, 440, 6}, Case{{4, 8, 8}, 1104, 6}, Case{{8, 4, 4}, 440, 6}, Case{{8, 8, 16}, 7136, 12}}) {
    const Cluster cluster = slice(one.shape, true);
    const PlayedOnTorus played = play(cluster, {0, 1, 2}, true);
    EXPECT_EQ(played.classes, 1U);
    EXPECT_EQ(played.carried, part * one.distances * cluster.chips());
    EXPECT_EQ(played.fullest * 6, part * one.distances) << "every link alike";
    const std::int64_t full = one.distances * 8'000'000 / 6;  // all links, to the end
    const double bound = bound_of(among(cluster, {0, 1, 2}));
    EXPECT_GE(played.end.count(), full);
    EXPECT_LE(played.end.count(), full + one.farthest * hop + one.distances);
    EXPECT_GE(to_seconds(played.end), bound * (1 - 1e-9));
    EXPECT_NEAR(bound, 1e-12 * static_cast<double>(full + hop), 1e-12);
  }
}

TEST(TwistedAllToAll, IsTheSameFolded) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{2, 2, 4}, {2, 4, 4}, {4, 4, 8}, {3, 6, 3}}) {
    const Cluster cluster = slice(shape, true);
    const PlayedOnTorus folded = play(cluster, {0, 1, 2}, true);
    const PlayedOnTorus whole = play(cluster, {0, 1, 2}, false);
    EXPECT_EQ(folded.classes, 1U);
    EXPECT_EQ(folded.ends, whole.ends);
    EXPECT_EQ(folded.carried, whole.carried);
  }
}

// A shifted axis with the one it leads along is a twisted torus of its own; alone it is an open line.
TEST(TwistedAllToAll, SmallerGroupsWork) {
  const Cluster cluster = slice({4, 4, 8}, true);
  for (const std::vector<int>& along : std::vector<std::vector<int>>{{0, 2}, {1, 2}, {0}, {2}, {0, 1}}) {
    const PlayedOnTorus folded = play(cluster, along, true);
    const PlayedOnTorus whole = play(cluster, along, false);
    EXPECT_EQ(folded.ends, whole.ends);
    EXPECT_EQ(folded.carried, whole.carried);
    EXPECT_GE(to_seconds(folded.end), bound_of(among(cluster, along)) * (1 - 1e-9));
  }
  const Cluster regular = slice({4, 4, 8}, false);
  EXPECT_EQ(play(cluster, {2}, true).end, play(regular, {2}, true).end) << "the long axis is the same ring";
  EXPECT_LT(play(cluster, {0, 2}, true).end, play(regular, {0, 2}, true).end);
}

struct Gain {
  std::vector<int> shape;
  double ideal;
  double published;
};

TEST(TwistedAllToAll, GainsOverTheRegularTorusAsPublished) {
  for (const Gain& one : {Gain{{4, 4, 8}, 192.0 / 110, 1.63}, Gain{{4, 8, 8}, 32.0 / 23, 1.31}}) {
    const PlayedOnTorus regular = play(slice(one.shape, false), {0, 1, 2}, true);
    const PlayedOnTorus twisted = play(slice(one.shape, true), {0, 1, 2}, true);
    const double in_bytes = static_cast<double>(regular.fullest) / static_cast<double>(twisted.fullest);
    EXPECT_DOUBLE_EQ(in_bytes, one.ideal);
    const double in_time = to_seconds(regular.end) / to_seconds(twisted.end);
    EXPECT_NEAR(in_time, one.ideal, 0.01 * one.ideal) << "but for the latency of the last";
    EXPECT_NEAR(one.published / in_time, 0.94, 0.015) << "what hardware reaches of it";
  }
}

// Everyone to everyone at once, each by one shortest way: an all-gather moves a whole shard over each distance, so that all
// links together carry N shards times the sum of the distances, and none is full before its mean share has passed.
TEST(TwistedOneShot, CarriesEveryShardOverItsShortestWay) {
  for (const Case& one : {Case{{2, 2, 4}, 0, 0}, Case{{4, 4, 8}, 440, 6}, Case{{4, 8, 8}, 1104, 6}}) {
    const Cluster cluster = slice(one.shape, true);
    CollectiveSpec spec = among(cluster, {0, 1, 2});
    spec.kind = CollectiveKind::all_gather;
    spec.algorithm = "one-shot";
    spec.bytes = part * cluster.chips();
    const PlayedOnTorus played = play_on_torus(cluster, spec, true);
    if (one.distances > 0) {
      EXPECT_EQ(played.carried, part * one.distances * cluster.chips());
      EXPECT_GE(played.end.count(), one.distances * 8'000'000 / 6);
    }
    EXPECT_GE(to_seconds(played.end), bound_of(spec) * (1 - 1e-9));
    if (cluster.chips() > 128) continue;
    const PlayedOnTorus whole = play_on_torus(cluster, spec, false);
    EXPECT_EQ(played.ends, whole.ends);
    EXPECT_EQ(played.carried, whole.carried);
  }
}

}  // namespace
}  // namespace stepsim::testing
