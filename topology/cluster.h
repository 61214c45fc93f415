// cluster.h: the cluster as a graph of links, with routes between chips.
//
// Chips have coordinates on *hardware axes*: the axes of a torus, the slot on a host ("device"), the slice of a
// multi-slice system ("dcn"). A builder (registered by name in builders.h) makes the cluster; everything above asks
// only for axes, neighbours and routes. The outermost axis comes first; chip ids count row-major. Nothing is listed:
// vertices and links of a torus are computed from their ids, so that half a million chips cost no more than one.
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
#include "topology/faults.h"
#include "topology/graph_spec.h"
#include "topology/host_spec.h"
#include "topology/nodes_spec.h"

namespace stepsim {

using ChipId = std::uint32_t;
using VertexId = std::uint32_t;

/// What a user asks for. Only the fields of the chosen kind count.
struct ClusterSpec {
  std::string kind;  // "torus", "pcie", "links", "pcie_tree", "nvlink", "nodes"
  ChipSpec chip;
  // torus
  std::vector<int> shape;   // extents of one slice: {16, 16, 32}
  std::vector<bool> wraps;  // per axis; empty: by the chip's rule. Given: a what-if, any extents the pod has chips for
  bool twisted = false;     // wraparounds of the short axes shifted (twist.h): K x K x 2K and K x 2K x 2K
  int slices = 1;           // joined by the data-center network when > 1
  // pcie
  int devices = 0;                      // in the host
  std::vector<int> devices_per_switch;  // {2, 2}: two switches, spread evenly over the root complexes; empty: one
  int root_complexes = 1;
  bool peer_to_peer = true;            // off: every transfer is staged through host memory
  std::int64_t host_memory_rate = 0;   // bytes/s, shared by all staged traffic, in and out counted each
  std::int64_t root_complex_rate = 0;  // bytes/s each way between a root complex and host memory
  Picoseconds staging_latency;         // added when staged through host memory
  // links: vertices and cables as listed; also what importers and the builders of single nodes hand over
  GraphSpec graph;
  NodesSpec nodes;
  // pcie_tree and nvlink; the graph above is made from them
  PcieTreeSpec tree;
  NvlinkSpec nvlink;
  // any
  std::vector<ChipFault> chip_faults;
  std::vector<LinkFault> link_faults;
};

struct HardwareAxis {
  std::string name;  // "x", "y", "z", "device", "dcn"
  int extent = 1;
  bool wraps = false;
  bool direct = false;          // any pair along it is connected by one route: "dcn", "device"
  std::vector<int> twist = {};  // steps that going round upward adds along each axis (twist.h); empty: none
};

struct Vertex {
  VertexKind kind = VertexKind::chip;
  std::string name;
  ChipId chip = UINT32_MAX;  // of a chip vertex
};

struct GraphLink {
  VertexId from = 0;
  VertexId to = 0;
  std::int64_t capacity = 0;  // bytes/s, as any fault leaves it; 1 when down
  Picoseconds latency;
  std::string kind;   // class of link for reports: "ici x+", "pcie up", "host memory", "dcn up"
  bool down = false;  // it has its id, but no route crosses it
};

/// Where a link belongs: every link is the only one of its `port` at its `place`.
struct LinkOwner {
  std::uint32_t place = 0;  // chip id, or chips() + number of a host
  std::uint32_t port = 0;   // Cluster::port_name
  friend bool operator==(const LinkOwner&, const LinkOwner&) = default;
};

/// How transfers get round a link that is down.
struct Detour {
  ChipId from = 0;
  ChipId to = 0;
  std::string port;  // of the link: "x+"
  std::vector<ChipId> through;
};

/// One of the routes between two chips and its share of the bytes (weights of all add up to the denominator).
struct WeightedRoute {
  std::vector<LinkId> links;
  int weight = 1;
};

/// A cluster's axes, links and routes. Built once, then only read.
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

  /// The chip `hops` away along an axis (negative: downward), round the end where the axis wraps or is direct; where it
  /// is twisted, as the cables go: K steps lead to another row.
  /// std::out_of_range past an open end.
  [[nodiscard]] ChipId step(ChipId from, int axis, int hops) const;

