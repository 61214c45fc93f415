// all_to_all_test.cpp: all-to-all against its closed forms on rings, tori, lines and slices, folded and with every chip
// played.
//
// On closed axes all links of an axis carry the same flows, so the busiest axis is full until the end and the time is its
// load / rate, plus the latency of the longest way that is not split at an antipode (halves end earlier). Loads: see
// collectives/all_to_all.h; on one ring V / 8w = V / 4W ("How To Scale Your Model", "Sharded matrices").
#include <gtest/gtest.h>

#include <numeric>

#include "torus_play.h"

namespace stepsim::testing {
namespace {

constexpr std::int64_t rate = 90'000'000'000;
constexpr std::int64_t latency = 1'000'000;  // ps

Cluster torus(std::vector<int> shape, std::vector<bool> wraps) {
  return torus_of(std::move(shape), std::move(wraps), rate, Picoseconds(latency));
}

CollectiveSpec all_to_all(const Cluster& cluster, Bytes chunk) {
  CollectiveSpec spec{.kind = CollectiveKind::all_to_all, .shape = {}, .algorithm = "direct"};
  for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
    if (cluster.axes()[axis].extent == 1) continue;
    spec.shape.push_back({static_cast<int>(axis), cluster.axes()[axis].extent, 1, cluster.axes()[axis].wraps});
  }
  spec.bytes = chunk * cluster.chips() * cluster.chips();
  return spec;
}

struct Case {
  std::string name;
  std::vector<int> shape;
  std::vector<bool> wraps;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

class AllToAll : public ::testing::TestWithParam<Case> {
 protected:
  Cluster cluster = torus(GetParam().shape, GetParam().wraps);
  static constexpr Bytes chunk = 360'000;  // 4 us on a link
};

/// Steps from one place of an axis to all others, added up over both directions.
double steps_of(const HardwareAxis& axis) {
  double sum = 0;
  for (int a = 0; a < axis.extent; ++a) {
    for (int b = 0; b < axis.extent; ++b) {
      const int d = std::abs(a - b);
      sum += axis.wraps ? std::min(d, axis.extent - d) : d;
    }
  }
  return sum;  // over all pairs
}

TEST_P(AllToAll, CarriesEveryPartOverItsShortestWay) {
  double expected = 0;
  const double chips = cluster.chips();
  for (const HardwareAxis& axis : cluster.axes()) {
    const double others = chips / axis.extent;
    expected += steps_of(axis) * others * others * static_cast<double>(chunk);
  }
  EXPECT_EQ(static_cast<double>(play_on_torus(cluster, all_to_all(cluster, chunk), true).carried), expected);
}

TEST_P(AllToAll, IsTheSameFolded) {
  const CollectiveSpec spec = all_to_all(cluster, chunk);
  const PlayedOnTorus folded = play_on_torus(cluster, spec, true);
  const PlayedOnTorus whole = play_on_torus(cluster, spec, false);
  EXPECT_EQ(folded.ends, whole.ends);
  EXPECT_EQ(folded.carried, whole.carried);
  EXPECT_EQ(folded.fullest, whole.fullest);
  const bool closed = std::count(GetParam().wraps.begin(), GetParam().wraps.end(), false) == 0;
  if (closed) {
    EXPECT_EQ(folded.classes, 1U);
  }
}

TEST_P(AllToAll, TakesWhatItsBusiestAxisTakes) {
  const CollectiveSpec spec = all_to_all(cluster, chunk);
  const PlayedOnTorus played = play_on_torus(cluster, spec, true);
  AxisRates rates;
  rates.rate.assign(spec.shape.size(), static_cast<double>(rate));
  rates.latency.assign(spec.shape.size(), 1e-12 * latency);
  const double bound = collective_algorithms().at("algorithm", "direct").bound(spec, rates);
  EXPECT_GE(to_seconds(played.end), bound * (1 - 1e-9));
  const double full = static_cast<double>(played.fullest) / static_cast<double>(rate);
  EXPECT_GE(to_seconds(played.end), full);
}

INSTANTIATE_TEST_SUITE_P(
    Tori, AllToAll,
    ::testing::Values(Case{"ring_of_4", {4}, {true}}, Case{"ring_of_7", {7}, {true}}, Case{"ring_of_8", {8}, {true}},
                      Case{"pair", {2}, {false}}, Case{"pair_of_cables", {2}, {true}}, Case{"line_of_5", {5}, {false}},
                      Case{"square_4x4", {4, 4}, {true, true}}, Case{"closed_3x5", {3, 5}, {true, true}},
                      Case{"closed_open_4x3", {4, 3}, {true, false}}, Case{"cube_4x4x4", {4, 4, 4}, {true, true, true}},
                      Case{"box_2x4x6", {2, 4, 6}, {true, true, true}}),
    [](const auto& info) { return info.param.name; });

// V / 8w, and the latency of n/2 - 1 hops (antipodes end at half time); odd rings (n^2 - 1)/8 parts and (n-1)/2 hops.
TEST(AllToAllOnARing, TakesAQuarterOfAnAllGather) {
  constexpr Bytes chunk = 720'000;  // 8 us on a link
  for (const int n : {3, 4, 5, 8, 12, 16, 31, 64}) {
    const Cluster cluster = torus({n}, {true});
    const PlayedOnTorus played = play_on_torus(cluster, all_to_all(cluster, chunk), true);
    const std::int64_t parts_x8 = n % 2 == 0 ? n * n : n * n - 1;  // loads in eighths of a part
    const std::int64_t hops = n % 2 == 0 ? n / 2 - 1 : (n - 1) / 2;
    const std::int64_t expected = parts_x8 * 1'000'000 + hops * latency;
    EXPECT_NEAR(static_cast<double>(played.end.count()), static_cast<double>(expected), n) << n;
    // Shares by more than 12 are rounded down to 1/27720 B/s: well below a picosecond per member.
  }
}

// Equal axes are loaded alike and full to the end: V n / (8 N w).
TEST(AllToAllOnACube, TakesTheLoadOfAnAxis) {
  constexpr Bytes chunk = 720'000;
  for (const int n : {3, 4, 5, 8}) {
    const Cluster cluster = torus({n, n, n}, {true, true, true});
    const PlayedOnTorus played = play_on_torus(cluster, all_to_all(cluster, chunk), true);
    const std::int64_t parts_x8 = (n % 2 == 0 ? n * n : n * n - 1) * n * n;
    const std::int64_t least = parts_x8 * 1'000'000;
    const std::int64_t hops = 3 * (n / 2);
    EXPECT_GE(played.end.count(), least) << n;
    EXPECT_LE(played.end.count(), least + hops * latency + n * n * n) << n;
    EXPECT_EQ(played.classes, 1U);
  }
}

// A pod's worth: 4096 chips, 4095 others each, folded to one class.
TEST(AllToAllOnAPod, FoldsToOneClass) {
  const Cluster cluster = torus({16, 16, 16}, {true, true, true});
  CollectiveSpec spec = all_to_all(cluster, 7200);
  const Communication all =
      lone_pattern(Groups(cluster.axes(), spec.shape), collective_algorithms().at("algorithm", "direct").pattern(spec));
  EXPECT_EQ(Symmetry(cluster, traffic(cluster, all)).classes(), 1U);
}

}  // namespace
}  // namespace stepsim::testing
