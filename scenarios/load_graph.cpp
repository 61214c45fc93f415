// load_graph.cpp: single hosts under `cluster:`: graphs as listed, PCIe trees, NVLink over them.
//
//   kind: links
//   vertices: {chip: [gpu 0, gpu 1], pcie_switch: [switch]}
//   links: [{from: gpu 0, to: switch, rate: 32 GB/s, latency: 1 us, kind: pcie}]
// What the graph must be (names, ends, ways between chips) is the builder's check.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/load_sections.h"
#include "sim/network.h"

namespace stepsim {
namespace {

constexpr Range some_rate{1, max_capacity};
constexpr Range any_rate{0, max_capacity};
constexpr Range devices{1, 1024};

/// The list called `name`, or an empty one; a value of another kind is reported.
std::vector<YamlValue> list_of(Section& cluster, const std::string& name, const std::string& form, bool required) {
  const YamlValue* value = cluster.find(name);
  if (value == nullptr && required) cluster.problem(name, "missing: expected a list of " + form);
  if (value == nullptr) return {};
  if (value->kind == YamlValue::Kind::list) return value->items;
  cluster.problem(name, "expected a list of " + form + ", found " + describe(*value));
  return {};
}

void read_names(Section& vertices, const std::string& kind, GraphSpec& graph) {
  const auto& kinds = vertex_kind_names();
  const auto number = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
  YamlValue map;  // of the items by number, so that each is read with its place
  map.kind = YamlValue::Kind::map;
  for (const YamlValue& item : list_of(vertices, kind, "names", false)) {
    map.set({std::to_string(map.keys.size()), item.place}, item);
  }
  Section names(vertices.findings(), map, vertices.full(kind), vertices.place());
  for (const YamlKey& key : map.keys) {
    graph.vertices.push_back({static_cast<VertexKind>(number), names.text(key.name, std::nullopt)});
  }
}

void read_vertices(Section& cluster, GraphSpec& graph) {
  const YamlValue* value = cluster.find("vertices");
  if (value == nullptr) {
    cluster.problem("vertices", "missing: expected names by kind such as {chip: [gpu 0, gpu 1], pcie_switch: [sw]}");
    return;
  }
  Section vertices(cluster.findings(), *value, cluster.full("vertices"), value->place);
  if (!vertices.usable()) return;
  const auto& kinds = vertex_kind_names();
  for (const YamlKey& key : value->keys) {
    if (std::find(kinds.begin(), kinds.end(), key.name) != kinds.end()) read_names(vertices, key.name, graph);
  }
  for (const std::string& kind : kinds) vertices.find(kind);  // known, and so suggested for others
  vertices.done();
}

GraphCable read_cable(Section& link) {
  GraphCable cable;
  cable.from = link.text("from", std::nullopt);
  cable.to = link.text("to", std::nullopt);
  cable.capacity = link.rate("rate", some_rate, std::nullopt);
  cable.latency = link.time("latency", Picoseconds(0));
  cable.kind = link.text("kind", "link");
  cable.both_ways = link.flag("both_ways", true);
  return cable;
}

/// Each item of a list of maps.
template <class Read>
void read_items(Section& cluster, const std::string& name, const std::string& form, bool required, Read read) {
  const std::vector<YamlValue> items = list_of(cluster, name, form, required);
  for (std::size_t i = 0; i < items.size(); ++i) {
    Section item(cluster.findings(), items[i], cluster.full(name) + "." + std::to_string(i), items[i].place);
    if (!item.usable()) continue;
    read(item);
    item.done();
  }
}

NicPlace read_nic(Section& nic) {
  NicPlace place;
  const std::string chosen = nic.one_of("switch", "socket");
  if (chosen.empty()) nic.problem("switch", "missing: expected the number of a switch, or of a 'socket'");
  if (chosen == "switch") place.at_switch = nic.small_count("switch", {0, 1023}, std::nullopt);
  if (chosen == "socket") place.at_socket = nic.small_count("socket", {0, 1}, std::nullopt);
  place.rate = nic.rate("rate", any_rate, 0);
  return place;
}

void read_tree(Section& cluster, Section& chip, ClusterSpec& spec, const std::optional<std::vector<int>>& per_switch,
               int sockets) {
  PcieTreeSpec& tree = spec.tree;
  read_host_link(chip, spec.chip);
  if (spec.chip.pcie_rate == 0) {
    chip.problem("pcie_rate", fmt::format("expected more than 0, as kind {} is on PCIe", spec.kind));
  }
  tree.devices_per_switch = cluster.counts("devices_per_switch", devices, per_switch);
  tree.switches_per_upper = cluster.counts("switches_per_upper", devices, std::vector<int>{});
  tree.sockets = cluster.small_count("sockets", {1, 2}, sockets);
  tree.switch_rate = cluster.rate("switch_rate", any_rate, 0);
  tree.socket_rate = tree.sockets > 1 ? cluster.rate("socket_rate", some_rate, std::nullopt)
                                      : cluster.rate("socket_rate", any_rate, 0);
  tree.socket_latency = cluster.time("socket_latency", Picoseconds(0));
  tree.peer_to_peer = cluster.flag("peer_to_peer", true);
  tree.intel_peers = cluster.flag("intel_peers", false);
  const std::optional<std::int64_t> unused = tree.peer_to_peer ? std::optional<std::int64_t>(0) : std::nullopt;
  const Range rate = tree.peer_to_peer ? any_rate : some_rate;
  tree.host_memory_rate = cluster.rate("host_memory_rate", rate, unused);
  tree.memory_link_rate = cluster.rate("memory_link_rate", rate, unused);
  tree.staging_latency = cluster.time("staging_latency", Picoseconds(0));
  read_items(cluster, "nics", "{switch, rate}", false, [&](Section& nic) { tree.nics.push_back(read_nic(nic)); });
}

}  // namespace

void read_links(Section& cluster, Section& chip, ClusterSpec& spec) {
  chip.unused(interconnect_keys(), "with kind links");
  chip.unused({"pcie_rate", "pcie_latency"}, "with kind links");
  read_vertices(cluster, spec.graph);
  read_items(cluster, "links", "{from, to, rate}", true,
             [&](Section& link) { spec.graph.cables.push_back(read_cable(link)); });
  spec.graph.chips_relay = cluster.flag("chips_relay", false);
  spec.graph.staged = !cluster.flag("peer_to_peer", true);
}

void read_pcie_tree(Section& cluster, Section& chip, ClusterSpec& spec) {
  chip.unused(interconnect_keys(), "with kind pcie_tree");
  read_tree(cluster, chip, spec, std::nullopt, 1);
}

void read_nvlink(Section& cluster, Section& chip, ClusterSpec& spec) {
  chip.unused(interconnect_keys(), "with kind nvlink");
  spec.nvlink.wiring = static_cast<NvlinkWiring>(cluster.choice("wiring", {"pairs", "hybrid_cube_mesh"}, std::nullopt));
  spec.nvlink.rate = cluster.rate("nvlink_rate", some_rate, std::nullopt);
  spec.nvlink.latency = cluster.time("nvlink_latency", Picoseconds(0));
  if (spec.nvlink.wiring == NvlinkWiring::hybrid_cube_mesh) {
    cluster.unused({"nvlinks"}, "with wiring hybrid_cube_mesh: the links are known");
    read_tree(cluster, chip, spec, std::vector<int>{2, 2, 2, 2}, 2);
    return;
  }
  spec.nvlink.links = cluster.small_count("nvlinks", {1, 64}, 1);
  read_tree(cluster, chip, spec, std::nullopt, 1);
}

std::int64_t listed_chips(const ClusterSpec& cluster) {
  if (cluster.kind == "links") {
    return std::count_if(cluster.graph.vertices.begin(), cluster.graph.vertices.end(),
                         [](const GraphVertex& vertex) { return vertex.kind == VertexKind::chip; });
  }
  std::int64_t chips = 0;
  for (const int count : cluster.tree.devices_per_switch) chips += count;
  return chips;
}

}  // namespace stepsim
