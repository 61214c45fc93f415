// Which axes straddle slow links, with the rates of their steps by hand: capacity of the narrowest link / flows on it.
#include "scenarios/straddle.h"

#include <gmock/gmock.h>

#include "scenarios/placement.h"
#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string scenario(const std::string& cluster, const std::string& mesh) {
  return "cluster:\n" + cluster + "model: book-mlp\nparallelism: {" + mesh + ", batch: 64Ki tokens}\n";
}

std::vector<Straddle> found(const std::string& cluster, const std::string& mesh) {
  const Scenario one = load_text(scenario(cluster, mesh));
  const Cluster built = build(one.cluster);
  return straddles(one, built, mesh_of(one, built));
}

const std::string chip =
    "  chip: {name: gpu, flops: {bf16: 312 TFLOP/s}, memory: 80 GB, memory_rate: 2 TB/s, pcie_rate: 24 GB/s}\n";

std::string nodes(const std::string& counts, const std::string& more = "") {
  return "  kind: nodes\n  gpus: 8\n  switch_rate: 450 GB/s\n  nics: 8\n  nic_rate: 12 GB/s\n  nodes: " + counts +
         "\n" + more + chip;
}

// A GPU's NVLink carries one step each way: 450 GB/s. Between nodes GPU i of one sends to GPU i of the other both ways
// round, 2 flows on its NIC's link up: 12 / 2 = 6 GB/s. 8 to a node: of 15 steps the one from rank 7 to 8 leaves it.
TEST(Straddle, TensorOverTwoNodesOfEight) {
  const std::vector<Straddle> all = found(nodes("[2]"), "mesh: {tensor: 16}");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].axis, "tensor");
  EXPECT_EQ(all[0].extent, 16);
  EXPECT_EQ(all[0].steps, 15U);
  EXPECT_EQ(all[0].slow_steps, 1U);
  EXPECT_THAT(all[0].between, ElementsAre(Pair(7, 8)));
  EXPECT_THAT(all[0].slow_kinds, ElementsAre("nic"));
  EXPECT_THAT(all[0].fast_kinds, ElementsAre("nvlink"));
  EXPECT_EQ(all[0].slow, 6e9);
  EXPECT_EQ(all[0].fast, 225e9);  // each NVLink up carries a step each way
  EXPECT_EQ(all[0].fits, 8);
}

TEST(Straddle, NotWhereEachAxisStaysOnItsLinks) {
  EXPECT_THAT(found(nodes("[2]"), "mesh: {data: 2, tensor: 8}, placement: {data: node, tensor: device}"), IsEmpty());
}

// Leaves of 4 nodes with 32 NICs' worth of 12 GB/s in and a quarter of it out: 4 nodes x 8 NICs x 12 / 4 = 96 GB/s for
// the 32 GPUs below, each sending both ways round two units: 64 flows, 1.5 GB/s; inside a unit 6 GB/s as above.
TEST(Straddle, OversubscribedLeaves) {
  const std::vector<Straddle> all =
      found(nodes("[2, 4]", "  oversubscription: [4]\n"),
            "mesh: {data: 8, tensor: 8}, placement: {data: [unit, node], tensor: device}");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].axis, "data");
  EXPECT_EQ(all[0].slow, 1.5e9);
  EXPECT_EQ(all[0].fast, 6e9);
  EXPECT_THAT(all[0].slow_kinds, ElementsAre("leaf"));
  EXPECT_THAT(all[0].between, ElementsAre(Pair(24, 32)));
  EXPECT_EQ(all[0].fits, 4);
}

const std::string pairs =
    "  kind: nvlink\n  wiring: pairs\n  devices_per_switch: [2, 2]\n  nvlinks: 12\n  nvlink_rate: 20 GB/s\n" + chip;

// 0-1 and 2-3 over a bridge of 12 x 20 = 240 GB/s, one step on each direction of it; 1-2 and 3-0 meet on the link of
// 24 GB/s above each switch, one both ways: 2 flows, 12 GB/s.
TEST(Straddle, NvlinkPairsOverPcie) {
  const std::vector<Straddle> all = found(pairs, "mesh: {fsdp: 4}");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].fast, 240e9);
  EXPECT_EQ(all[0].slow, 12e9);
  EXPECT_EQ(all[0].steps, 4U);
  EXPECT_EQ(all[0].slow_steps, 2U);
  EXPECT_THAT(all[0].between, ElementsAre(Pair(1, 2), Pair(3, 0)));
  EXPECT_THAT(all[0].fast_kinds, ElementsAre("nvlink"));
  EXPECT_EQ(all[0].fits, 2);
  EXPECT_THAT(found(pairs, "mesh: {data: 2, fsdp: 2}, placement: {data: 'device:2@2', fsdp: 'device:2@1'}"), IsEmpty());
}

// The double links of the cube mesh make a ring of all eight (0-3-2-1-5-6-7-4), so no step has to cross PCIe.
TEST(Straddle, TheRingOfTheCubeMeshStaysOnNvlink) {
  EXPECT_THAT(
      found("  kind: nvlink\n  wiring: hybrid_cube_mesh\n  nvlink_rate: 20 GB/s\n  socket_rate: 10 GB/s\n" + chip,
            "mesh: {fsdp: 8}"),
      IsEmpty());
}

// A link at half its rate is a fault, which is told as such.
TEST(Straddle, FaultsDoNotCount) {
  const std::string cube =
      "  kind: nvlink\n  wiring: hybrid_cube_mesh\n  nvlink_rate: 20 GB/s\n  socket_rate: 10 GB/s\n";
  const Scenario one = load_text(scenario(cube + chip, "mesh: {fsdp: 8}"),
                                 {"faults={cables: [{at: [0], port: device 3, capacity: 0.25}]}"});
  const Cluster built = build(one.cluster);
  EXPECT_EQ(built.faulty_links().size(), 2U);
  EXPECT_THAT(straddles(one, built, mesh_of(one, built)), IsEmpty());
}

}  // namespace
}  // namespace stepsim
