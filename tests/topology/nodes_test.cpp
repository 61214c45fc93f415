// nodes_test.cpp: links, ways and figures of nodes of GPUs, against "How To Scale Your Model", chapter 12 (the H100
// SuperPOD: 4 scalable units of 32 nodes of 8 GPUs), and ways by hand.
#include <gmock/gmock.h>

#include "chips.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> kinds(const Cluster& cluster, ChipId from, ChipId to) {
  std::vector<std::string> kinds;
  const std::vector<LinkId> way = cluster.routes(from, to).front().links;
  for (const LinkId link : way) kinds.push_back(cluster.link(link).kind);
  return kinds;
}

double all_of(const Cluster& cluster, const std::string& kind) {
  double sum = 0;
  for (LinkId id = 0; id < cluster.links(); ++id) {
    if (cluster.link(id).kind == kind) sum += static_cast<double>(cluster.link(id).capacity);
  }
  return sum;
}

ClusterSpec superpod() {
  return nodes_of(8, {4, 32}, 8);
}

// Book, quiz 2, questions 1 and 2: 8 x 450 GB/s into the switch; the bisection of both directions is the same figure.
TEST(Nodes, OneNodeHasTheBooksBandwidth) {
  const Cluster node = build(nodes_of(8, {1}, 8));
  EXPECT_EQ(all_of(node, "nvlink up"), 3.6e12);
  EXPECT_EQ(2 * node.bisection(), 3.6e12);
  EXPECT_EQ(node.links(), 16U) << "a node alone has no network";
  EXPECT_THAT(kinds(node, 0, 5), ElementsAre("nvlink up", "nvlink down"));
}

// Book, quiz 3, question 1: a unit goes up with 8 leaves x 16 spines x 2 cables x 400 Gb/s; all four with 51.2 TB/s.
TEST(Nodes, UnitsHaveTheBooksUplinks) {
  const Cluster pod = build(superpod());
  EXPECT_EQ(all_of(pod, "leaf up"), 4 * 12.8e12);
  EXPECT_EQ(all_of(pod, "leaf down"), 51.2e12);
  EXPECT_EQ(pod.chips(), 1024U);
  EXPECT_EQ(pod.bisection(), 2 * 12.8e12) << "two units against two";
}

// Book: an NVL72 node leaves by 18 trays x 4 NICs x 400 Gb/s.
TEST(Nodes, NVL72HasTheBooksEgress) {
  ClusterSpec spec = nodes_of(72, {4}, 72, Wiring::leaf_spine);
  const Cluster racks = build(spec);
  EXPECT_EQ(all_of(racks, "nic up") / 4, 3.6e12);
}

TEST(Nodes, AWayClimbsOnlyAsHighAsItMust) {
  const Cluster pod = build(superpod());
  const auto gpu = [&](int unit, int node, int device) { return pod.chip_at(std::vector<int>{unit, node, device}); };
  EXPECT_THAT(kinds(pod, gpu(1, 3, 2), gpu(1, 3, 7)), ElementsAre("nvlink up", "nvlink down"));
  EXPECT_THAT(kinds(pod, gpu(1, 3, 2), gpu(1, 9, 2)), ElementsAre("pcie up", "nic up", "nic down", "pcie down"));
  EXPECT_THAT(kinds(pod, gpu(1, 3, 2), gpu(2, 3, 2)),
              ElementsAre("pcie up", "nic up", "leaf up", "leaf down", "nic down", "pcie down"));
  EXPECT_THAT(kinds(pod, gpu(1, 3, 2), gpu(1, 9, 4)),
              ElementsAre("pcie up", "nic up", "leaf up", "leaf down", "nic down", "pcie down"))
      << "another rail of the same unit is reached over the spine";
}

TEST(Nodes, RelayOverNVLinkToTheOtherRail) {
  const Cluster pod = build(relaying(superpod()));
  const std::vector<LinkId> way = pod.routes(2, 8 + 5).front().links;
  EXPECT_THAT(kinds(pod, 2, 8 + 5),
              ElementsAre("nvlink up", "nvlink down", "pcie up", "nic up", "nic down", "pcie down"));
  EXPECT_EQ(pod.link(way[1]).to, 5U) << "the GPU of the own node that is on the receiver's rail";
  EXPECT_EQ(pod.link(way[2]).from, 5U);
}

