// chips.h: chips for the tests, from the hardware table of "How To Scale Your Model", chapter 2 (one-way link rates,
// hop of about 1 us), and what an InputError named.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sim/input_error.h"
#include "topology/cluster.h"

namespace stepsim::testing {

inline constexpr Picoseconds microsecond{1'000'000};

inline ChipSpec chip_3d(const std::string& name, std::vector<int> pod, std::int64_t link_rate) {
  ChipSpec chip;
  chip.name = name;
  chip.axes = 3;
  chip.pod = std::move(pod);
  chip.host_shape = {2, 2, 1};
  chip.wrap = WrapRule::cubes;
  chip.link_rate = link_rate;
  chip.link_latency = microsecond;
  chip.pcie_rate = 16'000'000'000;
  chip.pcie_latency = microsecond * 2;
  chip.dcn_rate_per_chip = 6'250'000'000;
  chip.dcn_latency = microsecond * 10;
  chip.cores = 2;
  chip.slice_name_counts_cores = true;
  return chip;
}

inline ChipSpec chip_2d(const std::string& name, std::vector<int> pod, std::int64_t link_rate) {
  ChipSpec chip = chip_3d(name, std::move(pod), link_rate);
  chip.axes = 2;
  chip.host_shape = {4, 2};
  chip.wrap = WrapRule::full_extent;
  chip.cores = 1;
  chip.slice_name_counts_cores = false;
  return chip;
}

inline ChipSpec named(ChipSpec chip, const std::string& prefix) {
  chip.slice_prefix = prefix;
  return chip;
}

inline ChipSpec v3() {
  ChipSpec chip = named(chip_2d("tpu-v3", {32, 32}, 100'000'000'000), "v3");
  chip.cores = 2;
  chip.slice_name_counts_cores = true;
  return chip;
}
inline ChipSpec v4() {
  return named(chip_3d("tpu-v4", {16, 16, 16}, 45'000'000'000), "v4");
}
inline ChipSpec v5p() {
  return named(chip_3d("tpu-v5p", {16, 20, 28}, 90'000'000'000), "v5p");
}
inline ChipSpec v5e() {
  return named(chip_2d("tpu-v5e", {16, 16}, 45'000'000'000), "v5e");
}
inline ChipSpec v6e() {
  return named(chip_2d("tpu-v6e", {16, 16}, 90'000'000'000), "v6e");
}
inline ChipSpec v7x() {
  return named(chip_3d("tpu7x", {4, 4, 576}, 90'000'000'000), "tpu7x");
}

inline ClusterSpec torus(const ChipSpec& chip, std::vector<int> shape, int slices = 1) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = chip;
  spec.shape = std::move(shape);
  spec.slices = slices;
  return spec;
}

/// Nodes of GPUs with the figures of an H100 SuperPOD: 450 GB/s into the switch, NICs of 50 GB/s ("How To Scale Your
/// Model", chapter 12).
inline ClusterSpec nodes_of(int gpus, std::vector<int> nodes, int nics, Wiring wiring = Wiring::rail_optimised) {
  ClusterSpec spec;
  spec.kind = "nodes";
  spec.chip.name = "h100";
  spec.chip.pcie_rate = 64'000'000'000;
  spec.chip.pcie_latency = Picoseconds(300'000);
  spec.nodes.gpus = gpus;
  spec.nodes.switch_rate = 450'000'000'000;
  spec.nodes.switch_latency = microsecond;
  spec.nodes.nics = nics;
  spec.nodes.nic_rate = 50'000'000'000;
  spec.nodes.nic_latency = microsecond * 2;
  spec.nodes.tier_latency = Picoseconds(500'000);
  spec.nodes.wiring = wiring;
  spec.nodes.nodes = std::move(nodes);
  return spec;
}

inline ClusterSpec oversubscribed(ClusterSpec spec, std::int64_t times, std::int64_t over = 1) {
  spec.nodes.oversubscription = {{times, over}};
  return spec;
}

inline ClusterSpec relaying(ClusterSpec spec) {
  spec.nodes.cross_rail = CrossRail::pxn;
  return spec;
}

inline ClusterSpec hashed(ClusterSpec spec, int uplinks, std::uint64_t seed) {
  spec.nodes.uplinks = uplinks;
  spec.nodes.ecmp_seed = seed;
  return spec;
}

/// One of each kind of network of nodes, small.
struct NamedNodes {
  std::string name;
  ClusterSpec spec;
};
inline std::vector<NamedNodes> networks_of_nodes() {
  return {{"one_node_of_8", nodes_of(8, {1}, 8)},
          {"leaf_of_4_nodes_of_2", nodes_of(2, {4}, 2, Wiring::leaf_spine)},
          {"leaf_spine_3x2_oversubscribed", oversubscribed(nodes_of(2, {3, 2}, 1, Wiring::leaf_spine), 3, 2)},
          {"rails_2x3", nodes_of(4, {2, 3}, 4)},
          {"rails_2x2_shared_nics", oversubscribed(nodes_of(4, {2, 2}, 2), 2)},
          {"rails_2x2_relaying", relaying(nodes_of(4, {2, 2}, 4))},
          {"rails_of_3_tiers", oversubscribed(nodes_of(2, {2, 2, 2}, 2), 2)},
          {"rails_of_one_tier", nodes_of(4, {3}, 4)},
          {"rail_only_4", nodes_of(4, {4}, 4, Wiring::rail_only)},
          {"rail_only_2x2", nodes_of(2, {2, 2}, 2, Wiring::rail_only)},
          {"hashed_2x3", hashed(nodes_of(2, {2, 3}, 2), 4, 7)},
          {"single_gpus_2x4", nodes_of(1, {2, 4}, 1, Wiring::leaf_spine)}};
}

inline std::vector<bool> wraps_of(const Cluster& cluster) {
  std::vector<bool> wraps;
  for (const HardwareAxis& axis : cluster.axes()) wraps.push_back(axis.wraps);
  return wraps;
}

/// Keys of all problems that `call` reports as an InputError; fails the test when it reports none.
inline std::vector<std::string> problem_keys(const std::function<void()>& call) {
  std::vector<std::string> keys;
  try {
    call();
    ADD_FAILURE() << "no InputError";
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) keys.push_back(problem.key);
  }
  return keys;
}

inline std::string problem_text(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.problems().front().message;
  }
  return "no InputError";
}

/// True when the links lead from one vertex to the other, each beginning where the one before ends.
inline bool connects(const Cluster& cluster, const std::vector<LinkId>& links, VertexId from, VertexId to) {
  for (const LinkId link : links) {
    if (cluster.link(link).from != from) return false;
    from = cluster.link(link).to;
  }
  return from == to;
}

}  // namespace stepsim::testing
