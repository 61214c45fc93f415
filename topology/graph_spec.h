// graph_spec.h: a cluster as a user or an importer lists it: vertices by name, and the cables between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/time.h"

namespace stepsim {

enum class VertexKind {
  chip,
  host,
  pcie_switch,
  root_complex,
  host_memory,
  network_switch,
  nvlink_switch,
  nic,
  socket  // a CPU: root complex and memory controller in one
};

struct GraphVertex {
  VertexKind kind = VertexKind::chip;
  std::string name;
  bool operator==(const GraphVertex&) const = default;
};

/// A cable between two vertices; both ways unless said otherwise.
struct GraphCable {
  std::string from;
  std::string to;
  std::int64_t capacity = 0;  // bytes/s, usable, one way
  Picoseconds latency;
  std::string kind;  // class for reports: "nvlink", "pcie", "socket", "ib"
  bool both_ways = true;
  bool operator==(const GraphCable&) const = default;
};

/// Chips count in the order in which they are listed, whatever stands between them.
struct GraphSpec {
  std::vector<GraphVertex> vertices;
  std::vector<GraphCable> cables;
  bool chips_relay = false;        // may a route lead through other chips? (GPUs do not forward)
  std::vector<std::string> notes;  // what an importer had to assume, for the user to read
  bool operator==(const GraphSpec&) const = default;
};

}  // namespace stepsim
