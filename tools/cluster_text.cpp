// cluster_text.cpp: what a cluster is, in one phrase.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/format.h"
#include "tools/run_report.h"

namespace stepsim {

namespace {

/// "1 node", "4 nodes", "2 PCIe switches", "3 other vertices".
std::string counted(std::int64_t count, const std::string& one, const std::string& many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

std::string extents(const Cluster& cluster) {
  std::vector<std::string> parts;
  for (const HardwareAxis& axis : cluster.axes()) {
    if (axis.extent > 1 || cluster.axes().size() == 1) parts.push_back(std::to_string(axis.extent));
  }
  return parts.empty() ? "1" : fmt::format("{}", fmt::join(parts, "x"));
}

std::string nodes_text(const ClusterSpec& spec) {
  const NodesSpec& nodes = spec.nodes;
  std::int64_t count = 1;
  std::string units;
  for (const int extent : nodes.nodes) {
    count *= extent;
    units += (units.empty() ? "" : " x ") + std::to_string(extent);
  }
  const std::string several = nodes.nodes.size() > 1 ? " (" + units + ")" : "";
  std::string text = fmt::format("{}{} of {} {}", counted(count, "node", "nodes"), several, nodes.gpus, spec.chip.name);
  if (count == 1) return text;
  static const std::vector<std::string> wirings{"leaf and spine", "rail-optimised", "rail-only"};
  text += ", " + wirings.at(static_cast<std::size_t>(nodes.wiring));
  const auto blocks = [](const Ratio& ratio) { return ratio.times != ratio.over; };
  if (std::any_of(nodes.oversubscription.begin(), nodes.oversubscription.end(), blocks)) {
    std::vector<std::string> ratios;
    for (const Ratio& ratio : nodes.oversubscription) {
      ratios.push_back(fmt::format("{:.4g}:1", static_cast<double>(ratio.times) / static_cast<double>(ratio.over)));
    }
    text += fmt::format(", oversubscribed {}", fmt::join(ratios, ", "));
  }
  if (nodes.uplinks > 1) text += fmt::format(", flows hashed over {} ways up", nodes.uplinks);
  return text;
}

std::string staging_text(bool peer_to_peer) {
  return peer_to_peer ? "peer-to-peer on" : "peer-to-peer off (staged in host memory)";
}

std::string tree_text(const PcieTreeSpec& tree) {
  const auto switches = static_cast<std::int64_t>(tree.devices_per_switch.size());
  std::string text = counted(switches, "PCIe switch", "PCIe switches");
  if (!tree.switches_per_upper.empty()) {
    text += fmt::format(" under {}",
                        counted(static_cast<std::int64_t>(tree.switches_per_upper.size()), "upper one", "upper ones"));
  }
  text += ", " + counted(tree.sockets, "socket", "sockets");
  if (!tree.nics.empty()) text += ", " + counted(static_cast<std::int64_t>(tree.nics.size()), "NIC", "NICs");
  return text + ", " + staging_text(tree.peer_to_peer);
}

}  // namespace

std::string cluster_kind_text(const Cluster& cluster) {
  const ClusterSpec& spec = cluster.spec();
  const std::string chips = fmt::format("{} {}", grouped(cluster.chips()), spec.chip.name);
  if (spec.kind == "nodes") return nodes_text(spec);
  if (spec.kind == "pcie") return "PCIe host of " + chips + ", " + staging_text(spec.peer_to_peer);
  if (spec.kind == "pcie_tree") return "PCIe tree of " + chips + ", " + tree_text(spec.tree);
  if (spec.kind == "nvlink") {
    const bool pairs = spec.nvlink.wiring == NvlinkWiring::pairs;
    return chips + (pairs ? " in NVLink pairs, " : " in a hybrid cube mesh of NVLink, ") + tree_text(spec.tree);
  }
  if (spec.kind == "links") {
    return fmt::format(
        "listed graph of {}, {}, {}", chips,
        counted(static_cast<std::int64_t>(cluster.vertices() - cluster.chips()), "other vertex", "other vertices"),
        counted(static_cast<std::int64_t>(spec.graph.cables.size()), "cable", "cables"));
  }
  return fmt::format("{} {} of {}", extents(cluster), spec.twisted ? "twisted torus" : spec.kind, spec.chip.name);
}

}  // namespace stepsim
