#include "collectives/line.h"

namespace stepsim {

namespace {

// One direction, seen from a member with `behind` members on the side the data comes from and `before` on the other.
AxisFlow gather_flow(std::uint32_t behind, std::uint32_t before, Bytes bundle) {
  return {.sends = before == 0 ? 0 : behind + 1, .receives = behind, .bytes = bundle, .ahead = 0};
}

AxisFlow reduce_flow(std::uint32_t behind, std::uint32_t before, Bytes bundle) {
  // The last of what comes in is for this member itself. A partial sum cannot leave before the one it adds to came.
  if (behind == 0) return {.sends = before, .receives = 0, .bytes = bundle, .ahead = 0};
  return {.sends = before, .receives = before + 1, .bytes = bundle, .ahead = 1};
}

}  // namespace

AxisFlows line_flows(std::uint32_t n, std::uint32_t position, CollectivePhase phase, Bytes bundle) {
  if (bundle == 0) return {};
  const std::uint32_t below = position;
  const std::uint32_t above = n - 1 - position;
  const auto flow = phase == CollectivePhase::all_gather ? gather_flow : reduce_flow;
  return {.up = flow(below, above, bundle), .down = flow(above, below, bundle)};
}

double line_time(std::uint32_t n, Bytes bundle, const LinkCost& link) {
  return bundle == 0 ? 0 : (n - 1) * link.transfer(bundle);
}

}  // namespace stepsim
