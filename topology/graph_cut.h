// graph_cut.h: the bisection of a listed graph: the least that one half of the chips can send to the other half.
//
// What passes between two sets of chips is a maximum flow (Ford & Fulkerson 1956): links carry their capacity, and a
// vertex with a link to itself carries that capacity, host memory half of it (written and read). Over all splits into
// two equal halves (one chip more on one side when odd) the least is taken, in the worse direction.
//   Up to 16 chips every split is tried. Above that, by convention, one: chips in listed order, cut in the middle.
// Staged graphs: the flow is bounded further by what the host's memories carry, by what the senders can write to them
// and by what the receivers can read, beside what goes from chip to chip without entering the host.
#pragma once

#include <vector>

#include "topology/cluster.h"

namespace stepsim {

inline constexpr std::uint32_t most_chips_to_split = 16;

/// bytes/s, one way; 0 for one chip. Chips are the first vertices.
double graph_bisection(const std::vector<Vertex>& vertices, const std::vector<GraphLink>& links, bool staged);

}  // namespace stepsim
