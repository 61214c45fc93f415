// link_faults.h: the faults of a ClusterSpec, checked against a cluster and found on its links.
#pragma once

#include <map>

#include "sim/input_error.h"
#include "topology/builders.h"

namespace stepsim {

/// What a fault makes of one link.
struct LinkState {
  std::uint32_t part = 1;
  std::uint32_t of = 1;
  bool down = false;
  std::string key;  // of the fault: "faults.links.0", or "faults.cables.0" for both directions
};

using LinkStates = std::map<LinkId, LinkState>;

/// The faulty links; InputError with everything that is wrong in the spec's faults (chips too), under
/// "faults.chips.N", "faults.links.N" and "faults.cables.N".
LinkStates find_faults(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes, const Fabric& healthy);

std::vector<LinkId> links_of(const LinkStates& states);

/// The link as its fault leaves it, if it has one.
void apply(const LinkStates& states, LinkId id, GraphLink& link);

}  // namespace stepsim
