// listed.cpp: a cluster as listed: chips, what stands between them, and the cables from one to another.
//
// One hardware axis, "device", of the chips in listed order, on which any two are joined by one route (graph_routes.h).
// Bisection: graph_cut.h.
#include <algorithm>
#include <map>

#include "topology/graph_cut.h"
#include "topology/graph_fabric.h"

namespace stepsim {

const std::vector<std::string>& vertex_kind_names() {
  static const std::vector<std::string> names = {
      "chip", "host", "pcie_switch", "root_complex", "host_memory", "network_switch", "nvlink_switch", "nic", "socket"};
  return names;
}

namespace {

constexpr std::int64_t most_capacity_in_all = 4'000'000'000'000'000'000;  // sums of capacities stay below 2^63

std::string found(std::int64_t number) {
  return ", found " + std::to_string(number);
}

class GraphCheck {
 public:
  explicit GraphCheck(const GraphSpec& graph) : graph_(graph) {}

  void check() {
    check_vertices();
    for (std::size_t i = 0; i < graph_.cables.size(); ++i) {
      check_cable(graph_.cables[i], "cluster.links." + std::to_string(i));
    }
    if (in_all_ > most_capacity_in_all) problem("cluster.links", "expected capacities that add up to at most 4 EB/s");
    if (!problems_.empty()) throw InputError(problems_);
  }

 private:
  void problem(const std::string& key, const std::string& message) { problems_.push_back({{}, key, message}); }

  // Vertices are given by kind: the key of one is its number among those of its kind.
  void check_vertices() {
    std::map<VertexKind, int> of_kind;
    for (const GraphVertex& vertex : graph_.vertices) {
      const std::string key = "cluster.vertices." + vertex_kind_names()[static_cast<std::size_t>(vertex.kind)] + "." +
                              std::to_string(of_kind[vertex.kind]++);
      if (vertex.name.empty()) problem(key, "expected a name, found an empty text");
      const bool is_new = kinds_.emplace(vertex.name, vertex.kind).second;
      if (!is_new) problem(key, "the name '" + vertex.name + "' is given twice: expected one of its own");
      if (is_new) names_.push_back(vertex.name);
    }
    const int chips = of_kind[VertexKind::chip];
    if (chips < 1 || chips > most_listed_chips) {
      problem("cluster.vertices", "expected 1 to " + std::to_string(most_listed_chips) + " chips" + found(chips));
    }
  }

  void check_end(const std::string& name, const std::string& key) {
    if (kinds_.contains(name)) return;
    const std::string near = nearest(name, names_);
    problem(key, "expected the name of a vertex, found '" + name + "'" +
                     (near.empty() ? "" : ", did you mean '" + near + "'?"));
  }

  void check_cable(const GraphCable& cable, const std::string& key) {
    check_end(cable.from, key + ".from");
    check_end(cable.to, key + ".to");
    if (cable.capacity < 1 || cable.capacity > max_capacity) {
      problem(key + ".rate", "expected 1 to " + std::to_string(max_capacity) + " bytes/s" + found(cable.capacity));
    } else if (in_all_ <= most_capacity_in_all) {
      in_all_ += 2 * cable.capacity;
    }
    if (cable.latency < Picoseconds()) problem(key + ".latency", "expected a time of 0 or more");
    const auto kind = kinds_.find(cable.from);
    if (cable.from == cable.to && kind != kinds_.end() && kind->second == VertexKind::chip) {
      problem(key + ".to", "expected another vertex: transfers do not pass the chip '" + cable.from + "'");
    }
  }

  const GraphSpec& graph_;
  std::map<std::string, VertexKind> kinds_;
  std::vector<std::string> names_;
  std::int64_t in_all_ = 0;
  std::vector<Problem> problems_;
};

}  // namespace

Cluster build_listed(const ClusterSpec& spec) {
  GraphCheck(spec.graph).check();
  auto fabric = std::make_unique<GraphFabric>(spec.graph);
  const auto chips = static_cast<int>(fabric->chips());
  Cluster::Parts parts;
  parts.spec = spec;
  parts.axes = {{"device", chips, chips > 1, true}};
  parts.hosts = 1;
  parts.diameter = fabric->diameter();
  parts.bisection = graph_bisection(fabric->all_vertices(), fabric->all_links(), spec.graph.staged);
  fabric->set_faults(find_faults(spec, parts.axes, *fabric));
  parts.fabric = std::move(fabric);
  return Cluster(std::move(parts));
}

}  // namespace stepsim
