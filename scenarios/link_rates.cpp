#include "scenarios/link_rates.h"

#include <algorithm>
#include <limits>

namespace stepsim {

LinkRates::LinkRates(const Cluster& cluster, bool both_ways) : cluster_(&cluster), both_ways_(both_ways) {
  if (cluster.spec().link_faults.empty()) return;
  ClusterSpec spec = cluster.spec();
  spec.link_faults.clear();
  healthy_.emplace(build(spec));
  cluster_ = &*healthy_;
}

LinkRates::Step LinkRates::step(const GroupAxis& axis) {
  const std::vector<int> key{axis.hardware_axis, axis.extent, axis.hops, axis.closed ? 1 : 0};
  const auto [entry, is_new] = known_.try_emplace(key);
  if (is_new) entry->second = count(axis);
  return entry->second;
}

// The chips along one axis from chip 0. Chips of a host share its links, so on a direct axis its chips have a line each;
// in a tree of switches all chips below do.
std::vector<ChipId> LinkRates::line(int axis) const {
  const HardwareAxis& hardware = cluster_->axes()[static_cast<std::size_t>(axis)];
  std::vector<ChipId> firsts{0};
  if (hardware.direct) {
    const ChipId row = cluster_->step(0, axis, hardware.extent > 1 ? 1 : 0);  // chips with coordinate 0, outermost axis
    const bool tree = !cluster_->edges_between_places().empty();
    for (ChipId chip = 1; chip < row; ++chip) {
      if (tree || cluster_->host_of(chip) == cluster_->host_of(0)) firsts.push_back(chip);
    }
  }
  std::vector<ChipId> chips;
  for (const ChipId first : firsts) {
    for (int place = 0; place < hardware.extent; ++place) chips.push_back(cluster_->step(first, axis, place));
  }
  return chips;
}

std::vector<std::vector<LinkId>> LinkRates::steps_of(const GroupAxis& axis) const {
  const auto extent = static_cast<std::size_t>(cluster_->axes()[static_cast<std::size_t>(axis.hardware_axis)].extent);
  const std::vector<ChipId> chips = line(axis.hardware_axis);
  std::vector<std::vector<LinkId>> routes;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const int digit = static_cast<int>(i % extent) / axis.hops % axis.extent;
    const bool up = axis.closed || digit + 1 < axis.extent;
    const bool down = both_ways_ && (axis.closed || digit > 0);
    if (up) routes.push_back(cluster_->along(chips[i], axis.hardware_axis, axis.hops));
    if (down) routes.push_back(cluster_->along(chips[i], axis.hardware_axis, -axis.hops));
  }
  return routes;
}

LinkRates::Step LinkRates::count(const GroupAxis& axis) const {
  const std::vector<std::vector<LinkId>> routes = steps_of(axis);
  std::vector<LinkId> crossed;
  for (const auto& route : routes) crossed.insert(crossed.end(), route.begin(), route.end());
  std::sort(crossed.begin(), crossed.end());

  Step step{std::numeric_limits<double>::infinity(), 0, 0};
  std::map<LinkId, double> latency;
  for (auto first = crossed.begin(); first != crossed.end();) {
    const auto next = std::upper_bound(first, crossed.end(), *first);
    const GraphLink link = cluster_->link(*first);
    const double rate = static_cast<double>(link.capacity) / static_cast<double>(next - first);
    if (rate < step.rate) step.narrowest = *first;
    step.rate = std::min(step.rate, rate);
    latency.emplace_hint(latency.end(), *first, to_seconds(link.latency));
    first = next;
  }
  for (const auto& route : routes) {
    double sum = 0;
    for (const LinkId link : route) sum += latency.at(link);
    step.latency = std::max(step.latency, sum);
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

AxisRates worst_axis(const AxisRates& rates) {
  if (rates.rate.empty()) return rates;
  return {{*std::min_element(rates.rate.begin(), rates.rate.end())},
          {*std::max_element(rates.latency.begin(), rates.latency.end())}};
}

AxisRates most_of_any_chip(const Cluster& cluster, const std::vector<GroupAxis>& shape) {
  std::vector<double> out(cluster.chips(), 0);
  std::vector<double> in(cluster.chips(), 0);
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    if (link.from == link.to) continue;
    if (link.from < cluster.chips()) out[link.from] += static_cast<double>(link.capacity);
    if (link.to < cluster.chips()) in[link.to] += static_cast<double>(link.capacity);
  }
  double least = std::numeric_limits<double>::infinity();
  for (ChipId from = 0; from < cluster.chips(); ++from) {
    for (ChipId to = 0; to < cluster.chips(); ++to) {
      if (from == to) continue;
      double latency = 0;
      const WeightedRoute route = cluster.routes(from, to).front();
      for (const LinkId link : route.links) latency += to_seconds(cluster.link(link).latency);
      least = std::min(least, latency);
    }
  }
  const double most = std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
  return {std::vector<double>(shape.size(), most), std::vector<double>(shape.size(), least)};
}

}  // namespace stepsim
