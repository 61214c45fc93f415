// host_tree.h: a described host as the tree of PCIe that other tools write down: sockets, what hangs from them, and the rest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

/// Vertices and cables of a single host, its chips first. InputError on `option` for clusters of several hosts or slices.
GraphSpec described_host(const Cluster& cluster, const std::string& option);

struct HostTree {
  static constexpr std::size_t none = SIZE_MAX;

  std::vector<std::size_t> tops;                   // sockets; root complexes that hang from none
  std::vector<std::size_t> parent;                 // per vertex: the one that it hangs from
  std::vector<std::size_t> cable;                  // per vertex: by which cable
  std::vector<std::vector<std::size_t>> children;  // per vertex, in the order of their cables
  std::map<std::string, std::size_t> number;       // of a vertex by name

  /// The top above a vertex, itself for tops; none for what hangs from nothing.
  [[nodiscard]] std::size_t top(std::size_t vertex) const;
};

/// By cables that are both ways and no NVLink or the like, nearest to the sockets first. What it does not reach hangs from
/// nothing.
HostTree host_tree(const GraphSpec& graph);

/// Cables of kind "pcie" between two switches that carry what NCCL takes for no bottleneck: not part of the tree.
bool is_bridge(const GraphSpec& graph, const HostTree& tree, const GraphCable& cable);

}  // namespace stepsim
