#include "topology/graph_routes.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace stepsim {

bool is_on_host(VertexKind kind) {
  return kind == VertexKind::pcie_switch || kind == VertexKind::root_complex || kind == VertexKind::socket ||
         kind == VertexKind::host;
}

int crossings(VertexKind kind) {
  return kind == VertexKind::host_memory ? 2 : 1;
}

// Breadth first, all shortest paths: the arcs by which a node is first reached, and the best bottleneck over them.
struct GraphRoutes::Search {
  std::size_t source = 0;
  std::vector<int> distance;                 // per node; -1: not reached
  std::vector<std::int64_t> bottleneck;      // per node
  std::vector<std::vector<Arc>> reached_by;  // per node
};

GraphRoutes::GraphRoutes(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links, bool chips_relay,
                         bool staged)
    : vertices_(&vertices),
      links_(&links),
      chips_relay_(chips_relay),
      staged_(staged),
      out_(vertices.size()),
      itself_(vertices.size()),
      passes_(vertices.size(), std::numeric_limits<std::int64_t>::max()) {
  for (const Vertex& vertex : vertices) chips_ += vertex.kind == VertexKind::chip;
  for (LinkId id = 0; id < links.size(); ++id) {
    const GraphLink& link = links[id];
    if (link.down) continue;
    if (link.from != link.to) {
      out_[link.from].push_back(id);
      continue;
    }
    itself_[link.from].push_back(id);
    passes_[link.from] = std::min(passes_[link.from], link.capacity / crossings(vertices[link.from].kind));
  }
}

// The node that a link leads to, unless a staged transfer may not end there.
std::optional<std::size_t> GraphRoutes::step(std::size_t node, LinkId link) const {
  const VertexId to = (*links_)[link].to;
  const VertexKind kind = (*vertices_)[to].kind;
  std::size_t stage = node % stages;
  if (staged_) {
    if (kind == VertexKind::host_memory) stage = stored;
    if (is_on_host(kind) && stage == outside) stage = entered;
  }
  if (kind == VertexKind::chip) {
    if (stage == entered) return std::nullopt;
    stage = outside;
  }
  return static_cast<std::size_t>(to) * stages + stage;
}

GraphRoutes::Search GraphRoutes::search(ChipId from) const {
  const std::size_t nodes = vertices_->size() * stages;
  Search found{static_cast<std::size_t>(from) * stages, std::vector<int>(nodes, -1),
               std::vector<std::int64_t>(nodes, 0), std::vector<std::vector<Arc>>(nodes)};
  found.distance[found.source] = 0;
  found.bottleneck[found.source] = std::numeric_limits<std::int64_t>::max();
  std::deque<std::size_t> queue{found.source};
  while (!queue.empty()) {
    const std::size_t node = queue.front();
    queue.pop_front();
    const std::size_t vertex = node / stages;
    const bool passed = node != found.source;
    if (passed && vertex < chips_ && !chips_relay_) continue;
    for (const LinkId link : out_[vertex]) {
      const std::optional<std::size_t> to = step(node, link);
      if (!to) continue;
      if (found.distance[*to] < 0) {
        found.distance[*to] = found.distance[node] + 1;
        queue.push_back(*to);
      }
      if (found.distance[*to] != found.distance[node] + 1) continue;
      const std::int64_t capacity =
          passed ? std::min((*links_)[link].capacity, passes_[vertex]) : (*links_)[link].capacity;
      found.bottleneck[*to] = std::max(found.bottleneck[*to], std::min(found.bottleneck[node], capacity));
      found.reached_by[*to].push_back({node, *to, link, capacity});
    }
  }
  return found;
}

void GraphRoutes::cross(VertexId vertex, std::vector<LinkId>& path) const {
  for (const LinkId link : itself_[vertex]) path.insert(path.end(), crossings((*vertices_)[vertex].kind), link);
}

// Back from the end over all arcs wide enough, noting the least link on from each node; then along those.
std::vector<LinkId> GraphRoutes::path(const Search& found, std::size_t to) const {
  std::vector<Arc> next(found.distance.size());
  std::vector<bool> marked(found.distance.size(), false);
  std::deque<std::size_t> queue{to};
  marked[to] = true;
  while (!queue.empty()) {
    const std::size_t node = queue.front();
    queue.pop_front();
    for (const Arc& arc : found.reached_by[node]) {
      if (arc.capacity < found.bottleneck[to]) continue;
      if (!marked[arc.from]) queue.push_back(arc.from);
      if (!marked[arc.from] || arc.link < next[arc.from].link) next[arc.from] = arc;
      marked[arc.from] = true;
    }
  }
  std::vector<LinkId> links;
  for (std::size_t node = found.source; node != to; node = next[node].to) {
    if (node != found.source) cross(static_cast<VertexId>(node / stages), links);
    links.push_back(next[node].link);
  }
  return links;
}

std::vector<std::optional<std::vector<LinkId>>> GraphRoutes::from(ChipId chip) const {
  const Search found = search(chip);
  std::vector<std::optional<std::vector<LinkId>>> routes(chips_);
  for (ChipId to = 0; to < chips_; ++to) {
    const std::size_t node = static_cast<std::size_t>(to) * stages;
    if (found.distance[node] >= 0) routes[to] = path(found, node);
  }
  return routes;
}

}  // namespace stepsim
