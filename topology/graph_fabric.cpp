#include "topology/graph_fabric.h"

#include <algorithm>
#include <set>

#include "topology/graph_routes.h"

namespace stepsim {

GraphFabric::GraphFabric(const GraphSpec& graph) : graph_(graph) {
  add_vertices();
  add_links();
  add_ports();
  find_routes("cluster.links");
}

void GraphFabric::add_vertices() {
  for (const GraphVertex& vertex : graph_.vertices) {
    if (vertex.kind == VertexKind::chip) vertices_.push_back({vertex.kind, vertex.name, chips_++});
  }
  for (const GraphVertex& vertex : graph_.vertices) {
    if (vertex.kind != VertexKind::chip) vertices_.push_back({vertex.kind, vertex.name});
  }
}

void GraphFabric::add_links() {
  std::map<std::string, VertexId> ids;
  for (VertexId id = 0; id < vertices_.size(); ++id) ids[vertices_[id].name] = id;
  for (const GraphCable& cable : graph_.cables) {
    const VertexId from = ids.at(cable.from);
    const VertexId to = ids.at(cable.to);
    const auto there = static_cast<LinkId>(links_.size());
    links_.push_back({from, to, cable.capacity, cable.latency, cable.kind});
    const bool two = cable.both_ways && from != to;
    back_.push_back(two ? there + 1 : there);
    if (!two) continue;
    links_.push_back({to, from, cable.capacity, cable.latency, cable.kind});
    back_.push_back(there);
  }
}

void GraphFabric::add_ports() {
  std::map<std::string, VertexId> named;  // which vertex a port leads to
  const auto add = [&](ChipId chip, VertexId other, const std::string& word, LinkId link) {
    const std::string name = word + vertices_[other].name;
    std::string port = name;
    for (int number = 2; cables_.contains({chip, port}); ++number) port = name + " #" + std::to_string(number);
    cables_[{chip, port}] = link;
    named[port] = other;
  };
  for (LinkId id = 0; id < links_.size(); ++id) {
    if (links_[id].from < chips_) add(links_[id].from, links_[id].to, "", id);
    if (links_[id].to < chips_) add(links_[id].to, links_[id].from, "from ", id);
  }
  for (const auto& [port, vertex] : named) ports_.push_back(port);
  std::stable_sort(ports_.begin(), ports_.end(),
                   [&](const std::string& a, const std::string& b) { return named[a] < named[b]; });
}

void GraphFabric::find_routes(const std::string& key) {
  const GraphRoutes search(vertices_, links_, graph_.chips_relay, graph_.staged);
  routes_.clear();
  for (ChipId from = 0; from < chips_; ++from) {
    std::vector<std::optional<std::vector<LinkId>>> routes = search.from(from);
    for (ChipId to = 0; to < chips_; ++to) {
      if (!routes[to]) {
        throw InputError(
            {{{},
              key,
              "no route leads from '" + vertices_[from].name + "' to '" + vertices_[to].name +
                  "': expected links that connect every two chips" + (graph_.staged ? ", by way of host memory" : "") +
                  (graph_.chips_relay ? "" : " without leading through other chips")}});
      }
      routes_.push_back(std::move(*routes[to]));
    }
  }
}

void GraphFabric::set_faults(const LinkStates& states) {
  faulty_ = links_of(states);
  for (const LinkId id : faulty_) apply(states, id, links_[id]);
  const auto down = std::find_if(states.begin(), states.end(), [](const auto& state) { return state.second.down; });
  if (down != states.end()) find_routes(down->second.key + ".down");
}

int GraphFabric::diameter() const {
  std::size_t longest = 0;
  for (const std::vector<LinkId>& route : routes_) longest = std::max(longest, route.size());
  return static_cast<int>(longest);
}

void GraphFabric::along(ChipId from, int, int hops, std::vector<LinkId>& links) const {
  const auto chips = static_cast<std::int64_t>(chips_);
  const auto to = static_cast<ChipId>(((from + hops) % chips + chips) % chips);
  const std::vector<LinkId>& one = route(from, to);
  links.insert(links.end(), one.begin(), one.end());
}

std::optional<Fabric::Cable> GraphFabric::cable(ChipId chip, std::uint32_t port) const {
  const auto found = cables_.find({chip, ports_[port]});
  if (found == cables_.end()) return std::nullopt;
  return Cable{found->second, back_[found->second], true};
}

}  // namespace stepsim
