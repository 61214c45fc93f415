// picture_part.h: what of a cluster is drawn: all of it, or the first chips with what is above them.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

/// From the top.
enum class PartRow { network, nic, memory, socket, pcie_switch, chip, nvlink_switch };

struct PartVertex {
  VertexId id = 0;
  VertexKind kind = VertexKind::chip;
  std::string name;
  PartRow row = PartRow::chip;
  int level = 0;                        // inside the row's kind, from the top
  ChipId chip = 0;                      // the first of the chips that are nearest
  double order = 0;                     // in the row of chips: a NIC stands behind the chips of its switch
  std::vector<std::size_t> neighbours;  // indices into Part::vertices, each once
};

/// All links of one kind and state between two vertices.
struct PartBundle {
  std::size_t low = 0;  // indices into Part::vertices
  std::size_t high = 0;
  std::string kind;
  bool down = false;
  std::int64_t there = 0;  // from low to high, all together
  std::int64_t back = 0;
};

struct Part {
  std::vector<PartVertex> vertices;
  std::vector<PartBundle> bundles;
  std::vector<std::string> remarks;  // which part it is, unless it is all
};

Part part_to_draw(const Cluster& cluster);

}  // namespace stepsim
