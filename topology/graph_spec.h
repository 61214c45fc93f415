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

/// "chip", "pcie_switch", ... in order of VertexKind: as users write them (listed.cpp).
const std::vector<std::string>& vertex_kind_names();

struct GraphVertex {
  VertexKind kind = VertexKind::chip;
  std::string name;
  bool operator==(const GraphVertex&) const = default;
};

/// A cable between two vertices; both ways unless said otherwise. From a vertex to itself: what the vertex can carry in
/// all; crossed once by every transfer that passes the vertex, twice at host memory (written, then read).
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
  bool staged = false;             // no peer-to-peer: what passes switches or sockets goes through host memory
  bool operator==(const GraphSpec&) const = default;
};

}  // namespace stepsim
