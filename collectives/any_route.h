// any_route.h: the one rate and latency that bound an algorithm whose transfers travel by the cluster's own routes.
//
// No link of a group is faster than its fastest axis, and no way shorter than one step along its shortest.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "collectives/collective.h"
#include "collectives/stage.h"

namespace stepsim {

inline LinkCost any_route(const AxisRates& rates) {
  if (rates.rate.empty() || rates.latency.empty())
    throw std::invalid_argument("bound: at least one rate and one latency");
  return {*std::max_element(rates.rate.begin(), rates.rate.end()),
          *std::min_element(rates.latency.begin(), rates.latency.end())};
}

}  // namespace stepsim
