// dot.cpp: the graph as Graphviz text. A link and the one back are drawn as one edge where they are alike.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "topology/cluster.h"

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

// "ici x+" and "ici x-", "pcie up" and "pcie down" are the two directions of one cable.
std::string cable(const std::string& kind) {
  if (kind.ends_with('+') || kind.ends_with('-')) return kind.substr(0, kind.size() - 1);
  const std::size_t space = kind.rfind(' ');
  const std::string last = kind.substr(space + 1);
  return last == "up" || last == "down" ? kind.substr(0, space) : kind;
}

std::string label(const GraphLink& link) {
  const std::string rate = fmt::format("{:.4g} GB/s", static_cast<double>(link.capacity) / 1e9);
  return cable(link.kind) + " " + (link.down ? "down" : rate);
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
