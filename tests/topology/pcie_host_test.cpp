// A PCIe host: peer to peer, over root complexes, and staged through host memory. Expected paths by hand.
#include <gmock/gmock.h>

#include "chips.h"
#include "topology/link_graph.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ClusterSpec host(int devices, std::vector<int> per_switch = {}, int root_complexes = 1) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.name = "gpu";
  spec.chip.pcie_rate = 32'000'000'000;
  spec.chip.pcie_latency = microsecond;
  spec.devices = devices;
  spec.devices_per_switch = std::move(per_switch);
  spec.root_complexes = root_complexes;
  spec.host_memory_rate = 40'000'000'000;
  spec.root_complex_rate = 50'000'000'000;
  spec.staging_latency = microsecond * 7;
  return spec;
}

ClusterSpec staged(ClusterSpec spec) {
  spec.peer_to_peer = false;
  return spec;
}

std::vector<std::string> route_kinds(const Cluster& cluster, ChipId from, ChipId to) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  EXPECT_THAT(routes, SizeIs(1));
  EXPECT_TRUE(connects(cluster, routes[0].links, from, to));
  std::vector<std::string> kinds;
  for (const LinkId link : routes[0].links) kinds.push_back(cluster.link(link).kind);
  return kinds;
}

Picoseconds latency(const Cluster& cluster, ChipId from, ChipId to) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  Picoseconds sum;
  for (const LinkId link : routes[0].links) sum += cluster.link(link).latency;
  return sum;
}

TEST(PcieHost, PeersUnderOneSwitchMeetThere) {
  const Cluster cluster = build(host(4, {2, 2}));
  EXPECT_THAT(route_kinds(cluster, 0, 1), ElementsAre("pcie up", "pcie down"));
  EXPECT_EQ(latency(cluster, 0, 1), microsecond * 2);
}

TEST(PcieHost, PeersUnderOneRootComplexMeetThere) {
  const Cluster cluster = build(host(4, {2, 2}));
  EXPECT_THAT(route_kinds(cluster, 1, 2), ElementsAre("pcie up", "switch up", "switch down", "pcie down"));
}

TEST(PcieHost, PeersUnderTwoRootComplexesCrossBoth) {
  const Cluster cluster = build(host(4, {2, 2}, 2));
  EXPECT_THAT(route_kinds(cluster, 0, 3),
              ElementsAre("pcie up", "switch up", "root complex up", "root complex down", "switch down", "pcie down"));
  EXPECT_EQ(latency(cluster, 0, 3), microsecond * 4) << "not staged";
}

// Written to memory and read from it: each crosses the memory's capacity.
TEST(PcieHost, StagedTransfersCrossMemoryTwice) {
  for (const std::vector<int>& per_switch : {std::vector<int>{}, std::vector<int>{2, 2}}) {
    const Cluster cluster = build(staged(host(4, per_switch)));
    EXPECT_THAT(route_kinds(cluster, 0, 1),
                ElementsAre("pcie up", "switch up", "root complex up", "host memory", "host memory",
                            "root complex down", "switch down", "pcie down"));
    EXPECT_EQ(latency(cluster, 0, 1), microsecond * (4 + 7)) << "four PCIe hops and the staging once";
  }
}

// A transfer alone is bound by its slowest link; memory counts twice, so 40 GB/s of memory carries 20 GB/s.
TEST(PcieHost, MemoryBoundsAStagedTransferAlone) {
  const Cluster cluster = build(staged(host(2)));
  Network network = cluster.network();
  const RouteId route = network.add_route(cluster.routes(0, 1)[0].links);
  EXPECT_EQ(network.alone(route, 20'000'000), microsecond * 1000);
}

TEST(PcieHost, DeviceAxisIsAClosedRing) {
  const Cluster cluster = build(host(4, {2, 2}));
  ASSERT_THAT(cluster.axes(), SizeIs(1));
  EXPECT_EQ(cluster.axes()[0].name, "device");
  EXPECT_EQ(cluster.axes()[0].extent, 4);
  EXPECT_TRUE(cluster.axes()[0].wraps);
  EXPECT_EQ(cluster.along(3, 0, 1), cluster.routes(3, 0)[0].links);
  EXPECT_EQ(cluster.along(0, 0, -1), cluster.routes(0, 3)[0].links);
  EXPECT_EQ(cluster.along(0, 0, 2), cluster.routes(0, 2)[0].links);
  EXPECT_EQ(cluster.hosts(), 1);
  EXPECT_FALSE(build(host(1)).axes()[0].wraps);
}

TEST(PcieHost, SwitchesSpreadEvenlyOverRootComplexes) {
  const Cluster cluster = build(host(8, {2, 2, 2, 2}, 2));
  EXPECT_THAT(route_kinds(cluster, 0, 3), SizeIs(4));
  EXPECT_THAT(route_kinds(cluster, 0, 4), SizeIs(6));
  EXPECT_EQ(cluster.diameter(), 6);
}

// By hand. Two switches on one root complex: one of the two uplinks; under one switch: half of the devices' links;
// staged: half of the memory rate, or what a half's uplink carries.
TEST(PcieHost, Bisection) {
  EXPECT_DOUBLE_EQ(build(host(4, {2, 2})).bisection(), 32e9);
  EXPECT_DOUBLE_EQ(build(host(4)).bisection(), 64e9);
  EXPECT_DOUBLE_EQ(build(host(8, {2, 2, 2, 2}, 2)).bisection(), 50e9);
  EXPECT_DOUBLE_EQ(build(staged(host(4, {2, 2}))).bisection(), 20e9);
  ClusterSpec fast_memory = staged(host(4, {2, 2}));
  fast_memory.host_memory_rate = 1'000'000'000'000;
  EXPECT_DOUBLE_EQ(build(fast_memory).bisection(), 32e9);
  EXPECT_DOUBLE_EQ(build(host(1)).bisection(), 0);
}

// Without staging and under one root complex nothing reaches memory: its rates need not be given.
TEST(PcieHost, MemoryRatesAreAskedForOnlyWhereUsed) {
  ClusterSpec spec = host(4, {2, 2});
  spec.host_memory_rate = 0;
  spec.root_complex_rate = 0;
  EXPECT_THAT(route_kinds(build(spec), 0, 2), SizeIs(4));
  EXPECT_THAT(problem_keys([&] { build(staged(spec)); }),
              ElementsAre("cluster.root_complex_rate", "cluster.host_memory_rate"));
  spec.root_complexes = 2;
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.root_complex_rate"));
}

TEST(PcieHost, BadSpecsNameTheKey) {
  const auto keys = [](const ClusterSpec& spec) { return problem_keys([&] { build(spec); }); };
  EXPECT_THAT(keys(host(0)), ElementsAre("cluster.devices"));
  EXPECT_THAT(keys(host(-4)), ElementsAre("cluster.devices"));
  EXPECT_THAT(keys(host(2'000'000'000)), ElementsAre("cluster.devices"));
  EXPECT_THAT(keys(host(4, {2, 3})), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(keys(host(4, {4, 0})), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(keys(host(4, {2, 2}, 0)), ElementsAre("cluster.root_complexes"));
  EXPECT_THAT(keys(host(4, {2, 2}, 3)), ElementsAre("cluster.root_complexes"));
  ClusterSpec spec = host(4);
  spec.chip.pcie_rate = 0;
  EXPECT_THAT(keys(spec), ElementsAre("cluster.chip"));
  EXPECT_THAT(problem_text([] { build(host(4, {2, 2}, 3)); }), HasSubstr("1 to 2"));
}

}  // namespace
}  // namespace stepsim::testing
