#include "scenarios/link_rates.h"

#include <algorithm>
#include <limits>

namespace stepsim {

LinkRates::Step LinkRates::step(const GroupAxis& axis) {
  const std::vector<int> key{axis.hardware_axis, axis.extent, axis.hops, axis.closed ? 1 : 0};
  const auto [entry, is_new] = known_.try_emplace(key);
  if (is_new) entry->second = count(axis);
  return entry->second;
}

LinkRates::Step LinkRates::count(const GroupAxis& axis) const {
  std::vector<std::uint32_t> flows(cluster_.links().size(), 0);
  std::vector<std::vector<LinkId>> routes;
  for (ChipId chip = 0; chip < cluster_.chips(); ++chip) {
    const int place = cluster_.coordinates(chip)[static_cast<std::size_t>(axis.hardware_axis)];
    const int digit = place / axis.hops % axis.extent;
    if (axis.closed || digit + 1 < axis.extent) routes.push_back(cluster_.along(chip, axis.hardware_axis, axis.hops));
    if (both_ways_ && (axis.closed || digit > 0)) {
      routes.push_back(cluster_.along(chip, axis.hardware_axis, -axis.hops));
    }
  }
  for (const auto& route : routes) {
    for (const LinkId link : route) ++flows[link];
  }
  Step step{std::numeric_limits<double>::infinity(), 0};
  for (const auto& route : routes) {
    double latency = 0;
    for (const LinkId link : route) {
      const GraphLink& one = cluster_.links()[link];
      step.rate = std::min(step.rate, static_cast<double>(one.capacity) / flows[link]);
      latency += to_seconds(one.latency);
    }
    step.latency = std::max(step.latency, latency);
  }
  return step;
}

AxisRates LinkRates::rates(const std::vector<GroupAxis>& shape) {
  AxisRates rates;
  for (const GroupAxis& axis : shape) {
    const Step one = step(axis);
    rates.rate.push_back(one.rate);
    rates.latency.push_back(one.latency);
  }
  return rates;
}

double LinkRates::egress(const std::vector<GroupAxis>& shape) {
  double sum = 0;
  for (const GroupAxis& axis : shape) sum += (both_ways_ ? 2 : 1) * step(axis).rate;
  return sum;
}

}  // namespace stepsim
