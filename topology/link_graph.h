// link_graph.h: vertices and links as a sparse graph, for shortest paths. Links that are down are not in it.
//
// Held in compressed sparse rows (Boost.Graph). A path is least in links; of several the one that is least when the
// link ids are compared in order, so it does not depend on how the search runs.
#pragma once

#include <memory>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

class LinkGraph {
 public:
  LinkGraph(std::size_t vertices, const std::vector<GraphLink>& links);
  ~LinkGraph();
  LinkGraph(LinkGraph&&) noexcept;
  LinkGraph& operator=(LinkGraph&&) noexcept;

  /// Links in order; empty when from == to. Throws std::logic_error when there is no path.
  [[nodiscard]] std::vector<LinkId> shortest_path(VertexId from, VertexId to) const;

  /// Links of the shortest path to every vertex; -1 where there is none.
  [[nodiscard]] std::vector<int> distances(VertexId from) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All vertices and links of a cluster.
LinkGraph link_graph(const Cluster& cluster);

}  // namespace stepsim
