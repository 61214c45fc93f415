// stage.h: one axis of a collective as one member sees it.
//
// A collective over several axes goes through them one after the other. On one axis every member of a ring or line
// has one bundle (all shards it gathered on earlier axes) and passes bundles to its two neighbours: "up" towards
// higher positions, "down" towards lower ones. ring.h and line.h say how many, how large, and after what.
#pragma once

#include <cstdint>

#include "sim/time.h"

namespace stepsim {

enum class CollectivePhase { reduce_scatter, all_gather };

/// One direction. `sends` leave through the member's port of this direction; `receives` come in from the neighbour
/// behind, moving the same way. If any come in, transfer i (from 0) waits for ahead + i of them.
struct AxisFlow {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  Bytes bytes = 0;  // of each transfer
  std::uint32_t ahead = 0;
};

struct AxisFlows {
  AxisFlow up;
  AxisFlow down;
};

/// What one link of an axis gives.
struct LinkCost {
  double rate = 0;     // bytes/s one way
  double latency = 0;  // seconds

  [[nodiscard]] double transfer(Bytes bytes) const { return latency + static_cast<double>(bytes) / rate; }
};

}  // namespace stepsim