  /// Number of vertices, chips first: vertex c < chips() is chip c.
  [[nodiscard]] std::size_t vertices() const;
  [[nodiscard]] Vertex vertex(VertexId id) const;

  /// Number of links; LinkIds are 0 ... links() - 1, here and in the Network made from it.
  [[nodiscard]] std::size_t links() const;
  [[nodiscard]] GraphLink link(LinkId id) const;

  /// True when a route is a word over ports: from place to place by the one link of a port (owner). Without detours the
  /// words of `along` are the same from every chip, but for the open ends. False on a PCIe host.
  [[nodiscard]] bool routes_are_words() const;
  /// An ICI link belongs to the chip that sends on it (port 2 x axis, + 1 downward), both PCIe links to the chip, both
  /// links of a NIC to the host. std::logic_error unless routes_are_words.
  [[nodiscard]] LinkOwner owner(LinkId link) const;
  /// Chips, and hosts where they have links: places are 0 ... places() - 1.
  [[nodiscard]] std::uint32_t places() const;
  /// Labelled edges between places that belong together however they are used: from a chip to its NIC, from a NIC to its
  /// leaf. Empty where hosts say it all.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> edges_between_places() const;
  /// May the words of like moves differ from chip to chip: round links that are down, or where flows are hashed?
  [[nodiscard]] bool ways_differ() const;
  /// Number of the chip's host, from 0.
  [[nodiscard]] std::uint32_t host_of(ChipId chip) const;
  /// "x+", "pcie up", "dcn up": as LinkFault names them.
  [[nodiscard]] std::string port_name(std::uint32_t port) const;

  /// Links from a chip to the one `hops` away along an axis (negative: downward), straight along that axis; a link that
  /// is down is replaced by its detour. With a wrapped axis of extent 2, +1 and -1 are different links. Throws
  /// std::out_of_range past an open end. On direct axes it is one route however many hops; they count as wrapped.
  [[nodiscard]] std::vector<LinkId> along(ChipId from, int axis, int hops) const;
  /// The same, appended.
  void along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const;

  /// Routes for a point-to-point transfer, of least hops: on a torus one per rotation of the dimension order where
  /// they differ, and both ways round at the antipode (twisted: all shortest ways); elsewhere one shortest path (ties: lowest link id). Between
  /// slices the data-center network, never inside one. From a chip to itself: one route without links. Those that cross
  /// a link that is down are left out; if that is all of them, one shortest path round (ties: ports in order).
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const;

  /// Links with a fault, degraded or down, in order of link ids.
  [[nodiscard]] std::vector<LinkId> faulty_links() const;

  /// One per link that is down, in order of link ids: the shortest path round it (ties: ports in order).
  [[nodiscard]] std::vector<Detour> detours() const;

  // Figures of the cluster without faults.
  [[nodiscard]] int hosts() const;
  [[nodiscard]] int cores() const;
  /// Links of the longest of the routes between two chips.
  [[nodiscard]] int diameter() const;
  /// Capacity of the narrowest cut into halves across one axis, bytes/s, one way: what one half can send the other.
  /// (The convention of the Cloud TPU docs: v5e 16x16 has 2 cuts x 16 links x 50 GB/s = 1.6 TB/s.)
  [[nodiscard]] double bisection() const;

  /// Fresh network with these links and no routes. A link that is down keeps its id, with capacity 1.
  [[nodiscard]] Network network() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks the spec and builds; InputError names the keys under "cluster" ("cluster.shape") and "faults"
/// ("faults.links.0.port"; those of both directions are "faults.cables"), several at once.
Cluster build(const ClusterSpec& spec);

using ClusterBuilder = std::function<Cluster(const ClusterSpec&)>;
Registry<ClusterBuilder> cluster_builders();

/// "v5p-4096" (cores), "v5e-256" (chips), "v5p-8x16x16" (shape) -> extents of one slice; InputError on `key` with what
/// would be valid. The chip's slice_prefix must match.
std::vector<int> slice_shape(const std::string& slice, const ChipSpec& chip, const std::string& key = "cluster.slice");

/// Graphviz text of the graph.
std::string to_dot(const Cluster& cluster);

}  // namespace stepsim
