// fold_gpu_matrix_test.cpp: the fold's matrix (fold_matrix_test.cpp) on networks of GPUs: nodes with every wiring, NVSwitch,
// NVLink pairs and cube mesh, PCIe trees; collectives by fixed algorithms, and by the fastest algorithm and protocol.
#include "tests/scenarios/fold_matrix.h"

namespace stepsim::testing {
namespace {

class FoldGpuMatrix : public ::testing::TestWithParam<FoldCase> {};

TEST_P(FoldGpuMatrix, FoldedIsEveryChipToThePicosecond) {
  expect_folded_is_every_chip(GetParam());
}

// Launches, hops and shares of the size of NCCL's, so that several methods win somewhere.
const std::string protocols =
    "protocols: {LL: {launch: 6.6 us, direct_hop: 0.6 us, pcie_hop: 1 us, network_hop: 2.7 us, share: 0.4}, "
    "Simple: {launch: 8.4 us, direct_hop: 3.4 us, pcie_hop: 5.7 us, network_hop: 14 us, chunk: 512 KiB}, "
    "NVLS: {algorithms: [in-network], launch: 25 us, share: 0.7, chunk: 1 MiB, one_node: on}}";

/// GPUs of a node, nodes by tier, what is between them.
std::string nodes(int gpus, const std::string& by_tier, const std::string& between, const std::string& more = "") {
  return "{kind: nodes, chip: {base: h100, pcie_latency: 700 ns}, gpus: " + std::to_string(gpus) + ", nodes: [" +
         by_tier +
         "], switch_rate: 450 GB/s, switch_latency: 1 us, nic_rate: 50 GB/s, nic_latency: 2 us, tier_latency: " +
         "500 ns, " + between + (more.empty() ? "" : ", " + more) + "}";
}

const std::string leaves = "nics: 2, wiring: leaf_spine";
const std::string rails = "nics: 4, wiring: rail_optimised";
const std::string rail_only = "nics: 4, wiring: rail_only";
const std::string relaying = "nics: 4, wiring: rail_optimised, cross_rail: pxn";
const std::string hashed = "nics: 4, wiring: rail_optimised, ecmp: hash, uplinks: 3, ecmp_seed: 7";
const std::string thin = "oversubscription: [2]";
const std::string in_node = "placement: {fsdp: node, tensor: device}";

std::string by(const std::string& algorithm) {
  return "collectives.algorithm=" + algorithm;
}

std::vector<FoldCase> one_node() {
  const std::string bare = nodes(8, "1", "nics: 8");
  const std::string driven = nodes(8, "1", "nics: 8", protocols);
  return {
      {"dp", bare, mesh("data: 8", "zero: 0")},
      {"dp_protocols", driven, mesh("data: 8", "zero: 0, bucket: 1 MB")},
      {"dp_ring", driven, mesh("data: 8", "zero: 0"), 0, {by("ring")}},
      {"dp_tree", driven, mesh("data: 8", "zero: 0"), 0, {by("tree"), llama}},
      {"dp_two_shot", driven, mesh("data: 8", "zero: 0"), 0, {by("two-shot")}},
      {"dp_halving", bare, mesh("data: 8", "zero: 0"), 0, {by("recursive-halving"), max_latency}},
      {"dp_nvls", driven, mesh("data: 8", "zero: 0"), 0, {by("in-network"), "collectives.protocol=NVLS"}},
      {"fsdp", bare, mesh("fsdp: 8"), 0, {llama}},
      {"fsdp_protocols", driven, mesh("fsdp: 8", "zero: 2, microbatches: 2"), 0, {llama}},
      {"fsdp_torus", driven, mesh("fsdp: 8"), 0, {by("torus")}},
      {"fsdp_one_shot", driven, mesh("fsdp: 8"), 0, {by("one-shot"), "collectives.protocol=LL"}},
      {"fsdp_nvls", driven, mesh("fsdp: 8"), 0, {by("in-network")}},
      {"tensor", driven, mesh("tensor: 8"), 0, {llama}},
      {"fsdp_tensor", driven, mesh("fsdp: 4, tensor: 2"), 0, {llama}},
      {"slow_gpu", driven, mesh("fsdp: 8"), 0, {faults("chips: [{at: [0, 3], slowdown: 1.2}]")}},
  };
}

std::vector<FoldCase> several_nodes() {
  return {
      {"leaf_spine_dp", nodes(4, "4", leaves), mesh("data: 16", "zero: 0")},
      {"leaf_spine_dp_tree", nodes(4, "4", leaves, protocols), mesh("data: 16", "zero: 0"), 0, {by("tree")}},
      {"leaf_spine_fsdp", nodes(2, "3, 2", leaves, protocols + ", " + thin), mesh("fsdp: 12"), 0, {llama}},
      {"leaf_spine_fsdp_ring", nodes(4, "2, 2", leaves, protocols), mesh("fsdp: 16"), 0, {by("ring")}},
      {"rails_dp", nodes(4, "4", rails, protocols), mesh("data: 16", "zero: 0, bucket: 2 MB")},
      {"rails_dp_hierarchical", nodes(4, "4", rails, protocols), mesh("data: 16", "zero: 0"), 0, {by("hierarchical")}},
      {"rails_fsdp", nodes(4, "2, 3", rails, thin), mesh("fsdp: 24"), 0, {llama}},
      {"rails_fsdp_tensor", nodes(4, "4", rails, protocols), mesh("fsdp: 4, tensor: 4", in_node), 0, {llama}},
      {"rails_fsdp_tensor_chosen", nodes(4, "4", rails, protocols), mesh("fsdp: 8, tensor: 2"), 0, {llama}},
      {"rails_fsdp_tensor_torus", nodes(4, "4", rails), mesh("fsdp: 4, tensor: 4", in_node), 0, {llama, by("torus")}},
      {"rails_fsdp_tensor_overlapped",
       nodes(4, "4", rails, protocols),
       mesh("fsdp: 4, tensor: 4", "tensor_overlap_chunks: 2, " + in_node),
       0,
       {llama}},
      {"rails_data_fsdp_tensor",
       nodes(4, "2, 2", rails, protocols),
       mesh("data: 2, fsdp: 2, tensor: 4", "zero: 2, placement: {data: unit, fsdp: node, tensor: device}"),
       0,
       {llama}},
      {"rail_only_dp", nodes(4, "4", rail_only, protocols), mesh("data: 16", "zero: 0")},
      {"rail_only_fsdp_tensor", nodes(4, "4", rail_only, protocols), mesh("fsdp: 4, tensor: 4", in_node), 0, {llama}},
      {"pxn_dp", nodes(4, "2, 2", relaying, protocols), mesh("data: 16", "zero: 0"), 0, {llama}},
      {"pxn_fsdp_one_shot", nodes(4, "3", relaying), mesh("fsdp: 12"), 0, {by("one-shot"), max_latency}},
      {"hashed_dp", nodes(4, "2, 2", hashed, protocols), mesh("data: 16", "zero: 0")},
      {"hashed_fsdp_tensor", nodes(4, "2, 2", hashed), mesh("fsdp: 8, tensor: 2"), 0, {llama}},
      {"single_gpus_fsdp", nodes(1, "2, 4", "nics: 1, wiring: leaf_spine", protocols), mesh("fsdp: 8")},
      {"rails_slow_gpu",
       nodes(4, "4", rails, protocols),
       mesh("fsdp: 4, tensor: 4", in_node),
       0,
       {llama, faults("chips: [{at: [2, 1], slowdown: 1.3}]")}},
  };
}

std::vector<FoldCase> one_host() {
  const std::string pairs =
      "{kind: nvlink, chip: {base: a100, pcie_rate: 24 GB/s, pcie_latency: 1 us}, wiring: pairs, devices_per_switch: "
      "[2, 2], nvlink_rate: 20 GB/s, nvlink_latency: 1 us, nvlinks: 12";
  const std::string cube =
      "{kind: nvlink, chip: v100, wiring: hybrid_cube_mesh, nvlink_rate: 20 GB/s, socket_rate: 6 GB/s";
  const std::string tree =
      "{kind: pcie_tree, chip: {base: a100, pcie_rate: 12 GB/s, pcie_latency: 1 us}, devices_per_switch: [2, 2, 2, 2], "
      "sockets: 2, socket_rate: 10 GB/s, socket_latency: 2 us";
  const std::string staged =
      ", peer_to_peer: off, host_memory_rate: 40 GB/s, memory_link_rate: 50 GB/s, staging_latency: 7 us";
  const std::string host =
      "{kind: pcie, chip: rtx-4080, devices: 4, devices_per_switch: [2, 2], root_complexes: 2, peer_to_peer: on, "
      "root_complex_rate: 63 GB/s, host_memory_rate: 89.6 GB/s";
  const std::string driven = ", " + protocols + "}";
  const std::string slow_link = faults("links: [{at: [1], port: switch 0, capacity: 0.5}]");
  return {
      {"pairs_dp", pairs + "}", mesh("data: 4", "zero: 0")},
      {"pairs_dp_protocols", pairs + driven, mesh("data: 4", "zero: 0"), 0, {llama}},
      {"pairs_fsdp", pairs + driven, mesh("fsdp: 4"), 0, {llama}},
      {"pairs_fsdp_tensor", pairs + driven, mesh("fsdp: 2, tensor: 2"), 0, {llama}},
      {"pairs_fsdp_torus", pairs + "}", mesh("fsdp: 4"), 0, {by("torus"), max_latency}},
      {"pairs_slow_link", pairs + "}", mesh("fsdp: 4"), 0, {slow_link}},
      {"cube_mesh_dp", cube + "}", mesh("data: 8", "zero: 0")},
      {"cube_mesh_dp_ring", cube + driven, mesh("data: 8", "zero: 0"), 0, {by("ring")}},
      {"cube_mesh_fsdp_tensor", cube + driven, mesh("fsdp: 4, tensor: 2"), 0, {llama}},
      {"tree_dp", tree + driven, mesh("data: 8", "zero: 0")},
      {"tree_fsdp", tree + "}", mesh("fsdp: 8"), 0, {llama}},
      {"tree_fsdp_tensor_staged", tree + staged + driven, mesh("fsdp: 4, tensor: 2"), 0, {llama}},
      {"host_fsdp", host + driven, mesh("fsdp: 4"), 0, {llama}},
      {"host_dp_two_shot", host + driven, mesh("data: 4", "zero: 0"), 0, {by("two-shot")}},
  };
}

INSTANTIATE_TEST_SUITE_P(OneNode, FoldGpuMatrix, ::testing::ValuesIn(one_node()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(SeveralNodes, FoldGpuMatrix, ::testing::ValuesIn(several_nodes()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(OneHost, FoldGpuMatrix, ::testing::ValuesIn(one_host()), fold_case_name);

}  // namespace
}  // namespace stepsim::testing
