// Slices smaller than a host, a cube or a pod: nothing wraps, and what is there is counted by hand.
//
// Cloud TPU docs, v5e ("TPU types": 1x1, 2x2 and 2x4 on one host of 8 chips, 4x4 on two), v4 and v5p (2x2x1, 2x2x2,
// 2x2x4, 2x4x4: 4 chips a host, no wraparound below a cube of 4x4x4).
#include <gmock/gmock.h>

#include "chips.h"
#include "topology/torus_shape.h"

namespace stepsim::testing {
namespace {

struct Row {
  const char* name;
  ChipSpec chip;
  std::vector<int> shape;
  int hosts;
  std::size_t links;  // both directions of A x B (x C) cables
  int diameter;
  double cut;  // links one way
};

std::vector<Row> rows() {
  return {{"v5e-1", v5e(), {1, 1}, 1, 0, 0, 0},         {"v5e-4", v5e(), {2, 2}, 1, 2 * 4, 2, 2},
          {"v5e-8", v5e(), {2, 4}, 1, 2 * 10, 4, 2},    {"v5e-16", v5e(), {4, 4}, 2, 2 * 24, 6, 4},
          {"v6e-1", v6e(), {1, 1}, 1, 0, 0, 0},         {"v6e-8", v6e(), {2, 4}, 1, 2 * 10, 4, 2},
          {"v4-8", v4(), {2, 2, 1}, 1, 2 * 4, 2, 2},    {"v4-16", v4(), {2, 2, 2}, 2, 2 * 12, 3, 4},
          {"v4-32", v4(), {2, 2, 4}, 4, 2 * 28, 5, 4},  {"v4-64", v4(), {2, 4, 4}, 8, 2 * 64, 7, 8},
          {"v5p-8", v5p(), {2, 2, 1}, 1, 2 * 4, 2, 2},  {"v5p-16", v5p(), {2, 2, 2}, 2, 2 * 12, 3, 4},
          {"v5p-64", v5p(), {2, 4, 4}, 8, 2 * 64, 7, 8}};
}

TEST(OddSlices, AreOpenMeshes) {
  for (const Row& row : rows()) {
    ASSERT_EQ(slice_shape(row.name, row.chip), row.shape) << row.name;
    const Cluster cluster = build(torus(row.chip, row.shape));
    EXPECT_THAT(wraps_of(cluster), ::testing::Each(false)) << row.name;
    EXPECT_EQ(cluster.hosts(), row.hosts) << row.name;
    EXPECT_EQ(cluster.links(), row.links) << row.name;
    EXPECT_EQ(cluster.diameter(), row.diameter) << row.name;
    EXPECT_DOUBLE_EQ(cluster.bisection(), row.cut * static_cast<double>(row.chip.link_rate)) << row.name;
  }
}

// Corner to corner there is one way along each line and no other way round.
TEST(OddSlices, RoutesNeverLeaveTheMesh) {
  for (const Row& row : rows()) {
    const Cluster cluster = build(torus(row.chip, row.shape));
    if (cluster.chips() == 1) continue;
    const ChipId last = cluster.chips() - 1;
    for (const WeightedRoute& route : cluster.routes(0, last)) {
      EXPECT_EQ(static_cast<int>(route.links.size()), row.diameter) << row.name;
      EXPECT_TRUE(connects(cluster, route.links, 0, last)) << row.name;
    }
    EXPECT_THROW(static_cast<void>(cluster.along(0, 0, -1)), std::out_of_range) << row.name;
  }
}

}  // namespace
}  // namespace stepsim::testing
