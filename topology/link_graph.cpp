#include "topology/link_graph.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <limits>
#include <stdexcept>

namespace stepsim {

namespace {

constexpr LinkId no_link = std::numeric_limits<LinkId>::max();

struct EdgeLink {
  LinkId link = no_link;
};
using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeLink>;

// Notes the link by which each vertex is first reached. Out-edges are in order of link ids and the queue is first-in
// first-out, so that is the last link of the least path.
struct FirstLink : boost::default_bfs_visitor {
  std::vector<LinkId>* reached_by = nullptr;
  std::vector<int>* distance = nullptr;

  void tree_edge(const Graph::edge_descriptor& edge, const Graph& graph) const {
    (*reached_by)[target(edge, graph)] = graph[edge].link;
    (*distance)[target(edge, graph)] = (*distance)[source(edge, graph)] + 1;
  }
};

struct Search {
  std::vector<LinkId> reached_by;
  std::vector<int> distance;
};

Search search(const Graph& graph, VertexId from) {
  Search found{std::vector<LinkId>(num_vertices(graph), no_link), std::vector<int>(num_vertices(graph), -1)};
  found.distance[from] = 0;
  FirstLink visitor;
  visitor.reached_by = &found.reached_by;
  visitor.distance = &found.distance;
  boost::breadth_first_search(graph, from, boost::visitor(visitor));
  return found;
}

}  // namespace

struct LinkGraph::Impl {
  Graph graph;
  std::vector<VertexId> from_of_link;
};

LinkGraph::LinkGraph(std::size_t vertices, const std::vector<GraphLink>& links) : impl_(new Impl) {
  std::vector<LinkId> order;
  for (LinkId link = 0; link < links.size(); ++link) {
    if (!links[link].down) order.push_back(link);
  }
  std::stable_sort(order.begin(), order.end(), [&](LinkId a, LinkId b) { return links[a].from < links[b].from; });

  std::vector<std::pair<VertexId, VertexId>> edges;
  std::vector<EdgeLink> properties;
  for (const LinkId link : order) {
    edges.emplace_back(links[link].from, links[link].to);
    properties.push_back({link});
  }
  impl_->graph = Graph(boost::edges_are_sorted, edges.begin(), edges.end(), properties.begin(), vertices);
  for (const GraphLink& link : links) impl_->from_of_link.push_back(link.from);
}

LinkGraph::~LinkGraph() = default;
LinkGraph::LinkGraph(LinkGraph&&) noexcept = default;
LinkGraph& LinkGraph::operator=(LinkGraph&&) noexcept = default;

std::vector<LinkId> LinkGraph::shortest_path(VertexId from, VertexId to) const {
  const Search found = search(impl_->graph, from);
  if (found.distance[to] < 0) {
    throw std::logic_error("no path from vertex " + std::to_string(from) + " to vertex " + std::to_string(to));
  }
  std::vector<LinkId> path;
  for (VertexId at = to; at != from; at = impl_->from_of_link[path.back()]) path.push_back(found.reached_by[at]);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<int> LinkGraph::distances(VertexId from) const {
  return search(impl_->graph, from).distance;
}

LinkGraph link_graph(const Cluster& cluster) {
  std::vector<GraphLink> links;
  for (LinkId id = 0; id < cluster.links(); ++id) links.push_back(cluster.link(id));
  return {cluster.vertices(), links};
}

}  // namespace stepsim
