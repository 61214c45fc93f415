// fold_matrix_test.cpp: folded = every chip, time for time, over topologies x strategies x collectives x faults.
//
// Each case is played twice, one chip of each class and every chip; every op of every chip in every step must start,
// drain and end at the same picosecond, and what is reported of them must be the same. Where a number of classes is
// given it follows from the symmetry that there is, said in its row; 0: not stated.
#include "tests/scenarios/fold_matrix.h"

namespace stepsim::testing {
namespace {

class FoldMatrix : public ::testing::TestWithParam<FoldCase> {};

TEST_P(FoldMatrix, FoldedIsEveryChipToThePicosecond) {
  expect_folded_is_every_chip(GetParam());
}

const std::string cube = "{system: tpu-v5p, shape: [4, 4, 4]}";
const std::string half_cube = "{system: tpu-v5p, shape: [2, 4, 4]}";
const std::string ring8 = "{system: tpu-v5p, shape: [8, 1, 1], wraps: [on, off, off]}";
const std::string line6 = "{system: tpu-v5p, shape: [6, 1, 1], wraps: [off, off, off]}";
const std::string odd_rate = "cluster.link_rate=33333333331";
const std::string thirds = "model={base: book-mlp, layers: 2, d_model: 1536, d_ff: 6144}";
const std::string three_steps = "simulation.max_steps=3";

std::string torus(const std::string& shape, const std::string& wraps) {
  return "{system: tpu-v5p, shape: [" + shape + "], wraps: [" + wraps + "]}";
}

std::string slices(int count, const std::string& shape) {
  return "{system: tpu-v5p, slices: " + std::to_string(count) + ", shape: [" + shape + "]}";
}

std::string host(const std::string& per_switch, int devices, int roots, bool peer_to_peer) {
  return "{kind: pcie, chip: rtx-4080, devices: " + std::to_string(devices) + ", devices_per_switch: [" + per_switch +
         "], root_complexes: " + std::to_string(roots) + ", peer_to_peer: " + (peer_to_peer ? "on" : "off") +
         ", root_complex_rate: 63 GB/s, host_memory_rate: 89.6 GB/s, staging_latency: 2 us}";
}

std::string ring(const std::string& style) {
  return "collectives.ring=" + style;
}

const std::string weighted = "collectives.parts=weighted";

// One axis of the strategy, on closed and open tori.
std::vector<FoldCase> plain() {
  return {
      // A closed torus looks the same from every chip.
      {"dp_closed_cube", cube, mesh("data: 64", "zero: 0"), 1},
      {"dp_ring_of_8_one_way", ring8, mesh("data: 8", "zero: 0"), 1, {ring("one_way")}},
      {"dp_ring_of_8_whole_shards", ring8, mesh("data: 8", "zero: 0"), 1, {ring("whole_shards"), odd_rate}},
      {"dp_ring_of_7_halves", torus("7, 1, 1", "on, off, off"), mesh("data: 7", "zero: 0"), 1, {odd_rate}},
      {"dp_ring_of_7_whole_shards",
       torus("7, 1, 1", "on, off, off"),
       mesh("data: 7", "zero: 0"),
       1,
       {ring("whole_shards")}},
      {"dp_pair", torus("2, 1, 1", "off, off, off"), mesh("data: 2", "zero: 0")},
      {"dp_pair_with_two_cables", torus("2, 1, 1", "on, off, off"), mesh("data: 2", "zero: 0")},
      {"dp_buckets", cube, mesh("data: 64", "zero: 0, bucket: 4 MB, microbatches: 4"), 1},
      {"fsdp_closed_cube", cube, mesh("fsdp: 64"), 1},
      {"fsdp_closed_cube_weighted", torus("4, 6, 8", "on, on, on"), mesh("fsdp: 192"), 1, {weighted}},
      {"fsdp_closed_mixed_one_way", torus("4, 6, 2", "on, on, on"), mesh("fsdp: 48"), 0, {ring("one_way"), odd_rate}},
      {"fsdp_closed_whole_shards", cube, mesh("fsdp: 64"), 1, {ring("whole_shards"), max_latency}},
      {"zero1_closed_cube", cube, mesh("fsdp: 64", "zero: 1"), 1},
      {"zero2_closed_cube", cube, mesh("fsdp: 64", "zero: 2, microbatches: 2"), 1, {odd_rate}},
      {"zero3_microbatches", cube, mesh("fsdp: 64", "zero: 3, microbatches: 2, prefetch: 2"), 1},
      {"zero3_without_prefetch", cube, mesh("fsdp: 64", "prefetch: 0, reshard_after_forward: off"), 1},
      {"zero3_one_queue", cube, mesh("fsdp: 64", "separate_reduce_queue: off"), 1, {max_latency}},
      // An open line has a class for each place; open axes multiply.
      {"dp_line_of_6", line6, mesh("data: 6", "zero: 0"), 6},
      {"dp_line_of_6_one_way", line6, mesh("data: 6", "zero: 0"), 6, {ring("one_way"), odd_rate}},
      {"fsdp_line_of_5", torus("5, 1, 1", "off, off, off"), mesh("fsdp: 5"), 5, {max_latency}},
      {"fsdp_open_half_cube", half_cube, mesh("fsdp: 32"), 32},
      {"fsdp_open_3x5", torus("3, 5, 1", "off, off, off"), mesh("fsdp: 15"), 15, {odd_rate}},
      {"fsdp_open_by_closed_3x6", torus("3, 6, 1", "off, on, off"), mesh("fsdp: 18"), 3},
      {"fsdp_open_by_closed_weighted", torus("3, 6, 1", "off, on, off"), mesh("fsdp: 18"), 3, {weighted}},
      {"dp_closed_open_closed", torus("4, 3, 6", "on, off, on"), mesh("data: 72", "zero: 0"), 3},
      {"fsdp_v5e_8x16", "{system: tpu-v5e, shape: [8, 16]}", mesh("fsdp: 128"), 8},
      {"fsdp_v5e_pod", "{system: tpu-v5e, shape: [16, 16]}", mesh("fsdp: 256"), 1, {llama}},
      {"tensor_ring", ring8, mesh("tensor: 8"), 1},
      {"tensor_line", torus("4, 1, 1", "off, off, off"), mesh("tensor: 4"), 4, {llama}},
      {"sequence_closed_cube", cube, mesh("fsdp: 16, sequence: 4"), 1},
  };
}

// Several axes, where they lie given and chosen.
std::vector<FoldCase> placed() {
  return {
      {"fsdp_tensor_chosen", cube, mesh("fsdp: 16, tensor: 4"), 0, {llama}},
      {"fsdp_xy_tensor_z", cube, mesh("fsdp: 16, tensor: 4", "placement: {fsdp: [x, y], tensor: z}"), 1, {llama}},
      {"fsdp_tensor_overlapped",
       cube,
       mesh("fsdp: 16, tensor: 4", "tensor_overlap_chunks: 2, placement: {fsdp: [x, y], tensor: z}"),
       1,
       {llama}},
      {"data_fsdp_tensor", cube, mesh("data: 4, fsdp: 4, tensor: 4", "zero: 2, microbatches: 2"), 0, {llama, odd_rate}},
      {"data_fsdp_sequence_tensor", cube, mesh("data: 4, fsdp: 2, sequence: 2, tensor: 4"), 0, {llama}},
      {"tensor_on_a_segment",
       "{system: tpu-v5p, shape: [4, 4, 8]}",
       mesh("fsdp: 32, tensor: 4", "placement: {fsdp: [x, y, 'z:2@4'], tensor: 'z:4'}"),
       0,
       {llama}},
      {"tensor_strided",
       "{system: tpu-v5p, shape: [4, 4, 8]}",
       mesh("fsdp: 32, tensor: 4", "placement: {fsdp: [x, y, 'z:2'], tensor: 'z:4@2'}"),
       0,
       {llama}},
      {"tensor_strided_in_the_middle",
       torus("4, 12, 1", "on, on, off"),
       mesh("data: 2, fsdp: 8, tensor: 3", "zero: 1, placement: {data: 'y:2@6', fsdp: [x, 'y:2'], tensor: 'y:3@2'}"),
       0,
       {odd_rate, thirds}},
      {"tensor_block_2x2",
       cube,
       mesh("fsdp: 16, tensor: 4", "placement: {fsdp: ['x:2@2', 'y:2@2', z], tensor: ['x:2', 'y:2']}"),
       0,
       {llama}},
      {"tensor_block_2x2_strided",
       cube,
       mesh("fsdp: 16, tensor: 4", "placement: {fsdp: ['x:2', 'y:2', z], tensor: ['x:2@2', 'y:2@2']}"),
       0,
       {llama}},
      {"two_digits_of_one_axis",
       torus("8, 4, 1", "on, on, off"),
       mesh("fsdp: 16, tensor: 2", "placement: {fsdp: ['x:2@4', 'x:2', y], tensor: 'x:2@2'}"),
       0,
       {odd_rate}},
      {"two_digits_of_one_axis_open",
       torus("8, 3, 1", "off, on, off"),
       mesh("fsdp: 12, tensor: 2", "placement: {fsdp: ['x:2@4', 'x:2', y], tensor: 'x:2@2'}"),
       0,
       {max_latency}},
      {"strided_on_an_open_axis",
       torus("6, 4, 1", "off, on, off"),
       mesh("fsdp: 8, tensor: 3", "placement: {fsdp: ['x:2', y], tensor: 'x:3@2'}"),
       6,
       {thirds}},
      {"fsdp_and_data_on_one_axis", torus("4, 4, 8", "on, on, on"),
       mesh("data: 2, fsdp: 64", "zero: 2, placement: {data: 'z:2', fsdp: [x, y, 'z:4@2']}")},
      {"overlapped_and_weighted",
       torus("4, 6, 8", "on, on, on"),
       mesh("fsdp: 24, tensor: 8", "tensor_overlap_chunks: 4, placement: {fsdp: [x, y], tensor: z}"),
       1,
       {weighted}},
      {"chosen_on_an_open_torus", half_cube, mesh("fsdp: 8, tensor: 4"), 0, {llama}},
      {"regathered_and_checkpointed",
       cube,
       mesh("fsdp: 16, tensor: 4", "regather_tensor_input: on, checkpoints: full"),
       0,
       {llama}},
  };
}

// Slices over the data-center network, and hosts with PCIe.
std::vector<FoldCase> joined() {
  const std::string dcn = "placement: {data: dcn, fsdp: [x, y, z]}";
  const std::string uneven = "{system: tpu-v5p, slices: 3, shape: [3, 3, 1], wraps: [on, on, off]}";
  return {
      {"two_slices", slices(2, "4, 4, 4"), mesh("data: 2, fsdp: 64", dcn)},
      {"three_slices", slices(3, "4, 4, 4"), mesh("data: 3, fsdp: 64", dcn), 0, {llama}},
      {"four_open_slices", slices(4, "2, 2, 4"), mesh("data: 4, fsdp: 16", dcn), 0, {odd_rate}},
      {"slices_with_tensor",
       slices(2, "4, 4, 4"),
       mesh("data: 2, fsdp: 16, tensor: 4", "placement: {data: dcn, fsdp: [x, y], tensor: z}"),
       0,
       {llama}},
      {"slices_fsdp_across", slices(4, "2, 2, 2"), mesh("fsdp: 32", "placement: {fsdp: [dcn, x, y, z]}")},
      {"slices_dp_across_and_inside", slices(2, "2, 2, 2"), mesh("data: 16", "zero: 0")},
      {"slices_with_latency",
       slices(3, "2, 2, 2"),
       mesh("data: 3, fsdp: 8", dcn),
       0,
       {"cluster.chip={base: tpu-v5p, dcn_latency: 11 us, pcie_latency: 3 us}", max_latency}},
      {"uneven_hosts", uneven, mesh("data: 3, fsdp: 9", dcn)},
      {"uneven_hosts_dp", uneven, mesh("data: 27", "zero: 0"), 0, {odd_rate}},
      {"uneven_hosts_line", "{system: tpu-v5p, slices: 2, shape: [5, 2, 1], wraps: [off, on, off]}",
       mesh("data: 2, fsdp: 10", dcn)},
      {"host_peer_to_peer", host("4", 4, 1, true), mesh("data: 4", "zero: 0"), 1},
      {"host_two_switches", host("2, 2", 4, 1, true), mesh("data: 4", "zero: 0"), 0, {llama}},
      {"host_two_roots", host("2, 2", 4, 2, true), mesh("fsdp: 4"), 0, {ring("one_way")}},
      {"host_uneven_switches", host("3, 1", 4, 1, true), mesh("fsdp: 4"), 0, {max_latency}},
      {"host_staged", host("1, 1, 1, 1", 4, 1, false), mesh("data: 4", "zero: 0"), 1, {"collectives.algorithm=torus"}},
      {"host_staged_two_roots", host("4, 4", 8, 2, false), mesh("fsdp: 8"), 0, {llama}},
      {"host_staged_uneven", host("3, 2, 1", 6, 2, false), mesh("data: 2, fsdp: 3", "zero: 1")},
      {"host_tensor", host("2, 2", 4, 2, false), mesh("fsdp: 2, tensor: 2"), 0, {llama}},
  };
}

// Chips and links that are not as they should be.
std::vector<FoldCase> faulty() {
  const std::string slow = faults("chips: [{at: [1, 2, 3], slowdown: 1.1}]");
  const std::string xy_z = "placement: {fsdp: [x, y], tensor: z}";
  const std::string dcn = "placement: {data: dcn, fsdp: [x, y, z]}";
  return {
      {"slow_chip", cube, mesh("fsdp: 64"), 64, {slow}},
      {"slow_chip_dp", cube, mesh("data: 64", "zero: 0, bucket: 4 MB"), 64, {slow, odd_rate}},
      {"slow_chip_with_tensor", cube, mesh("fsdp: 16, tensor: 4", xy_z), 64, {slow, llama}},
      {"slow_chip_overlapped",
       cube,
       mesh("fsdp: 16, tensor: 4", "tensor_overlap_chunks: 2, " + xy_z),
       64,
       {slow, llama}},
      {"slow_chip_one_way",
       ring8,
       mesh("data: 8", "zero: 0"),
       8,
       {faults("chips: [{at: [5, 0, 0], speed: 0.7}]"), ring("one_way"), max_latency}},
      {"slow_chip_on_a_line", line6, mesh("fsdp: 6"), 6, {faults("chips: [{at: [2, 0, 0], slowdown: 3}]")}},
      // Along x alone: the line of the slow chip, and the rest.
      {"slow_chip_in_lines",
       "{system: tpu-v5p, shape: [8, 8, 8], wraps: [on, off, off]}",
       mesh("tensor: 8, data: 64", "zero: 0, placement: {tensor: x, data: [y, z]}"),
       0,
       {slow}},
      {"two_slow_chips_alike",
       cube,
       mesh("fsdp: 64"),
       32,  // moved by (2, 2, 2) into each other
       {faults("chips: [{at: [0, 0, 0], slowdown: 1.1}, {at: [2, 2, 2], slowdown: 1.1}]")}},
      {"two_slow_chips_unlike",
       cube,
       mesh("fsdp: 64", "zero: 2"),
       64,
       {faults("chips: [{at: [0, 0, 0], slowdown: 1.1}, {at: [2, 2, 2], slowdown: 1.2}]"), odd_rate}},
      {"degraded_link", cube, mesh("fsdp: 64"), 64, {faults("links: [{at: [1, 2, 3], port: y-, capacity: 0.5}]")}},
      {"degraded_link_weighted",
       torus("4, 6, 2", "on, on, on"),
       mesh("fsdp: 48"),
       48,
       {faults("links: [{at: [1, 2, 1], port: x+, capacity: 0.3}]"), weighted}},
      {"degraded_cable",
       cube,
       mesh("data: 64", "zero: 0"),
       64,
       {faults("cables: [{at: [0, 0, 0], port: z+, capacity: 0.1}]")}},
      {"degraded_link_strided",
       torus("8, 4, 1", "on, on, off"),
       mesh("fsdp: 16, tensor: 2", "placement: {fsdp: ['x:2@4', 'x:2', y], tensor: 'x:2@2'}"),
       0,
       {faults("links: [{at: [3, 1, 0], port: x+, capacity: 0.25}]")}},
      {"cable_down", cube, mesh("fsdp: 64"), 0, {faults("cables: [{at: [1, 1, 1], port: x+, down: true}]")}},
      {"cable_down_dp_one_way",
       cube,
       mesh("data: 64", "zero: 0"),
       0,
       {faults("cables: [{at: [3, 3, 3], port: y+, down: true}]"), ring("one_way")}},
      {"cable_down_on_a_ring",
       ring8,
       mesh("fsdp: 8"),
       0,
       {faults("cables: [{at: [2, 0, 0], port: x+, down: true}]"), odd_rate}},
      {"cables_down_with_tensor",
       cube,
       mesh("fsdp: 16, tensor: 4", xy_z),
       0,
       {faults("cables: [{at: [0, 0, 0], port: x+, down: true}, {at: [2, 0, 2], port: z+, down: true}]"), llama}},
      {"cable_down_open",
       half_cube,
       mesh("fsdp: 8, tensor: 4"),
       0,
       {faults("cables: [{at: [0, 1, 1], port: x+, down: true}]")}},
      {"cable_down_strided",
       torus("8, 4, 1", "on, on, off"),
       mesh("fsdp: 16, tensor: 2", "placement: {fsdp: ['x:2@4', 'x:2', y], tensor: 'x:2@2'}"),
       0,
       {faults("cables: [{at: [3, 1, 0], port: x+, down: true}]")}},
      {"several_faults",
       cube,
       mesh("fsdp: 16, tensor: 4", xy_z),
       0,
       {faults("chips: [{at: [0, 0, 1], slowdown: 1.5}, {at: [3, 3, 3], speed: 0.9}], links: [{at: [1, 0, 0], port: "
               "x+, capacity: 0.5}], cables: [{at: [2, 2, 2], port: y+, down: true}]")}},
      {"slow_chip_in_slices",
       slices(2, "4, 4, 4"),
       mesh("data: 2, fsdp: 64", dcn),
       0,
       {faults("chips: [{at: [1, 1, 2, 3], slowdown: 1.1}]")}},
      {"slow_nic",
       slices(3, "2, 2, 4"),
       mesh("data: 3, fsdp: 16", dcn),
       0,
       {faults("links: [{at: [1, 0, 0, 2], port: dcn up, capacity: 0.5}]")}},
      {"slow_pcie_link",
       slices(2, "2, 2, 4"),
       mesh("data: 2, fsdp: 16", dcn),
       0,
       {faults("links: [{at: [1, 0, 1, 2], port: pcie down, capacity: 0.05}]"), odd_rate}},
      {"slices_with_a_cable_down",
       slices(2, "4, 4, 4"),
       mesh("data: 2, fsdp: 64", dcn),
       0,
       {faults("cables: [{at: [1, 0, 1, 2], port: z+, down: true}]")}},
      {"slow_device", host("2, 2", 4, 2, true), mesh("fsdp: 4"), 0, {faults("chips: [{at: [2], slowdown: 1.3}]")}},
      {"slow_device_staged",
       host("4, 4", 8, 2, false),
       mesh("data: 8", "zero: 0"),
       0,
       {faults("chips: [{at: [2], slowdown: 1.3}]"), llama}},
      {"slow_slot",
       host("4", 4, 1, true),
       mesh("data: 4", "zero: 0"),
       0,
       {faults("links: [{at: [1], port: pcie up, capacity: 0.5}]")}},
  };
}

// The largest of every day.
std::vector<FoldCase> of_512() {
  const std::string pod = "{system: tpu-v5p, shape: [8, 8, 8]}";
  return {
      {"dp", pod, mesh("data: 512", "zero: 0"), 1},
      {"fsdp_tensor", pod, mesh("fsdp: 64, tensor: 8", "placement: {fsdp: [x, y], tensor: z}"), 1, {llama}},
      {"slow_chip", pod, mesh("fsdp: 512"), 512, {faults("chips: [{at: [3, 0, 5], slowdown: 1.1}]"), three_steps}},
      {"degraded_link_and_tensor",
       pod,
       mesh("fsdp: 64, tensor: 8", "placement: {fsdp: [x, y], tensor: z}"),
       512,
       {faults("links: [{at: [3, 0, 5], port: z+, capacity: 0.5}]")}},
      {"open_axis", "{system: tpu-v5p, shape: [8, 8, 8], wraps: [off, on, on]}", mesh("fsdp: 512"), 8},
      {"slices", slices(8, "4, 4, 4"), mesh("data: 8, fsdp: 64", "placement: {data: dcn, fsdp: [x, y, z]}")},
  };
}

// Up to 4,096 chips, in the long run.
std::vector<FoldCase> of_4096() {
  const std::string pod = "{system: tpu-v5p, shape: [16, 16, 16]}";
  const std::string eighth = "{system: tpu-v5p, shape: [8, 8, 16]}";
  const std::string xy_z = "placement: {fsdp: [x, y], tensor: z}";
  return {
      {"dp_4096", pod, mesh("data: 4096", "zero: 0"), 1},
      {"fsdp_4096", pod, mesh("fsdp: 4096"), 1},
      {"fsdp_tensor_4096", pod, mesh("fsdp: 256, tensor: 16", xy_z), 1},
      {"fsdp_tensor_block_4096", pod,
       mesh("fsdp: 1024, tensor: 4", "placement: {fsdp: ['x:8@2', 'y:8@2', z], tensor: ['x:2', 'y:2']}")},
      {"open_axis_4096", "{system: tpu-v5p, shape: [16, 16, 16], wraps: [off, on, on]}", mesh("fsdp: 4096"), 16},
      {"slow_chip_1024", eighth, mesh("fsdp: 1024"), 1024, {faults("chips: [{at: [3, 0, 5], slowdown: 1.1}]")}},
      {"slow_chip_4096", pod, mesh("data: 4096", "zero: 0"), 4096, {faults("chips: [{at: [3, 0, 5], slowdown: 1.1}]")}},
      {"cable_down_1024",
       eighth,
       mesh("fsdp: 64, tensor: 16", xy_z),
       0,
       {faults("cables: [{at: [3, 0, 5], port: z+, down: true}]"), llama}},
      {"degraded_cable_2048",
       "{system: tpu-v5p, shape: [8, 16, 16]}",
       mesh("fsdp: 2048"),
       2048,
       {faults("cables: [{at: [3, 0, 5], port: x+, capacity: 0.5}]")}},
      {"sixteen_slices_4096", slices(16, "4, 8, 8"),
       mesh("data: 16, fsdp: 256", "placement: {data: dcn, fsdp: [x, y, z]}")},
      {"slow_nic_1024",
       slices(4, "4, 8, 8"),
       mesh("data: 4, fsdp: 256", "placement: {data: dcn, fsdp: [x, y, z]}"),
       0,
       {faults("links: [{at: [1, 0, 0, 2], port: dcn up, capacity: 0.5}]")}},
  };
}

INSTANTIATE_TEST_SUITE_P(Plain, FoldMatrix, ::testing::ValuesIn(plain()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(Placed, FoldMatrix, ::testing::ValuesIn(placed()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(Joined, FoldMatrix, ::testing::ValuesIn(joined()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(Faulty, FoldMatrix, ::testing::ValuesIn(faulty()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(Of512, FoldMatrix, ::testing::ValuesIn(of_512()), fold_case_name);
INSTANTIATE_TEST_SUITE_P(Long, FoldMatrix, ::testing::ValuesIn(of_4096()), fold_case_name);

}  // namespace
}  // namespace stepsim::testing
