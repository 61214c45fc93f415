// nodes_play.h: one collective on nodes of GPUs, and what the links carried, by kind.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scenarios/layout.h"
#include "tests/topology/chips.h"

namespace stepsim::testing {

/// Rates as in chips.h, every latency 0.
inline ClusterSpec without_latency(ClusterSpec spec) {
  spec.chip.pcie_latency = Picoseconds();
  spec.nodes.switch_latency = Picoseconds();
  spec.nodes.nic_latency = Picoseconds();
  spec.nodes.tier_latency = Picoseconds();
  return spec;
}

struct PlayedOnNodes {
  Picoseconds time;
  std::uint32_t classes = 0;
  std::uint64_t transfers = 0;
  std::map<std::string, Bytes> carried;  // by all links of a kind: "nvlink up", "nic up", "leaf up"
  std::map<std::string, Bytes> fullest;  // by the one that carried most
};

/// The groups along these hardware axes; empty: all GPUs are one.
inline Groups groups_along(const Cluster& cluster, const std::vector<std::string>& names) {
  std::vector<MeshAxis> mesh;
  Placement placement;
  std::vector<int> chosen;
  for (const HardwareAxis& axis : cluster.axes()) {
    const auto at = static_cast<int>(mesh.size());
    if (names.empty() || std::find(names.begin(), names.end(), axis.name) != names.end()) chosen.push_back(at);
    mesh.push_back({axis.name, axis.extent});
    placement.digits.push_back({{at, axis.extent, 1}});
  }
  return Groups(cluster.axes(), Mesh(cluster, mesh, placement).group_shape(chosen));
}

/// In all groups at once. Rings are as many as NICs where a group spans nodes.
inline PlayedOnNodes play_on_nodes(const ClusterSpec& of_cluster, CollectiveSpec spec,
                                   const std::vector<std::string>& axes = {}, bool fold = true) {
  const Cluster cluster = build(of_cluster);
  const Groups groups = groups_along(cluster, axes);
  spec.shape = groups.shape();
  if (axes.empty() && groups.members() > static_cast<std::uint32_t>(of_cluster.nodes.gpus)) {
    spec.node = static_cast<std::uint32_t>(of_cluster.nodes.gpus);
    spec.channels = static_cast<std::uint32_t>(of_cluster.nodes.nics);
  }
  const Communication all = lone_pattern(groups, collective_algorithms().at("algorithm", spec.algorithm).pattern(spec));
  const Symmetry symmetry = fold ? Symmetry(cluster, traffic(cluster, all)) : Symmetry(cluster);
  StepProgram program = one_collective();
  Network network;
  CollectiveRequest request;
  request.kind = spec.kind;
  request.bytes = spec.bytes;
  const std::vector<LinkClass> links = lay_out(cluster, all, {request}, symmetry, program, network);
  RunOptions options;
  options.exact_steps = 1;
  const Timeline timeline = simulate(program, network, options);

  PlayedOnNodes played{timeline.window_end(), symmetry.classes(), timeline.counters.transfers, {}, {}};
  const std::vector<LinkUse>& uses = timeline.links_at_end.at(0);
  for (LinkId id = 0; id < links.size(); ++id) {
    const std::string kind = cluster.link(links[id].one).kind;
    played.carried[kind] += uses[id].bytes * links[id].links;
    played.fullest[kind] = std::max(played.fullest[kind], uses[id].bytes);
  }
  return played;
}

}  // namespace stepsim::testing