TEST(Nodes, RailsAloneNeverMeet) {
  const Cluster rails = build(nodes_of(4, {2, 4}, 4, Wiring::rail_only));
  EXPECT_THAT(kinds(rails, 0, 4 * 4 + 1), ElementsAre("nvlink up", "nvlink down", "pcie up", "nic up", "leaf up",
                                                      "leaf down", "nic down", "pcie down"));
  EXPECT_EQ(all_of(rails, "leaf up"), 2 * 4 * 4 * 50e9) << "each of 2 x 4 leaves goes up with 4 NICs' worth";
}

TEST(Nodes, OversubscriptionDividesWhatGoesUp) {
  const Cluster full = build(nodes_of(8, {4, 8}, 8));
  const Cluster half = build(oversubscribed(nodes_of(8, {4, 8}, 8), 2));
  EXPECT_EQ(all_of(half, "leaf up") * 2, all_of(full, "leaf up"));
  EXPECT_EQ(half.bisection() * 2, full.bisection());
  EXPECT_EQ(all_of(half, "nic up"), all_of(full, "nic up"));
}

TEST(Nodes, EveryPairIsConnectedByWholeWays) {
  for (const NamedNodes& one : networks_of_nodes()) {
    SCOPED_TRACE(one.name);
    const Cluster cluster = build(one.spec);
    for (ChipId from = 0; from < cluster.chips(); ++from) {
      for (ChipId to = 0; to < cluster.chips(); ++to) {
        if (from == to) continue;
        const std::vector<LinkId> way = cluster.routes(from, to).front().links;
        EXPECT_TRUE(connects(cluster, way, from, to)) << from << " to " << to;
        EXPECT_LE(static_cast<int>(way.size()), cluster.diameter());
      }
    }
  }
}

TEST(Nodes, EveryLinkIsTheOnlyOneOfItsPort) {
  for (const NamedNodes& one : networks_of_nodes()) {
    SCOPED_TRACE(one.name);
    const Cluster cluster = build(one.spec);
    std::vector<LinkOwner> seen;
    for (LinkId link = 0; link < cluster.links(); ++link) {
      const LinkOwner owner = cluster.owner(link);
      EXPECT_LT(owner.place, cluster.places());
      EXPECT_TRUE(cluster.port_name(owner.port).starts_with(cluster.link(link).kind));
      for (const LinkOwner& other : seen) EXPECT_FALSE(other == owner) << link;
      seen.push_back(owner);
    }
  }
}

// A hash that spreads flows is nearly even: of 4096 pairs over 4 uplinks each should get 1024, give or take 4 sigma (111).
TEST(Nodes, HashedFlowsSpreadOverTheUplinks) {
  const Cluster cluster = build(hashed(nodes_of(1, {2, 64}, 1, Wiring::leaf_spine), 4, 11));
  const Cluster other = build(hashed(nodes_of(1, {2, 64}, 1, Wiring::leaf_spine), 4, 12));
  std::map<LinkId, int> flows;
  int moved = 0;
  for (ChipId from = 0; from < 64; ++from) {
    for (ChipId to = 64; to < 128; ++to) {
      const LinkId up = cluster.routes(from, to).front().links.at(2);
      EXPECT_EQ(cluster.link(up).kind, "leaf up");
      ++flows[up];
      if (other.routes(from, to).front().links.at(2) != up) ++moved;
    }
  }
  EXPECT_EQ(flows.size(), 4U);
  for (const auto& [link, count] : flows) EXPECT_NEAR(count, 1024, 111);
  EXPECT_NEAR(moved, 3072, 111) << "another seed sends three of four another way";
}

TEST(Nodes, ReportWhatIsWrong) {
  ClusterSpec spec = nodes_of(8, {4}, 3);
  spec.nodes.nic_rate = 0;
  spec.nodes.switch_rate = 0;
  spec.nodes.oversubscription = {{2, 1}};
  EXPECT_THAT(problem_keys([&] { build(spec); }),
              ElementsAre("cluster.switch_rate", "cluster.nics", "cluster.nic_rate", "cluster.oversubscription"));
  EXPECT_THAT(problem_keys([] { build(nodes_of(8, {0}, 8)); }), ElementsAre("cluster.nodes"));
  EXPECT_THAT(problem_keys([] { build(nodes_of(8, {64, 8192}, 8)); }), ElementsAre("cluster.nodes"));
  EXPECT_THAT(problem_keys([] { build(nodes_of(8, {4, 8192}, 8)); }), ElementsAre("cluster.nodes")) << "410 TB/s";
  EXPECT_THAT(problem_keys([] {
                build(oversubscribed(nodes_of(8, {2, 2}, 8), 1, 2));
              }),
              ElementsAre("cluster.oversubscription"));
}

}  // namespace
}  // namespace stepsim::testing
