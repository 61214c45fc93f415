#include "scenarios/host_tree.h"

#include <algorithm>

#include "scenarios/nccl_rates.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

/// "pcie" for "pcie up" and "pcie down".
std::string cable_kind(const std::string& kind) {
  for (const std::string way : {" up", " down"}) {
    if (kind.ends_with(way)) return kind.substr(0, kind.size() - way.size());
  }
  return kind;
}

/// Two links back and forth of one rate are a cable.
GraphSpec graph_of_links(const Cluster& cluster) {
  GraphSpec graph;
  for (VertexId id = 0; id < cluster.vertices(); ++id) {
    const Vertex vertex = cluster.vertex(id);
    graph.vertices.push_back({vertex.kind, vertex.name});
  }
  std::map<std::pair<VertexId, VertexId>, std::size_t> one_way;  // cables by their ends
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    const auto back = one_way.find({link.to, link.from});
    if (back != one_way.end() && graph.cables[back->second].capacity == link.capacity && link.from != link.to) {
      graph.cables[back->second].both_ways = true;
      one_way.erase(back);
      continue;
    }
    one_way[{link.from, link.to}] = graph.cables.size();
    graph.cables.push_back({graph.vertices[link.from].name, graph.vertices[link.to].name, link.capacity, link.latency,
                            cable_kind(link.kind), false});
  }
  return graph;
}

bool in_tree(VertexKind kind) {
  return kind == VertexKind::chip || kind == VertexKind::pcie_switch || kind == VertexKind::root_complex ||
         kind == VertexKind::nic || kind == VertexKind::socket;
}

/// Kinds that run beside PCIe. Those of PCIe have many names: of a slot, of a switch's way up, of a root complex.
bool is_of_its_own(const std::string& kind) {
  return kind == "nvlink" || kind == "xgmi" || kind == "c2c" || kind == "socket" || kind == "net";
}

bool has_others_below(VertexKind kind) {
  return kind == VertexKind::pcie_switch || kind == VertexKind::root_complex || kind == VertexKind::socket;
}

}  // namespace

GraphSpec described_host(const Cluster& cluster, const std::string& option) {
  const ClusterSpec& spec = cluster.spec();
  if (!spec.graph.vertices.empty()) return spec.graph;
  if (cluster.hosts() > 1 || spec.kind == "torus")
    throw InputError(option, "expected a single host of GPUs, found " + std::to_string(cluster.hosts()) +
                                 " host(s) of kind " + spec.kind);
  return graph_of_links(cluster);
}

std::size_t HostTree::top(std::size_t vertex) const {
  while (vertex != none && parent[vertex] != none) vertex = parent[vertex];
  return std::find(tops.begin(), tops.end(), vertex) == tops.end() ? none : vertex;
}

bool is_bridge(const GraphSpec& graph, const HostTree& tree, const GraphCable& cable) {
  const auto is_switch = [&](const std::string& name) {
    return graph.vertices[tree.number.at(name)].kind == VertexKind::pcie_switch;
  };
  return cable.kind == "pcie" && cable.capacity == nccl_local_rate && is_switch(cable.from) && is_switch(cable.to);
}

HostTree host_tree(const GraphSpec& graph) {
  HostTree tree;
  const std::size_t count = graph.vertices.size();
  for (std::size_t v = 0; v < count; ++v) tree.number[graph.vertices[v].name] = v;
  tree.parent.assign(count, HostTree::none);
  tree.cable.assign(count, HostTree::none);
  tree.children.resize(count);
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> next(count);  // vertex, cable
  for (std::size_t c = 0; c < graph.cables.size(); ++c) {
    const GraphCable& cable = graph.cables[c];
    const std::size_t a = tree.number.at(cable.from);
    const std::size_t b = tree.number.at(cable.to);
    if (is_of_its_own(cable.kind) || !cable.both_ways || a == b || is_bridge(graph, tree, cable)) continue;
    if (!in_tree(graph.vertices[a].kind) || !in_tree(graph.vertices[b].kind)) continue;
    next[a].emplace_back(b, c);
    next[b].emplace_back(a, c);
  }
  std::vector<bool> seen(count, false);
  const auto grow = [&](std::vector<std::size_t> queue) {
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const auto& [other, cable] : next[queue[at]]) {
        if (seen[other] || !has_others_below(graph.vertices[queue[at]].kind)) continue;
        seen[other] = true;
        tree.parent[other] = queue[at];
        tree.cable[other] = cable;
        tree.children[queue[at]].push_back(other);
        queue.push_back(other);
      }
    }
  };
  for (const VertexKind kind : {VertexKind::socket, VertexKind::root_complex}) {
    std::vector<std::size_t> found;
    for (std::size_t v = 0; v < count; ++v) {
      if (graph.vertices[v].kind == kind && !seen[v]) found.push_back(v);
    }
    for (const std::size_t v : found) seen[v] = true;
    tree.tops.insert(tree.tops.end(), found.begin(), found.end());
    grow(found);
  }
  return tree;
}

}  // namespace stepsim
