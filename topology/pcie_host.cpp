// pcie_host.cpp: one host: devices under PCIe switches, switches under root complexes, those on host memory.
//
// Peer to peer, a transfer goes device -> switch -> device, or on through root complexes; between two root complexes
// it takes their links to the host's memory side without touching memory. Staged (GeForce cards without peer access;
// NCCL's host path), every transfer is written to host memory and read back: up the tree, the memory twice, down the
// tree. Memory is a link from its vertex to itself that all staged traffic shares. The up link of a root complex
// carries the staging latency, which every staged transfer crosses once.
// A switch's way up is one PCIe link of the device's rate.
#include <algorithm>
#include <memory>
#include <numeric>

#include "topology/link_faults.h"
#include "topology/link_graph.h"

namespace stepsim {

namespace {

constexpr int max_devices = 1024;

std::vector<int> devices_per_switch(const ClusterSpec& spec) {
  return spec.devices_per_switch.empty() ? std::vector<int>{spec.devices} : spec.devices_per_switch;
}

bool has_host_memory(const ClusterSpec& spec) {
  return !spec.peer_to_peer || spec.root_complexes > 1 || spec.root_complex_rate > 0;
}

void check_tree(const ClusterSpec& spec, std::vector<Problem>& problems) {
  const std::vector<int> per_switch = devices_per_switch(spec);
  const auto switches = static_cast<int>(per_switch.size());
  if (spec.devices < 1 || spec.devices > max_devices) {
    problems.push_back({{},
                        "cluster.devices",
                        "expected 1 to " + std::to_string(max_devices) + ", found " + std::to_string(spec.devices)});
    return;
  }
  const std::int64_t sum = std::accumulate(per_switch.begin(), per_switch.end(), std::int64_t{0});
  if (*std::min_element(per_switch.begin(), per_switch.end()) < 1 || sum != spec.devices) {
    problems.push_back({{},
                        "cluster.devices_per_switch",
                        "expected counts of 1 or more that add up to " + std::to_string(spec.devices) +
                            " devices, found a sum of " + std::to_string(sum)});
  }
  if (spec.root_complexes < 1 || spec.root_complexes > switches) {
    problems.push_back({{},
                        "cluster.root_complexes",
                        "expected 1 to " + std::to_string(switches) + " (each has at least one switch), found " +
                            std::to_string(spec.root_complexes)});
  }
}

void check_rates(const ClusterSpec& spec, std::vector<Problem>& problems) {
  if (spec.chip.pcie_rate < 1) {
    problems.push_back({{}, "cluster.chip", spec.chip.name + " has no PCIe rate (pcie_rate)"});
  }
  if (has_host_memory(spec) && spec.root_complex_rate < 1) {
    problems.push_back({{},
                        "cluster.root_complex_rate",
                        "expected a rate between root complex and host memory: transfers cross it here"});
  }
  if (!spec.peer_to_peer && spec.host_memory_rate < 1) {
    problems.push_back({{},
                        "cluster.host_memory_rate",
                        "expected a rate: without peer-to-peer every transfer is staged through host memory"});
  }
}

void check(const ClusterSpec& spec) {
  std::vector<Problem> problems;
  check_tree(spec, problems);
  check_rates(spec, problems);
  if (!problems.empty()) throw InputError(problems);
}

// The host as a tree; vertices in order devices, switches, root complexes, host memory.
struct Host {
  std::vector<int> switch_of;  // per device
  std::vector<int> root_of;    // per switch
  VertexId first_switch = 0;
  VertexId first_root = 0;
  VertexId memory = 0;
};

Host make_host(const ClusterSpec& spec) {
  Host host;
  const std::vector<int> per_switch = devices_per_switch(spec);
  const auto switches = static_cast<int>(per_switch.size());
  for (int s = 0; s < switches; ++s) {
    host.switch_of.insert(host.switch_of.end(), static_cast<std::size_t>(per_switch[s]), s);
    host.root_of.push_back(s * spec.root_complexes / switches);
  }
  host.first_switch = static_cast<VertexId>(spec.devices);
  host.first_root = host.first_switch + static_cast<VertexId>(switches);
  host.memory = host.first_root + static_cast<VertexId>(spec.root_complexes);
  return host;
}

std::vector<Vertex> make_vertices(const ClusterSpec& spec, const Host& host) {
  std::vector<Vertex> vertices;
  for (ChipId id = 0; id < host.first_switch; ++id) {
    vertices.push_back({VertexKind::chip, "device " + std::to_string(id), id});
  }
  for (VertexId id = host.first_switch; id < host.first_root; ++id) {
    vertices.push_back({VertexKind::pcie_switch, "switch " + std::to_string(id - host.first_switch)});
  }
  for (VertexId id = host.first_root; id < host.memory; ++id) {
    vertices.push_back({VertexKind::root_complex, "root complex " + std::to_string(id - host.first_root)});
  }
  if (has_host_memory(spec)) vertices.push_back({VertexKind::host_memory, "host memory"});
  return vertices;
}

std::vector<GraphLink> make_links(const ClusterSpec& spec, const Host& host) {
  std::vector<GraphLink> links;
  const ChipSpec& chip = spec.chip;
  const auto pair = [&](VertexId below, VertexId above, const std::string& kind) {
    links.push_back({below, above, chip.pcie_rate, chip.pcie_latency, kind + " up"});
    links.push_back({above, below, chip.pcie_rate, chip.pcie_latency, kind + " down"});
  };
  for (ChipId id = 0; id < host.first_switch; ++id) {
    pair(id, host.first_switch + static_cast<VertexId>(host.switch_of[id]), "pcie");
  }
  for (VertexId id = host.first_switch; id < host.first_root; ++id) {
    pair(id, host.first_root + static_cast<VertexId>(host.root_of[id - host.first_switch]), "switch");
  }
  if (!has_host_memory(spec)) return links;
  const Picoseconds staging = spec.peer_to_peer ? Picoseconds() : spec.staging_latency;
  for (VertexId id = host.first_root; id < host.memory; ++id) {
    links.push_back({id, host.memory, spec.root_complex_rate, staging, "root complex up"});
    links.push_back({host.memory, id, spec.root_complex_rate, Picoseconds(), "root complex down"});
  }
  if (!spec.peer_to_peer) {
    links.push_back({host.memory, host.memory, spec.host_memory_rate, Picoseconds(), "host memory"});
  }
  return links;
}

// Links from each device to each, [from * devices + to].
std::vector<std::vector<LinkId>> all_routes(const ClusterSpec& spec, const Host& host, const LinkGraph& graph,
                                            LinkId memory_link) {
  std::vector<std::vector<LinkId>> routes;
  for (ChipId from = 0; from < host.first_switch; ++from) {
    for (ChipId to = 0; to < host.first_switch; ++to) {
      std::vector<LinkId> route;
      if (from != to && spec.peer_to_peer) route = graph.shortest_path(from, to);
      if (from != to && !spec.peer_to_peer) {
        route = graph.shortest_path(from, host.memory);
        route.insert(route.end(), {memory_link, memory_link});
        const std::vector<LinkId> down = graph.shortest_path(host.memory, to);
        route.insert(route.end(), down.begin(), down.end());
      }
      routes.push_back(std::move(route));
    }
  }
  return routes;
}

// Devices under each switch that belong to one half (the lower or the upper ids).
std::vector<int> half_under_switch(const Host& host, bool upper) {
  std::vector<int> count(host.root_of.size(), 0);
  const std::size_t half = host.switch_of.size() / 2;
  for (std::size_t id = 0; id < host.switch_of.size(); ++id) count[host.switch_of[id]] += (id >= half) == upper;
  return count;
}

// What one half of the devices can send to host memory together (or receive from it).
double rate_to_memory(const ClusterSpec& spec, const Host& host, bool upper) {
  std::vector<double> at_root(static_cast<std::size_t>(spec.root_complexes), 0);
  const std::vector<int> under = half_under_switch(host, upper);
  for (std::size_t s = 0; s < under.size(); ++s) {
    at_root[host.root_of[s]] += static_cast<double>(spec.chip.pcie_rate) * std::min(under[s], 1);
  }
  double sum = 0;
  for (const double rate : at_root) sum += std::min(rate, static_cast<double>(spec.root_complex_rate));
  return sum;
}

// The cheapest cut of the tree with the halves on either side: cost of a vertex on side 0 or 1, from the leaves up.
double tree_cut(const ClusterSpec& spec, const Host& host) {
  struct Cost {
    double side[2] = {0, 0};
    void add(const Cost& below, double link) {
      const double other[2] = {below.side[1] + link, below.side[0] + link};
      for (int s = 0; s < 2; ++s) side[s] += std::min(below.side[s], other[s]);
    }
    [[nodiscard]] double least() const { return std::min(side[0], side[1]); }
  };
  const auto pcie = static_cast<double>(spec.chip.pcie_rate);
  const std::vector<int> lower = half_under_switch(host, false);
  const std::vector<int> upper = half_under_switch(host, true);
  std::vector<Cost> roots(static_cast<std::size_t>(spec.root_complexes));
  for (std::size_t s = 0; s < lower.size(); ++s) {
    roots[host.root_of[s]].add({{upper[s] * pcie, lower[s] * pcie}}, pcie);
  }
  Cost memory;
  for (const Cost& root : roots) memory.add(root, static_cast<double>(spec.root_complex_rate));
  return roots.size() == 1 ? roots[0].least() : memory.least();
}

double bisection(const ClusterSpec& spec, const Host& host) {
  if (spec.devices < 2) return 0;
  if (spec.peer_to_peer) return tree_cut(spec, host);
  const double memory = static_cast<double>(spec.host_memory_rate) / 2;  // each byte crosses it twice
  return std::min({rate_to_memory(spec, host, false), rate_to_memory(spec, host, true), memory});
}

// Vertices and links as listed; the way between each pair, found once.
class PcieFabric : public Fabric {
 public:
  explicit PcieFabric(const ClusterSpec& spec) : devices_(spec.devices) {
    const Host host = make_host(spec);
    vertices_ = make_vertices(spec, host);
    links_ = make_links(spec, host);
    const auto memory_link = static_cast<LinkId>(links_.size() - 1);
    routes_ = all_routes(spec, host, LinkGraph(vertices_.size(), links_), memory_link);
  }

