// cluster.h: the cluster as a graph of links, with routes between chips.
//
// Chips have coordinates on *hardware axes*: the axes of a torus, the slot on a host ("device"), the slice of a
// multi-slice system ("dcn"). A builder (registered by name in builders.h) makes the graph; everything above asks
// only for axes, neighbours and routes. The outermost axis comes first; chip ids count row-major.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/registry.h"
#include "topology/chip.h"

namespace stepsim {

using ChipId = std::uint32_t;
using VertexId = std::uint32_t;

/// What a user asks for. Only the fields of the chosen kind count.
struct ClusterSpec {
  std::string kind;  // "torus", "pcie"
  ChipSpec chip;
  // torus
  std::vector<int> shape;   // extents of one slice: {16, 16, 32}
  std::vector<bool> wraps;  // per axis; empty: by the chip's rule. Given: a what-if, any extents the pod has chips for
  int slices = 1;           // joined by the data-center network when > 1
  // pcie
  int devices = 0;                      // in the host
  std::vector<int> devices_per_switch;  // {2, 2}: two switches, spread evenly over the root complexes; empty: one
  int root_complexes = 1;
  bool peer_to_peer = true;            // off: every transfer is staged through host memory
  std::int64_t host_memory_rate = 0;   // bytes/s, shared by all staged traffic, in and out counted each
  std::int64_t root_complex_rate = 0;  // bytes/s each way between a root complex and host memory
  Picoseconds staging_latency;         // added when staged through host memory
};

struct HardwareAxis {
  std::string name;  // "x", "y", "z", "device", "dcn"
  int extent = 1;
  bool wraps = false;
};

enum class VertexKind { chip, host, pcie_switch, root_complex, host_memory, network_switch };

struct Vertex {
  VertexKind kind = VertexKind::chip;
  std::string name;
  ChipId chip = UINT32_MAX;  // of a chip vertex
};

struct GraphLink {
  VertexId from = 0;
  VertexId to = 0;
  std::int64_t capacity = 0;
  Picoseconds latency;
  std::string kind;  // class of link for reports: "ici x+", "pcie up", "host memory", "dcn"
};

/// One of the routes between two chips and its share of the bytes (weights of all add up to the denominator).
struct WeightedRoute {
  std::vector<LinkId> links;
  int weight = 1;
};

class LinkGraph;

/// A cluster's graph and its axes. Built once, then only read.
class Cluster {
 public:
  struct Parts;  // what a builder hands over (builders.h)
  explicit Cluster(Parts parts);
  ~Cluster();
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;

  [[nodiscard]] const ClusterSpec& spec() const;
  [[nodiscard]] std::uint32_t chips() const;
  [[nodiscard]] const std::vector<HardwareAxis>& axes() const;
  [[nodiscard]] std::vector<int> coordinates(ChipId chip) const;
  [[nodiscard]] ChipId chip_at(std::span<const int> coordinates) const;

  [[nodiscard]] const std::vector<Vertex>& vertices() const;
  /// LinkId is the index here and in the Network made from it.
  [[nodiscard]] const std::vector<GraphLink>& links() const;

  /// The same in compressed sparse rows, for searches (link_graph.h).
  [[nodiscard]] const LinkGraph& graph() const;

  /// Links from a chip to the one `hops` away along an axis (negative: downward), straight along that axis. With a
  /// wrapped axis of extent 2, +1 and -1 are different links. Throws std::out_of_range past an open end. On axes
  /// "dcn" and "device", where any pair is connected, it is one route however many hops; they count as wrapped.
  [[nodiscard]] std::vector<LinkId> along(ChipId from, int axis, int hops) const;

  /// Routes for a point-to-point transfer, of least hops: on a torus one per rotation of the dimension order where
  /// they differ, and both ways round at the antipode; elsewhere one shortest path (ties: lowest link id). Between
  /// slices the data-center network, never inside one. From a chip to itself: one route without links.
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const;

  [[nodiscard]] int hosts() const;
  [[nodiscard]] int cores() const;
  /// Links of the longest of the routes between two chips.
  [[nodiscard]] int diameter() const;
  /// Capacity of the narrowest cut into halves across one axis, bytes/s, one way: what one half can send the other.
  /// (The convention of the Cloud TPU docs: v5e 16x16 has 2 cuts x 16 links x 50 GB/s = 1.6 TB/s.)
  [[nodiscard]] double bisection() const;

  /// Fresh network with these links and no routes.
  [[nodiscard]] Network network() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks the spec and builds; InputError names the keys under "cluster" ("cluster.shape"), several at once.
Cluster build(const ClusterSpec& spec);

using ClusterBuilder = std::function<Cluster(const ClusterSpec&)>;
Registry<ClusterBuilder> cluster_builders();

/// "v5p-4096" (cores), "v5e-256" (chips), "v5p-8x16x16" (shape) -> extents of one slice; InputError on `key` with what
/// would be valid. The chip's slice_prefix must match.
std::vector<int> slice_shape(const std::string& slice, const ChipSpec& chip, const std::string& key = "cluster.slice");

/// Graphviz text of the graph.
std::string to_dot(const Cluster& cluster);

}  // namespace stepsim
