// dot.cpp: the graph as Graphviz text. A link and the one back are drawn as one edge where they are alike.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "topology/summary.h"

namespace stepsim {

namespace {

const char* shape_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::chip:
      return "box";
    case VertexKind::host:
      return "house";
    case VertexKind::pcie_switch:
      return "hexagon";
    case VertexKind::root_complex:
      return "trapezium";
    case VertexKind::host_memory:
      return "cylinder";
    case VertexKind::network_switch:
    case VertexKind::nvlink_switch:
      return "ellipse";
    case VertexKind::nic:
      return "cds";
    case VertexKind::socket:
      return "octagon";
  }
  return "box";
}

std::string label(const GraphLink& link) {
  const std::string rate = fmt::format("{:.4g} GB/s", static_cast<double>(link.capacity) / 1e9);
  return cable_kind(link.kind) + " " + (link.down ? "down" : rate);
}

}  // namespace

std::string to_dot(const Cluster& cluster) {
  std::string text = "digraph cluster {\n  edge [dir=both];\n";
  for (VertexId id = 0; id < cluster.vertices(); ++id) {
    const Vertex vertex = cluster.vertex(id);
    text += fmt::format("  v{} [label=\"{}\", shape={}];\n", id, vertex.name, shape_of(vertex.kind));
  }
  // Links whose way back has not been drawn yet: (from, to, label) -> how many.
  std::map<std::tuple<VertexId, VertexId, std::string>, int> drawn;
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    const std::string name = label(link);
    int& back = drawn[{link.to, link.from, name}];
    if (back > 0 && link.from != link.to) {
      --back;
      continue;
    }
    ++drawn[{link.from, link.to, name}];
    text += fmt::format("  v{} -> v{} [label=\"{}\"];\n", link.from, link.to, name);
  }
  return text + "}\n";
}

}  // namespace stepsim
