// PCIe trees: levels of switches, sockets, staging, NICs. Expected paths by hand.
#include <gmock/gmock.h>

#include "nodes.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PcieTree, PeersTurnRoundAtTheLowestVertexAboveBoth) {
  ClusterSpec spec = pcie_tree({2, 2, 2, 2}, 2);
  const Cluster cluster = build(spec);
  EXPECT_THAT(route_kinds(cluster, 0, 1), ElementsAre("pcie", "pcie"));
  EXPECT_THAT(route_kinds(cluster, 0, 2), ElementsAre("pcie", "switch", "switch", "pcie"));
  EXPECT_THAT(route_kinds(cluster, 0, 4), ElementsAre("pcie", "switch", "socket", "switch", "pcie"));
  EXPECT_EQ(route_latency(cluster, 0, 4), microsecond * 6);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 4), 10e9) << "the link between the sockets";
  EXPECT_DOUBLE_EQ(cluster.bisection(), 10e9);
  spec.tree.switches_per_upper = {2, 2};
  const Cluster nested = build(spec);
  EXPECT_THAT(route_kinds(nested, 0, 2), ElementsAre("pcie", "switch", "switch", "pcie"));
  EXPECT_EQ(nested.vertex(nested.link(nested.routes(0, 2)[0].links[1]).to).name, "upper switch 0");
  EXPECT_THAT(route_kinds(nested, 0, 4), ElementsAre("pcie", "switch", "switch", "socket", "switch", "switch", "pcie"));
}

// As many transfers as devices from socket to socket share the one link between them: 4 x 2.5 GB/s.
TEST(PcieTree, TheLinkBetweenSocketsIsShared) {
  const Cluster cluster = build(pcie_tree({2, 2, 2, 2}, 2));
  const LinkId between = cluster.routes(0, 4)[0].links[2];
  for (ChipId from = 0; from < 4; ++from) EXPECT_EQ(cluster.routes(from, from + 4)[0].links[2], between);
  EXPECT_NE(cluster.routes(4, 0)[0].links[2], between) << "the other way has its own";
}

TEST(PcieTree, ASwitchMayHaveAWiderWayUp) {
  ClusterSpec spec = pcie_tree({2, 2});
  EXPECT_DOUBLE_EQ(build(spec).bisection(), 12e9);
  spec.tree.switch_rate = 24 * giga;
  EXPECT_DOUBLE_EQ(build(spec).bisection(), 24e9);
}

// NCCL counts 6/5 of the bytes: 12 GB/s carry 10 GB/s through a socket, below it nothing changes.
TEST(PcieTree, IntelPeersCostASixthOfTheRateAtTheSocket) {
  ClusterSpec spec = pcie_tree({2, 2});
  spec.tree.intel_peers = true;
  const Cluster cluster = build(spec);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 1), 12e9);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 2), 10e9);
}

// Written to the sender's memory and read from there: of two memories just as near, that of the lower links.
TEST(PcieTree, StagedTransfersGoThroughTheNearestMemory) {
  const Cluster cluster = build(staged_tree(pcie_tree({2, 2}, 2)));
  EXPECT_THAT(route_kinds(cluster, 2, 3), ElementsAre("pcie", "switch", "memory up", "host memory", "host memory",
                                                      "memory down", "switch", "pcie"));
  EXPECT_EQ(route_latency(cluster, 2, 3), microsecond * (4 + 7)) << "four PCIe hops and the staging once";
  EXPECT_EQ(cluster.vertex(cluster.link(cluster.routes(2, 3)[0].links[2]).to).name, "host memory 1");
  EXPECT_THAT(route_kinds(cluster, 0, 2), ElementsAre("pcie", "switch", "socket", "memory up", "host memory",
                                                      "host memory", "memory down", "switch", "pcie"));
}

// By hand: two memories of 40 GB/s carry 40 GB/s of staged transfers, but 10 GB/s cross between the sockets; on one
// socket with a memory of 8 GB/s 4 GB/s is left.
TEST(PcieTree, StagedBisection) {
  EXPECT_DOUBLE_EQ(build(staged_tree(pcie_tree({2, 2}, 2))).bisection(), 10e9);
  ClusterSpec slow = staged_tree(pcie_tree({2, 2}));
  slow.tree.host_memory_rate = 8 * giga;
  EXPECT_DOUBLE_EQ(build(slow).bisection(), 4e9);
}

TEST(PcieTree, NicsStandUnderASwitchOrAtASocket) {
  ClusterSpec spec = pcie_tree({2, 2}, 2);
  spec.tree.nics = {{1, 0, 0}, {-1, 1, 25 * giga}};
  const Cluster cluster = build(spec);
  std::vector<std::string> cables;
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    if (cluster.vertex(link.from).kind != VertexKind::nic) continue;
    cables.push_back(cluster.vertex(link.from).name + " - " + cluster.vertex(link.to).name + " " +
                     std::to_string(link.capacity / giga));
  }
  EXPECT_THAT(cables, ElementsAre("nic 0 - switch 1 12", "nic 1 - socket 1 25"));
}

TEST(PcieTree, PortsOfADevice) {
  ClusterSpec spec = pcie_tree({2, 2});
  spec.link_faults = {{{2}, "switch 1", true, 1, 2, false}};
  const Cluster cluster = build(spec);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 2, 3), 6e9);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 2), 6e9);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 3), 12e9);
}

TEST(PcieTree, BadSpecsNameTheKey) {
  const auto keys = [](const ClusterSpec& spec) { return problem_keys([&] { build(spec); }); };
  EXPECT_THAT(keys(pcie_tree({})), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(keys(pcie_tree({2, 0})), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(keys(pcie_tree({1000, 1000})), ElementsAre("cluster.devices_per_switch"));
  EXPECT_THAT(keys(pcie_tree({2, 2}, 3)), ElementsAre("cluster.sockets"));
  EXPECT_THAT(keys(pcie_tree({4}, 2)), ElementsAre("cluster.sockets"));
  ClusterSpec spec = pcie_tree({2, 2}, 2);
  spec.tree.switches_per_upper = {1};
  EXPECT_THAT(keys(spec), ElementsAre("cluster.switches_per_upper", "cluster.sockets"));
  spec = pcie_tree({2, 2}, 2);
  spec.chip.pcie_rate = 0;
  spec.tree.socket_rate = 0;
  spec.tree.peer_to_peer = false;
  spec.tree.nics = {{2, 0, 0}, {-1, 2, 0}};
  EXPECT_THAT(keys(spec), ElementsAre("cluster.chip", "cluster.socket_rate", "cluster.host_memory_rate",
                                      "cluster.memory_link_rate", "cluster.nics.0.switch", "cluster.nics.1.socket"));
}

}  // namespace
}  // namespace stepsim::testing
