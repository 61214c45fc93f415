// nodes.h: single hosts for the tests. Rates are the usable ones that NCCL counts with (NVIDIA/nccl, src/graph/topo.h):
// PCIe x16 generation 3: 12 GB/s, generation 4: 24 GB/s; NVLink of V100 and A100: 20 GB/s; Skylake to Skylake 10 GB/s.
#pragma once

#include <cmath>

#include "chips.h"

namespace stepsim::testing {

inline constexpr std::int64_t giga = 1'000'000'000;

inline ClusterSpec pcie_tree(std::vector<int> devices_per_switch, int sockets = 1) {
  ClusterSpec spec;
  spec.kind = "pcie_tree";
  spec.chip.name = "gpu";
  spec.chip.pcie_rate = 12 * giga;
  spec.chip.pcie_latency = microsecond;
  spec.tree.devices_per_switch = std::move(devices_per_switch);
  spec.tree.sockets = sockets;
  spec.tree.socket_rate = 10 * giga;
  spec.tree.socket_latency = microsecond * 2;
  return spec;
}

inline ClusterSpec staged_tree(ClusterSpec spec) {
  spec.tree.peer_to_peer = false;
  spec.tree.host_memory_rate = 40 * giga;
  spec.tree.memory_link_rate = 50 * giga;
  spec.tree.staging_latency = microsecond * 7;
  return spec;
}

/// A100 with bridges of 12 NVLinks, one PCIe switch of generation 4 for each pair.
inline ClusterSpec nvlink_pairs(int pairs = 2) {
  ClusterSpec spec = pcie_tree(std::vector<int>(static_cast<std::size_t>(pairs), 2));
  spec.kind = "nvlink";
  spec.chip.pcie_rate = 24 * giga;
  spec.nvlink.rate = 20 * giga;
  spec.nvlink.latency = microsecond;
  spec.nvlink.links = 12;
  return spec;
}

/// DGX-1 with V100.
inline ClusterSpec cube_mesh() {
  ClusterSpec spec = pcie_tree({2, 2, 2, 2}, 2);
  spec.kind = "nvlink";
  spec.nvlink.wiring = NvlinkWiring::hybrid_cube_mesh;
  spec.nvlink.rate = 20 * giga;
  spec.nvlink.latency = microsecond;
  return spec;
}

/// Vertices and cables of 1 GB/s by name: "a", "b" are chips where `chips` says so, all else is a network switch.
inline ClusterSpec listed(const std::vector<std::string>& chips, const std::vector<std::string>& others,
                          std::vector<GraphCable> cables) {
  ClusterSpec spec;
  spec.kind = "links";
  spec.chip.name = "gpu";
  for (const std::string& name : chips) spec.graph.vertices.push_back({VertexKind::chip, name});
  for (const std::string& name : others) spec.graph.vertices.push_back({VertexKind::network_switch, name});
  spec.graph.cables = std::move(cables);
  return spec;
}

inline GraphCable wire(const std::string& from, const std::string& to, std::int64_t capacity = giga) {
  return {from, to, capacity, microsecond, "wire"};
}

/// Kinds of the links of the only route.
inline std::vector<std::string> route_kinds(const Cluster& cluster, ChipId from, ChipId to) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  EXPECT_EQ(routes.size(), 1U);
  EXPECT_TRUE(connects(cluster, routes[0].links, from, to));
  std::vector<std::string> kinds;
  for (const LinkId link : routes[0].links) kinds.push_back(cluster.link(link).kind);
  return kinds;
}

inline Picoseconds route_latency(const Cluster& cluster, ChipId from, ChipId to) {
  Picoseconds sum;
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  for (const LinkId link : routes[0].links) sum += cluster.link(link).latency;
  return sum;
}

/// What a transfer alone runs at, in whole kB/s (its end is rounded up to a picosecond).
inline double rate_alone(const Cluster& cluster, ChipId from, ChipId to) {
  Network network = cluster.network();
  const RouteId route = network.add_route(cluster.routes(from, to)[0].links);
  return std::round(1e18 / static_cast<double>(network.alone(route, 1'000'000'000).count())) * 1e3;
}

}  // namespace stepsim::testing
