// twisted_ways.h: groups whose wraparounds are shifted (GroupAxis::shift): who is reached by which steps.
//
// A group that has the whole of a twisted slice, or of one shifted axis and all that it is shifted along, is a twisted
// torus itself: members are the same from everywhere, so the same steps lead each of them to another. Laws and sources:
// topology/twist.h.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/mesh.h"

namespace stepsim {

/// Is any wraparound of the group shifted?
bool is_twisted(const std::vector<GroupAxis>& shape);

/// Does every member see the same along this axis: a ring, with a shift or without?
bool is_round(const GroupAxis& axis);

/// Shortest steps to one other member, and which of how many they are.
struct TwistedWay {
  std::vector<int> steps;  // per axis
  std::uint32_t number = 0;
  std::uint32_t of = 1;
};

/// All shortest ways to every other member (along open axes: to every displacement that some member can take).
std::vector<TwistedWay> twisted_ways(const std::vector<GroupAxis>& shape);

/// The rank that steps lead to; no_member past an open end.
std::uint32_t end_of(const std::vector<GroupAxis>& shape, std::uint32_t member, const std::vector<int>& steps);

}  // namespace stepsim
