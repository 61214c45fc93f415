// graph_routes.h: routes between the chips of a listed graph.
//
// A route has as few links as can be; of those it has the greatest bottleneck, and of those the link ids that are least
// when compared in order. It does not lead through other chips unless they relay. A link from a vertex to itself is
// what that vertex can carry: a route that passes the vertex crosses it (host memory twice: written, read) and it counts
// towards the bottleneck, but not as a hop.
// Staged graphs: a route that enters the host (switch, root complex, socket) passes host memory before it ends at a
// chip; NVLink from chip to chip does not enter the host. Two chips with an NVLink use it, being one hop.
#pragma once

#include <optional>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

/// Switches and sockets of PCIe: where a staged transfer has to go through memory.
bool is_on_host(VertexKind kind);

/// How often a transfer that passes a vertex crosses its link to itself.
int crossings(VertexKind kind);

class GraphRoutes {
 public:
  /// Chips are the first vertices. Links that are down are left out.
  GraphRoutes(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links, bool chips_relay, bool staged);

  /// The route to each chip; nothing where there is none.
  [[nodiscard]] std::vector<std::optional<std::vector<LinkId>>> from(ChipId chip) const;

 private:
  // A node of the search is a vertex and how far staging has come there.
  enum Stage { outside, entered, stored, stages };
  struct Arc {
    std::size_t from = 0;  // nodes
    std::size_t to = 0;
    LinkId link = 0;
    std::int64_t capacity = 0;  // of the link and of the vertex passed before it
  };
  struct Search;

  [[nodiscard]] std::optional<std::size_t> step(std::size_t node, LinkId link) const;
  [[nodiscard]] Search search(ChipId from) const;
  [[nodiscard]] std::vector<LinkId> path(const Search& found, std::size_t to) const;
  void cross(VertexId vertex, std::vector<LinkId>& path) const;

  const std::vector<Vertex>* vertices_;
  const std::vector<GraphLink>* links_;
  bool chips_relay_;
  bool staged_;
  std::uint32_t chips_ = 0;
  std::vector<std::vector<LinkId>> out_;     // per vertex, in order of ids
  std::vector<std::vector<LinkId>> itself_;  // per vertex: its links to itself
  std::vector<std::int64_t> passes_;         // per vertex: what it lets pass
};

}  // namespace stepsim
