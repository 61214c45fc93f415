// Rings for channels, against what NCCL makes of the same hosts.
#include "topology/ring_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "nodes.h"

namespace stepsim::testing {
namespace {

using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Order = std::vector<std::uint32_t>;
using Orders = std::vector<Order>;

std::vector<ChipId> first_chips(std::uint32_t count) {
  std::vector<ChipId> chips(count);
  std::iota(chips.begin(), chips.end(), 0U);
  return chips;
}

/// What one ring has when all of them run in both directions at once: the least of capacity over flows.
double ring_rate(const Cluster& cluster, const std::vector<ChipId>& members, const Orders& orders) {
  std::vector<int> flows(cluster.links(), 0);
  for (const Order& order : orders) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const ChipId from = members[order[i]];
      const ChipId to = members[order[(i + 1) % order.size()]];
      const std::vector<WeightedRoute> there = cluster.routes(from, to);
      const std::vector<WeightedRoute> back = cluster.routes(to, from);
      for (const LinkId link : there[0].links) ++flows[link];
      for (const LinkId link : back[0].links) ++flows[link];
    }
  }
  double least = 1e30;
  for (LinkId link = 0; link < cluster.links(); ++link) {
    if (flows[link] > 0) least = std::min(least, static_cast<double>(cluster.link(link).capacity) / flows[link]);
  }
  return least;
}

// The busbw of an all-reduce is what its rings carry together. NVIDIA's slides (GTC 2024, S62129) measure 122 GB/s on
// eight V100; NCCL prints these rings there.
TEST(RingOrders, OfTheHybridCubeMeshAreSixOfOneNvlinkEach) {
  const Cluster cluster = build(cube_mesh());
  const Orders orders = ring_orders(cluster, first_chips(8));
  const Order doubles = {0, 3, 2, 1, 5, 6, 7, 4};
  const Order singles = {0, 1, 3, 7, 5, 4, 6, 2};
  EXPECT_EQ(orders, (Orders{doubles, doubles, singles}));
  const double rate = ring_rate(cluster, first_chips(8), orders);
  EXPECT_DOUBLE_EQ(rate, 20e9);
  EXPECT_NEAR(2 * static_cast<double>(orders.size()) * rate, 122e9, 0.02 * 122e9);
}

// Four V100 with two NVLinks between any two (NVIDIA/nccl#713: six ring channels, each of one NVLink): by hand, every
// pair is beside each other in two of the three cycles of four, so all three fit, both ways.
TEST(RingOrders, OfFourGpusWithTwoNvlinksBetweenEveryTwo) {
  std::vector<GraphCable> cables;
  const std::vector<std::string> chips = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) cables.push_back(wire(chips[i], chips[j], 40 * giga));
  }
  const Cluster cluster = build(listed(chips, {}, cables));
  const Orders orders = ring_orders(cluster, first_chips(4));
  EXPECT_THAT(orders, UnorderedElementsAre(Order{0, 1, 2, 3}, Order{0, 1, 3, 2}, Order{0, 2, 1, 3}));
  EXPECT_DOUBLE_EQ(ring_rate(cluster, first_chips(4), orders), 20e9);
}

// 20 to 24 GB/s busbw measured on pairs (NVIDIA/nccl-tests#178): what one PCIe link carries one way, not the bridge. The
// ring and the one back each cross the way up of each switch once.
TEST(RingOrders, OfPairsShareThePcieHop) {
  const Cluster cluster = build(nvlink_pairs());
  const Orders orders = ring_orders(cluster, first_chips(4));
  EXPECT_EQ(orders, (Orders{{0, 1, 2, 3}}));
  EXPECT_DOUBLE_EQ(2 * ring_rate(cluster, first_chips(4), orders), 24e9);
}

// Ranks 0 ... 3 are devices 0, 2, 1, 3: the ring keeps 0 beside 1 and 2 beside 3.
TEST(RingOrders, AreOfRanks) {
  const Cluster cluster = build(nvlink_pairs());
  EXPECT_EQ(ring_orders(cluster, {0, 2, 1, 3}), (Orders{{0, 2, 1, 3}}));
}

// Devices spread so that listed order goes back and forth between the sockets.
TEST(RingOrders, CrossBetweenSocketsOnce) {
  const Cluster cluster = build(pcie_tree({2, 2}, 2));
  EXPECT_EQ(ring_orders(cluster, {0, 2, 1, 3}), (Orders{{0, 2, 1, 3}}));
}

TEST(RingOrders, OfEqualChipsAreAsGiven) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 8U, 16U, 20U}) {
    const Cluster cluster = build(pcie_tree({static_cast<int>(devices)}));
    EXPECT_EQ(ring_orders(cluster, first_chips(devices)), (Orders{first_chips(devices)})) << devices;
  }
  ClusterSpec ring = torus(v5p(), {8, 1, 1});
  ring.wraps = {true, false, false};
  EXPECT_EQ(ring_orders(build(ring), first_chips(8)), (Orders{first_chips(8)}));
}

// Sixteen devices in two islands: each switch is left and entered once, whatever the numbering.
TEST(RingOrders, OfSixteenInTwoIslands) {
  const Cluster cluster = build(pcie_tree({8, 8}, 2));
  std::vector<ChipId> members;
  for (ChipId i = 0; i < 8; ++i) members.insert(members.end(), {i, i + 8});
  const Orders orders = ring_orders(cluster, members);
  ASSERT_THAT(orders, SizeIs(1));
  int crossings = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    crossings += members[orders[0][i]] / 8 != members[orders[0][(i + 1) % 16]] / 8;
  }
  EXPECT_EQ(crossings, 2);
}

}  // namespace
}  // namespace stepsim::testing
