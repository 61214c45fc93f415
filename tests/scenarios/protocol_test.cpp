// protocol_test.cpp: what a protocol adds to a collective: the launch once, a latency per transfer by the kinds of links on
// its way, and more bytes on the wire. Expected differences from the laws of rings: 2 (n-1) steps one after the other.
#include "collectives/protocol.h"

#include <gtest/gtest.h>

#include "tests/scenarios/collective_grid.h"

namespace stepsim::testing {
namespace {

using enum CollectiveKind;

constexpr Picoseconds ns{1'000};

Protocol protocol(const HopCosts& hops = {}) {
  Protocol one;
  one.name = "test";
  one.hops = hops;
  return one;
}

Picoseconds ring_time(const ClusterSpec& spec, const Protocol& protocol, Bytes bytes = 8'000'000,
                      CollectiveKind kind = all_reduce, const std::string& algorithm = "ring") {
  Scenario scenario = bare_scenario(spec);
  scenario.protocols = {protocol};
  return CollectiveRun(scenario, {kind, {}, algorithm}).play(bytes).time;
}

Picoseconds one_hop(const Cluster& cluster) {
  Picoseconds sum;
  const WeightedRoute route = cluster.routes(0, 1).front();
  for (const LinkId link : route.links) sum += cluster.link(link).latency;
  return sum;
}

// 8 GPUs at 450 GB/s, a microsecond to the switch and on: 14 (a + V/8 / w).
TEST(Protocol, AddsNothingByItself) {
  const Scenario scenario = bare_scenario(nodes_of(8, {1}, 8));
  const Picoseconds bare = CollectiveRun(scenario, {all_reduce, {}, "ring"}).play(8 * 900'000).time;
  EXPECT_EQ(bare, ring_time(scenario.cluster, protocol(), 8 * 900'000));
  const Cluster cluster = build(scenario.cluster);
  EXPECT_EQ(bare, (one_hop(cluster) + ns * 2000) * 14);
}

TEST(Protocol, ChargesHopsByTheSlowestKindOfLink) {
  const HopCosts hops{.direct = ns * 7, .pcie = ns * 110, .network = ns * 1300};
  const ClusterSpec one_node = nodes_of(8, {1}, 8);
  EXPECT_EQ(ring_time(one_node, protocol(hops)), ring_time(one_node, protocol()) + ns * 14 * 7);
  const ClusterSpec host = pcie_host({4}, 1, true);
  EXPECT_EQ(ring_time(host, protocol(hops)), ring_time(host, protocol()) + ns * 6 * 110);
  const ClusterSpec network = nodes_of(1, {8}, 1, Wiring::leaf_spine);
  EXPECT_EQ(ring_time(network, protocol(hops)), ring_time(network, protocol()) + ns * 14 * 1300);
  const ClusterSpec ring = torus_of({8, 1, 1}, {true, false, false});
  EXPECT_EQ(ring_time(ring, protocol(hops), 8'000'000, all_reduce, "torus"),
            ring_time(ring, protocol(), 8'000'000, all_reduce, "torus") + ns * 14 * 7);
}

// A ring over two nodes of four has two hops between nodes. A byte per shard is nothing but latency: of 14 hops in a row
// four are between nodes, whichever the first is that leads to the longest chain.
TEST(Protocol, ChargesEachHopOfAMixedRingForItself) {
  const HopCosts hops{.direct = ns * 7, .pcie = ns * 110, .network = ns * 1300};
  const ClusterSpec nodes = nodes_of(4, {2}, 1, Wiring::leaf_spine);
  EXPECT_EQ(ring_time(nodes, protocol(hops), 8), ring_time(nodes, protocol(), 8) + ns * (4 * 1300 + 10 * 7));
}

TEST(Protocol, LaunchesOnce) {
  Protocol launched = protocol();
  launched.launch = ns * 4321;
  for (const CollectiveKind kind : {all_reduce, all_gather}) {
    for (const ClusterSpec& spec : {nodes_of(8, {1}, 8), nodes_of(4, {3}, 4)}) {
      EXPECT_EQ(ring_time(spec, launched, 1 << 20, kind), ring_time(spec, protocol(), 1 << 20, kind) + ns * 4321);
    }
  }
}

// Half of the wire: what streams takes twice as long, latencies do not.
TEST(Protocol, SharesTheWire) {
  Protocol half = protocol();
  half.share = 1;
  half.of = 2;
  const ClusterSpec spec = nodes_of(8, {1}, 8);
  const Picoseconds once = ring_time(spec, protocol(), 8 * 900'000);
  EXPECT_EQ(ring_time(spec, half, 8 * 900'000), once + ns * 14 * 2000) << "a shard takes 2 us at 450 GB/s";
  EXPECT_EQ(ring_time(spec, half, 8 * 900'000), ring_time(spec, protocol(), 16 * 900'000)) << "as twice the bytes";
}

// LL128: 120 of 128 bytes are data. Rounded up, per transfer.
TEST(Protocol, RoundsUpWhatIsOnTheWire) {
  Protocol flagged = protocol();
  flagged.share = 15;
  flagged.of = 16;
  for (const auto& [data, wire] : {std::pair<Bytes, Bytes>(0, 0), {1, 2}, {15, 16}, {16, 18}, {120, 128}, {121, 130}}) {
    TransferPattern pattern;
    pattern.roles = {{.lanes = {}, .runs = {{.count = 1, .bytes = data}}, .needs = {}}};
    EXPECT_EQ(on_the_wire(pattern, flagged).roles[0].runs[0].bytes, wire) << data;
  }
}

TEST(Protocol, ServesTheAlgorithmsItNames) {
  Protocol one = protocol();
  EXPECT_TRUE(one.serves("ring"));
  one.algorithms = {"ring", "tree"};
  EXPECT_TRUE(one.serves("tree"));
  EXPECT_FALSE(one.serves("in-network"));
}

// Protocols are methods of their own, the fastest is taken; inside a node there may be more of them.
TEST(Protocol, AutoTakesTheFastestThatServes) {
  Protocol low = protocol({.direct = ns, .pcie = ns, .network = ns});  // little latency, little of the wire
  low.name = "low";
  low.of = 4;
  Protocol high = protocol({.direct = ns * 5000, .pcie = ns * 5000, .network = ns * 5000});
  high.name = "high";
  Protocol inside = protocol();  // the best of both
  inside.name = "inside";
  inside.one_node = true;
  Scenario scenario = bare_scenario(nodes_of(4, {3}, 4));
  scenario.protocols = {low, high, inside};
  const CollectiveRun run(scenario, {all_reduce, {}, "ring"});
  EXPECT_EQ(run.methods().size(), 2U) << "three nodes";
  EXPECT_EQ(run.play(1024).method, "ring, low");
  EXPECT_EQ(run.play(1 << 30).method, "ring, high");
  EXPECT_EQ(CollectiveRun(scenario, {all_reduce, {"device"}, "ring"}).play(1024).method, "ring, inside");
  EXPECT_EQ(CollectiveRun(scenario, {all_reduce, {}, "ring", "high"}).play(1024).method, "ring, high");
  EXPECT_THROW(CollectiveRun(scenario, {all_reduce, {}, "ring", "inside"}), InputError);
}

}  // namespace
}  // namespace stepsim::testing
