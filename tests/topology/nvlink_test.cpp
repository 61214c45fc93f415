// NVLink pairs and the hybrid cube mesh. Facts: V100 has 6 NVLinks; the matrix of a DGX-1 as `nvidia-smi topo -m` prints
// it; rates as NCCL counts.
#include <gmock/gmock.h>

#include "nodes.h"
#include "topology/symmetry.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 12 NVLinks of an A100 bridge: 240 GB/s; over PCIe generation 4: 24 GB/s.
TEST(NvlinkPairs, TheBridgeAndThePcieHop) {
  const Cluster cluster = build(nvlink_pairs());
  EXPECT_EQ(cluster.chips(), 4U);
  EXPECT_THAT(route_kinds(cluster, 0, 1), ElementsAre("nvlink"));
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 2, 3), 240e9);
  EXPECT_THAT(route_kinds(cluster, 1, 2), ElementsAre("pcie", "switch", "switch", "pcie"));
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 1, 2), 24e9);
  EXPECT_EQ(route_latency(cluster, 1, 2), microsecond * 4);
  EXPECT_DOUBLE_EQ(cluster.bisection(), 24e9) << "pair against pair: one switch's way up";
}

TEST(NvlinkPairs, StayDirectWhereTheRestIsStaged) {
  const Cluster cluster = build(staged_tree(nvlink_pairs()));
  EXPECT_THAT(route_kinds(cluster, 0, 1), ElementsAre("nvlink"));
  EXPECT_THAT(route_kinds(cluster, 0, 2), ElementsAre("pcie", "switch", "memory up", "host memory", "host memory",
                                                      "memory down", "switch", "pcie"));
  EXPECT_DOUBLE_EQ(cluster.bisection(), 20e9) << "half of the memory's 40 GB/s";
}

std::int64_t nvlink_rate(const Cluster& cluster, ChipId from, ChipId to) {
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    if (link.from == from && link.to == to) return link.capacity;
  }
  return 0;
}

// Rows of `nvidia-smi topo -m` of a DGX-1 with V100: NV1, NV2, or PCIe (0).
TEST(HybridCubeMesh, HasTheMatrixOfTheDgx1) {
  const int matrix[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                            {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                            {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  const Cluster cluster = build(cube_mesh());
  for (ChipId from = 0; from < 8; ++from) {
    int links = 0;
    for (ChipId to = 0; to < 8; ++to) {
      EXPECT_EQ(nvlink_rate(cluster, from, to), matrix[from][to] * 20 * giga) << from << " " << to;
      links += matrix[from][to];
    }
    EXPECT_EQ(links, 6) << "a V100 has six";
  }
  EXPECT_THAT(route_kinds(cluster, 0, 5), ElementsAre("pcie", "switch", "socket", "switch", "pcie"));
  EXPECT_THAT(route_kinds(cluster, 0, 4), ElementsAre("nvlink"));
}

// Between the squares 2 + 2 + 1 + 1 NVLinks, and 10 GB/s from socket to socket. Any other split cuts more cables of the
// squares: at least 4 + 4 NVLinks and what lies between.
TEST(HybridCubeMesh, Bisection) {
  EXPECT_DOUBLE_EQ(build(cube_mesh()).bisection(), 6 * 20e9 + 10e9);
}

/// Every chip sends to every other; a kind is the exclusive or of the two numbers.
Traffic all_to_all(const Cluster& cluster) {
  Traffic traffic;
  traffic.colours.assign(cluster.chips(), 0);
  for (ChipId from = 0; from < cluster.chips(); ++from) {
    for (ChipId to = 0; to < cluster.chips(); ++to) {
      if (from != to) traffic.sends.push_back({from, to, 0, from ^ to});
    }
  }
  return traffic;
}

// In a host of pairs, and under two sockets, every device is like every other: its twin is number ^ 1, and so on.
TEST(NodesFold, ClassesHoldAgainstTheDefinition) {
  for (const ClusterSpec& spec : {nvlink_pairs(), nvlink_pairs(4), staged_tree(nvlink_pairs()), cube_mesh(),
                                  pcie_tree({2, 2, 2, 2}, 2), staged_tree(pcie_tree({2, 2}, 2))}) {
    const Cluster cluster = build(spec);
    const Traffic traffic = all_to_all(cluster);
    const Symmetry symmetry(cluster, traffic);
    EXPECT_THAT(why_not_symmetric(cluster, traffic, symmetry), IsEmpty());
    if (spec.nvlink.wiring == NvlinkWiring::pairs) {
      EXPECT_EQ(symmetry.classes(), 1U);
    }
  }
}

TEST(NvlinkErrors, NameTheKey) {
  const auto keys = [](const ClusterSpec& spec) { return problem_keys([&] { build(spec); }); };
  ClusterSpec spec = nvlink_pairs();
  spec.tree.devices_per_switch = {2, 1};
  spec.nvlink.rate = 0;
  EXPECT_THAT(keys(spec), ElementsAre("cluster.devices_per_switch", "cluster.nvlink_rate"));
  spec = nvlink_pairs();
  spec.nvlink.links = 0;
  EXPECT_THAT(keys(spec), ElementsAre("cluster.nvlinks"));
  spec = cube_mesh();
  spec.tree.devices_per_switch = {2, 2};
  EXPECT_THAT(keys(spec), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(problem_text([&] { build(spec); }), HasSubstr("expected 8 devices"));
}

}  // namespace
}  // namespace stepsim::testing
