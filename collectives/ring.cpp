#include "collectives/ring.h"

#include <algorithm>

namespace stepsim {

namespace {

AxisFlow pass_round(std::uint32_t steps, Bytes bytes) {
  if (bytes == 0) return {};
  return {.sends = steps, .receives = steps, .bytes = bytes, .ahead = 0};
}

double flow_time(const AxisFlow& flow, const LinkCost& link) {
  return flow.sends * link.transfer(flow.bytes);
}

}  // namespace

AxisFlows ring_flows(std::uint32_t n, RingStyle style, Bytes bundle) {
  switch (style) {
    case RingStyle::one_way:
      return {.up = pass_round(n - 1, bundle), .down = {}};
    case RingStyle::halves:
      return {.up = pass_round(n - 1, bundle - bundle / 2), .down = pass_round(n - 1, bundle / 2)};
    case RingStyle::whole_shards:
      return {.up = pass_round(n / 2, bundle), .down = pass_round((n - 1) / 2, bundle)};
  }
  throw std::logic_error("unknown ring style");
}

double ring_time(std::uint32_t n, RingStyle style, Bytes bundle, const LinkCost& link) {
  const AxisFlows flows = ring_flows(n, style, bundle);
  return std::max(flow_time(flows.up, link), flow_time(flows.down, link));
}

bool gathers_per_direction(RingStyle style) {
  return style != RingStyle::whole_shards;
}

}  // namespace stepsim
