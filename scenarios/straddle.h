// straddle.h: mesh axes that straddle slow links: tensor 16 over two nodes of 8, a ring that leaves its NVLink pair.
//
// From each member of a group to the next a step gets capacity / flows of its narrowest link, all groups of the axis
// stepping at once. An axis straddles where one of its steps gets half of what another gets, or less: the collective
// runs at the pace of the slow one. Members come in the order in which they are sent round: as laid on the mesh, and in
// a listed graph in the order of the first ring that NCCL's search would find (ring_order.h). Faults do not count, nor
// do strides along a torus: groups that lie between each other share links, but links as fast as any.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"
#include "topology/mesh.h"

namespace stepsim {

struct Straddle {
  std::string axis;
  int extent = 1;
  double fast = 0;  // bytes/s of a step
  double slow = 0;
  std::vector<std::string> fast_kinds;  // of the links that set these rates: "nvlink"
  std::vector<std::string> slow_kinds;
  std::uint32_t steps = 0;                         // of the first group that has slow ones
  std::uint32_t slow_steps = 0;                    // of them
  std::vector<std::pair<ChipId, ChipId>> between;  // the first of the slow ones
  int fits =
      1;  // the largest extent in whose stead all steps are fast, with neighbours along the axis; 1: there is none
};

inline constexpr std::size_t most_straddling_steps = 4;  // told one by one

/// One for each mesh axis that straddles, in order of the axes.
std::vector<Straddle> straddles(const Scenario& scenario, const Cluster& cluster, const Mesh& mesh);

}  // namespace stepsim
