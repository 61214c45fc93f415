// graph_fabric.h: a listed graph as the Fabric of a cluster: links as listed, the route between each pair found once.
//
// A cable is one link, or two (there, and back with the next id) when it carries both ways. Ports of a chip are named
// by where its cables lead: "switch 0" is the link to that vertex, "from switch 0" the one from it; the second of
// several cables to one vertex is "switch 0 #2". Routes are those of the healthy capacities: a degraded link is still
// used, one that is down is not, and a pair that this cuts off is an InputError.
#pragma once

#include <map>

#include "topology/graph_spec.h"
#include "topology/link_faults.h"

namespace stepsim {

class GraphFabric : public Fabric {
 public:
  /// The graph is checked (listed.cpp); InputError on "cluster.links" when two chips have no route.
  explicit GraphFabric(const GraphSpec& graph);

  /// Applied to the links; routes are found anew when some are down.
  void set_faults(const LinkStates& states);

  [[nodiscard]] std::uint32_t chips() const { return chips_; }
  [[nodiscard]] const std::vector<Vertex>& all_vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<GraphLink>& all_links() const { return links_; }
  /// Links of the longest route.
  [[nodiscard]] int diameter() const;

  [[nodiscard]] std::size_t vertices() const override { return vertices_.size(); }
  [[nodiscard]] Vertex vertex(VertexId id) const override { return vertices_[id]; }
  [[nodiscard]] std::size_t links() const override { return links_.size(); }
  [[nodiscard]] GraphLink link(LinkId id) const override { return links_[id]; }
  void along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const override;
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const override { return {{route(from, to)}}; }
  [[nodiscard]] std::vector<LinkId> faulty_links() const override { return faulty_; }
  [[nodiscard]] std::uint32_t host_of(ChipId) const override { return 0; }
  [[nodiscard]] std::vector<std::string> ports() const override { return ports_; }
  [[nodiscard]] std::optional<Cable> cable(ChipId chip, std::uint32_t port) const override;
  [[nodiscard]] std::optional<LinkOwner> owner(LinkId) const override { return std::nullopt; }

 private:
  void add_vertices();
  void add_links();
  void add_ports();
  void find_routes(const std::string& key);
  [[nodiscard]] const std::vector<LinkId>& route(ChipId from, ChipId to) const {
    return routes_[from * static_cast<std::size_t>(chips_) + to];
  }

  GraphSpec graph_;
  std::uint32_t chips_ = 0;
  std::vector<Vertex> vertices_;  // chips first
  std::vector<GraphLink> links_;
  std::vector<LinkId> back_;  // per link: the other way of its cable, or itself
  std::vector<LinkId> faulty_;
  std::vector<std::vector<LinkId>> routes_;  // [from * chips + to]
  std::vector<std::string> ports_;
  std::map<std::pair<ChipId, std::string>, LinkId> cables_;  // by chip and port
};

}  // namespace stepsim
