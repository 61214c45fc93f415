// Hosts of kinds links, pcie_tree and nvlink from text to a collective on them.
#include <gmock/gmock.h>

#include "scenarios/collective_run.h"
#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;

std::string scenario(const std::string& cluster, int chips, const std::string& pcie = ", pcie_rate: 24 GB/s") {
  return "cluster:\n" + cluster + "  chip: {name: gpu, flops: {bf16: 312 TFLOP/s}, memory: 80 GB, memory_rate: 2 TB/s" +
         pcie +
         "}\n"
         "model: book-mlp\n"
         "parallelism: {mesh: {fsdp: " +
         std::to_string(chips) + "}, batch: 64Ki tokens}\n";
}

const std::string pairs =
    "  kind: nvlink\n"
    "  wiring: pairs\n"
    "  devices_per_switch: [2, 2]\n"
    "  nvlinks: 12\n"
    "  nvlink_rate: 20 GB/s\n"
    "  nvlink_latency: 1 us\n";

TEST(LoadGraph, NvlinkPairs) {
  const ClusterSpec cluster = load_text(scenario(pairs, 4)).cluster;
  EXPECT_EQ(cluster.nvlink, (NvlinkSpec{NvlinkWiring::pairs, 20'000'000'000, Picoseconds(1'000'000), 12}));
  EXPECT_THAT(cluster.tree.devices_per_switch, ElementsAre(2, 2));
  EXPECT_EQ(cluster.tree.sockets, 1);
  EXPECT_EQ(build(cluster).chips(), 4U);
}

TEST(LoadGraph, TheCubeMeshKnowsItsTree) {
  const ClusterSpec cluster =
      load_text(
          scenario("  kind: nvlink\n  wiring: hybrid_cube_mesh\n  nvlink_rate: 20 GB/s\n  socket_rate: 10 GB/s\n", 8))
          .cluster;
  EXPECT_THAT(cluster.tree.devices_per_switch, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(cluster.tree.sockets, 2);
}

TEST(LoadGraph, PcieTree) {
  const PcieTreeSpec tree = load_text(scenario("  kind: pcie_tree\n"
                                               "  devices_per_switch: [1, 1, 1, 1]\n"
                                               "  switches_per_upper: [2, 2]\n"
                                               "  sockets: 2\n"
                                               "  switch_rate: 48 GB/s\n"
                                               "  socket_rate: 22 GB/s\n"
                                               "  socket_latency: 2 us\n"
                                               "  peer_to_peer: off\n"
                                               "  intel_peers: on\n"
                                               "  host_memory_rate: 100 GB/s\n"
                                               "  memory_link_rate: 120 GB/s\n"
                                               "  staging_latency: 3 us\n"
                                               "  nics: [{switch: 1}, {socket: 1, rate: 25 GB/s}]\n",
                                               4))
                                .cluster.tree;
  PcieTreeSpec expected;
  expected.devices_per_switch = {1, 1, 1, 1};
  expected.switches_per_upper = {2, 2};
  expected.sockets = 2;
  expected.switch_rate = 48'000'000'000;
  expected.socket_rate = 22'000'000'000;
  expected.socket_latency = Picoseconds(2'000'000);
  expected.peer_to_peer = false;
  expected.intel_peers = true;
  expected.host_memory_rate = 100'000'000'000;
  expected.memory_link_rate = 120'000'000'000;
  expected.staging_latency = Picoseconds(3'000'000);
  expected.nics = {{1, 0, 0}, {-1, 1, 25'000'000'000}};
  EXPECT_EQ(tree, expected);
}

TEST(LoadGraph, ListedLinks) {
  const GraphSpec graph = load_text(scenario("  kind: links\n"
                                             "  vertices: {pcie_switch: [hub], chip: [a, b]}\n"
                                             "  links:\n"
                                             "    - {from: a, to: hub, rate: 24 GB/s, latency: 1 us, kind: pcie}\n"
                                             "    - {from: hub, to: b, rate: 12 GB/s, both_ways: off}\n"
                                             "    - {from: b, to: hub, rate: 6 GB/s, both_ways: off}\n"
                                             "  chips_relay: on\n",
                                             2, ""))
                              .cluster.graph;
  GraphSpec expected;
  expected.vertices = {{VertexKind::pcie_switch, "hub"}, {VertexKind::chip, "a"}, {VertexKind::chip, "b"}};
  expected.cables = {{"a", "hub", 24'000'000'000, Picoseconds(1'000'000), "pcie", true},
                     {"hub", "b", 12'000'000'000, Picoseconds(), "link", false},
                     {"b", "hub", 6'000'000'000, Picoseconds(), "link", false}};
  expected.chips_relay = true;
  EXPECT_EQ(graph, expected);
}

// Pairs under one PCIe switch each: 195 to 208 GB/s busbw within a pair, 20 to 24 GB/s as soon as a ring leaves it
// (NVIDIA/nccl-tests#178). By hand: each ring or pair of rings crosses a PCIe link of 24 GB/s with 2 (n-1)/n of the array.
TEST(LoadGraph, AllReduceOfFourOnPairsIsBoundByThePcieHop) {
  const Scenario four = load_text(scenario(pairs, 4));
  const CollectiveRun run(four, {CollectiveKind::all_reduce, {}, "ring"});
  const CollectiveResult result = run.play(Bytes{1} << 30);
  EXPECT_NEAR(result.bus_rate, 24e9, 0.02 * 24e9);
  EXPECT_THAT(result.fullest, AnyOf("pcie", "switch"));
  EXPECT_NEAR(result.fullest_share, 1, 0.02);

  const Scenario two = load_text(scenario(pairs, 4), {"parallelism.mesh={data: 2, fsdp: 2}"});
  const CollectiveResult pair = CollectiveRun(two, {CollectiveKind::all_reduce, {"fsdp"}, "ring"}).play(Bytes{1} << 30);
  EXPECT_NEAR(pair.bus_rate, 240e9, 0.02 * 240e9);
  EXPECT_EQ(pair.fullest, "nvlink");
}

TEST(LoadGraph, FoldedIsEveryChip) {
  for (const std::string& text :
       {scenario(pairs, 4),
        scenario("  kind: nvlink\n  wiring: hybrid_cube_mesh\n  nvlink_rate: 20 GB/s\n  socket_rate: 10 GB/s\n", 8),
        scenario("  kind: pcie_tree\n  devices_per_switch: [2, 2]\n  sockets: 2\n  socket_rate: 10 GB/s\n", 4)}) {
    Scenario one = load_text(text);
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
      one.fold = true;
      const CollectiveResult folded = CollectiveRun(one, {kind, {}, ""}).play(8'000'008);
      one.fold = false;
      const CollectiveResult every = CollectiveRun(one, {kind, {}, ""}).play(8'000'008);
      EXPECT_EQ(folded.time, every.time);
      EXPECT_GT(folded.time, Picoseconds());
    }
  }
}

}  // namespace
}  // namespace stepsim
