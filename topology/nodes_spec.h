// nodes_spec.h: nodes of GPUs as a user asks for them: a switch inside each, NICs and tiers of switches between them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace stepsim {

/// Which leaf a NIC is plugged into.
///   leaf_spine: all NICs of a node into the same leaf
///   rail_optimised: NIC i of every node into leaf i of the unit (its rail); spines join all leaves
///   rail_only: the same, but spines join leaves of one rail only; a transfer to another rail relays over NVLink
enum class Wiring { leaf_spine, rail_optimised, rail_only };

/// How a transfer to another node reaches a GPU on another rail: over the spine, or first over NVLink to the GPU of its
/// own node that is on the receiver's rail (NCCL's PXN). With one tier of switches there is no spine: the latter.
enum class CrossRail { spine, pxn };

struct Ratio {
  std::int64_t times = 1;
  std::int64_t over = 1;
};

struct NodesSpec {
  int gpus = 8;                  // per node
  std::int64_t switch_rate = 0;  // bytes/s of a GPU into the node's switch, one way
  Picoseconds switch_latency;    // GPU to GPU through it
  int nics = 0;                  // per node; neighbouring GPUs share one when there are fewer
  std::int64_t nic_rate = 0;     // bytes/s, one way
  Picoseconds nic_latency;       // NIC to NIC through one leaf
  Wiring wiring = Wiring::leaf_spine;
  CrossRail cross_rail = CrossRail::spine;
  std::vector<int> nodes{1};            // outermost first: {16, 32} is 16 units of 32 nodes, a tier of switches each
  std::vector<Ratio> oversubscription;  // per tier below the top, leaves first: what comes in / what goes up
  Picoseconds tier_latency;             // added for each tier above the leaves, once
  int uplinks = 0;                      // per switch, each flow hashed to one; 0: packets are sprayed over all
  std::uint64_t ecmp_seed = 0;
};

}  // namespace stepsim
