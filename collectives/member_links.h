// member_links.h: what the links of one member give a collective that does not go along the group's axes.
//
// A transfer of its own takes at least the least latency and streams at most at the greatest rate of the axes. All a
// member sends leaves through all its links: one each way per open axis (a switch), two per ring.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "collectives/collective.h"
#include "collectives/stage.h"

namespace stepsim {

/// The best that any single transfer can get: no link is faster than the fastest axis, no way shorter than its shortest
/// step. std::invalid_argument where there is no axis.
inline LinkCost best_link(const AxisRates& rates) {
  if (rates.rate.empty() || rates.latency.empty())
    throw std::invalid_argument("bound: at least one rate and one latency");
  return {*std::max_element(rates.rate.begin(), rates.rate.end()),
          *std::min_element(rates.latency.begin(), rates.latency.end())};
}

/// Bytes/s over all links out of a member.
inline double member_rate(const CollectiveSpec& spec, const AxisRates& rates) {
  double sum = 0;
  for (std::size_t a = 0; a < rates.rate.size(); ++a) {
    const bool ring = a < spec.shape.size() && spec.shape[a].is_ring() && spec.shape[a].extent > 1;
    sum += (ring ? 2 : 1) * rates.rate[a];
  }
  return sum;
}

}  // namespace stepsim