  void set_faults(const LinkStates& states) {
    faulty_ = links_of(states);
    for (const LinkId id : faulty_) apply(states, id, links_[id]);
  }

  [[nodiscard]] int diameter() const {
    std::size_t longest = 0;
    for (const std::vector<LinkId>& route : routes_) longest = std::max(longest, route.size());
    return static_cast<int>(longest);
  }

  [[nodiscard]] std::size_t vertices() const override { return vertices_.size(); }
  [[nodiscard]] Vertex vertex(VertexId id) const override { return vertices_[id]; }
  [[nodiscard]] std::size_t links() const override { return links_.size(); }
  [[nodiscard]] GraphLink link(LinkId id) const override { return links_[id]; }
  void along(ChipId from, int, int hops, std::vector<LinkId>& links) const override {
    const int to = ((static_cast<int>(from) + hops) % devices_ + devices_) % devices_;
    const std::vector<LinkId>& one = route(from, static_cast<ChipId>(to));
    links.insert(links.end(), one.begin(), one.end());
  }
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const override { return {{route(from, to)}}; }
  [[nodiscard]] std::vector<LinkId> faulty_links() const override { return faulty_; }
  [[nodiscard]] std::uint32_t host_of(ChipId) const override { return 0; }
  [[nodiscard]] std::vector<std::string> ports() const override { return {"pcie up", "pcie down"}; }
  // make_links lists the links of the devices first, up and down in turn.
  [[nodiscard]] std::optional<Cable> cable(ChipId chip, std::uint32_t port) const override {
    return Cable{2 * chip + port, 2 * chip + 1 - port};
  }
  [[nodiscard]] std::optional<LinkOwner> owner(LinkId) const override { return std::nullopt; }

 private:
  [[nodiscard]] const std::vector<LinkId>& route(ChipId from, ChipId to) const {
    return routes_[from * static_cast<std::size_t>(devices_) + to];
  }

  int devices_ = 0;
  std::vector<Vertex> vertices_;
  std::vector<GraphLink> links_;
  std::vector<LinkId> faulty_;
  std::vector<std::vector<LinkId>> routes_;  // [from * devices + to]
};

}  // namespace

Cluster build_pcie_host(const ClusterSpec& spec) {
  check(spec);
  auto fabric = std::make_unique<PcieFabric>(spec);
  Cluster::Parts parts;
  parts.spec = spec;
  parts.axes = {{"device", spec.devices, spec.devices > 1, true}};
  parts.hosts = 1;
  parts.bisection = bisection(spec, make_host(spec));
  parts.diameter = fabric->diameter();
  fabric->set_faults(find_faults(spec, parts.axes, *fabric));
  parts.fabric = std::move(fabric);
  return Cluster(std::move(parts));
}

}  // namespace stepsim
