// builders.h: what a builder of clusters hands over, and the builders that ship.
//
// A builder checks its fields of the ClusterSpec and makes a Fabric, which answers for vertices and links by id and
// says how transfers travel: `along` for neighbours on an axis, `routes` for any pair. Chips are vertices
// 0..chips-1, so a ChipId is a VertexId.
#pragma once

#include <optional>

#include "topology/cluster.h"

namespace stepsim {

/// Vertices, links and ways of one kind of cluster: the functions of Cluster of the same names, their arguments
/// checked.
class Fabric {
 public:
  virtual ~Fabric() = default;

  [[nodiscard]] virtual std::size_t vertices() const = 0;
  [[nodiscard]] virtual Vertex vertex(VertexId id) const = 0;
  [[nodiscard]] virtual std::size_t links() const = 0;
  [[nodiscard]] virtual GraphLink link(LinkId id) const = 0;
  virtual void along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const = 0;
  [[nodiscard]] virtual std::vector<WeightedRoute> routes(ChipId from, ChipId to) const = 0;
  [[nodiscard]] virtual std::vector<LinkId> faulty_links() const = 0;
  [[nodiscard]] virtual std::vector<Detour> detours() const { return {}; }
  [[nodiscard]] virtual std::uint32_t host_of(ChipId chip) const = 0;

  /// Names of the ports that chips and their hosts have, by port number.
  [[nodiscard]] virtual std::vector<std::string> ports() const = 0;
  /// The link of a port of a chip or its host, and the one back on the same cable; nothing past an open end.
  struct Cable {
    LinkId link = 0;
    LinkId back = 0;          // the same link where the cable carries one way only
    bool has_detour = false;  // transfers can go round it
  };
  [[nodiscard]] virtual std::optional<Cable> cable(ChipId chip, std::uint32_t port) const = 0;

  /// Where routes are words over ports.
  [[nodiscard]] virtual std::optional<LinkOwner> owner(LinkId link) const = 0;
};

struct Cluster::Parts {
  ClusterSpec spec;
  std::vector<HardwareAxis> axes;  // outermost first; product of extents = chips
  std::unique_ptr<const Fabric> fabric;
  int hosts = 0;
  std::uint32_t host_places = 0;  // hosts that own links
  bool routes_are_words = false;
  int diameter = 0;      // links of the longest route
  double bisection = 0;  // bytes/s one way
};

/// torus.cpp: slices of ICI torus or mesh, joined by the data-center network.
Cluster build_torus(const ClusterSpec& spec);

/// pcie_host.cpp: one host with devices under PCIe switches and root complexes.
Cluster build_pcie_host(const ClusterSpec& spec);

/// listed.cpp: vertices and cables as listed in the spec's graph, most_listed_chips at most.
Cluster build_listed(const ClusterSpec& spec);
inline constexpr int most_listed_chips = 1024;

/// pcie_tree.cpp: devices under PCIe switches under one or two sockets. The graph alone, checked, and the cluster.
GraphSpec pcie_tree_graph(const ClusterSpec& spec);
Cluster build_pcie_tree(const ClusterSpec& spec);

/// nvlink.cpp: NVLink from chip to chip, over a PCIe tree. The graph alone, checked, and the cluster.
GraphSpec nvlink_graph(const ClusterSpec& spec);
Cluster build_nvlink(const ClusterSpec& spec);

}  // namespace stepsim
