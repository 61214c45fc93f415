// bound.cpp: closed forms of the torus algorithm: load of each axis, and the least time (law: torus.h).
#include <algorithm>
#include <stdexcept>

#include "collectives/line.h"
#include "collectives/parts.h"
#include "collectives/ring.h"
#include "collectives/torus.h"

namespace stepsim {

namespace {

std::uint32_t extent(const GroupAxis& axis) {
  return static_cast<std::uint32_t>(axis.extent);
}

Bytes sent(const AxisFlow& flow) {
  return flow.sends * flow.bytes;
}

// Bytes on the links that leave one position of an axis, up and down.
struct Load {
  Bytes up = 0;
  Bytes down = 0;
};

void add_stage(std::vector<Load>& positions, const CollectiveSpec& spec, const AxisStage& stage) {
  const GroupAxis& axis = spec.shape[stage.axis];
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    const AxisFlows flows = axis.closed ? ring_flows(extent(axis), spec.ring, stage.bundle)
                                        : line_flows(extent(axis), i, stage.phase, stage.bundle);
    positions[i].up += sent(flows.up);
    positions[i].down += sent(flows.down);
  }
}

Bytes busiest(const std::vector<Load>& positions) {
  Bytes most = 0;
  for (const Load& load : positions) most = std::max({most, load.up, load.down});
  return most;
}

double stage_time(const CollectiveSpec& spec, const AxisStage& stage, const LinkCost& link) {
  const GroupAxis& axis = spec.shape[stage.axis];
  return axis.closed ? ring_time(extent(axis), spec.ring, stage.bundle, link)
                     : line_time(extent(axis), stage.bundle, link);
}

double part_alone(const CollectiveSpec& spec, const ArrayPart& part, const std::vector<LinkCost>& links) {
  double time = 0;
  for (const AxisStage& stage : stages(spec, part)) time += stage_time(spec, stage, links[stage.axis]);
  return time;
}

std::vector<LinkCost> link_costs(const CollectiveSpec& spec, const AxisRates& rates) {
  if (rates.rate.size() != spec.shape.size() || rates.latency.size() != spec.shape.size())
    throw std::invalid_argument("bound: one rate and one latency per group axis");
  std::vector<LinkCost> links;
  for (std::size_t a = 0; a < spec.shape.size(); ++a) links.push_back({rates.rate[a], rates.latency[a]});
  return links;
}

}  // namespace

std::vector<Bytes> axis_loads(const CollectiveSpec& spec) {
  std::vector<std::vector<Load>> axes;
  for (const GroupAxis& axis : spec.shape) axes.emplace_back(axis.closed ? 1 : extent(axis));
  for (const ArrayPart& part : cut_in_parts(spec)) {
    for (const AxisStage& stage : stages(spec, part)) add_stage(axes[stage.axis], spec, stage);
  }
  std::vector<Bytes> loads;
  for (const std::vector<Load>& positions : axes) loads.push_back(busiest(positions));
  return loads;
}

double torus_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  const std::vector<LinkCost> links = link_costs(spec, rates);
  double bound = 0;
  for (const ArrayPart& part : cut_in_parts(spec)) bound = std::max(bound, part_alone(spec, part, links));
  const std::vector<Bytes> loads = axis_loads(spec);
  for (std::size_t a = 0; a < loads.size(); ++a) {
    if (loads[a] > 0) bound = std::max(bound, links[a].transfer(loads[a]));
  }
  return bound;
}

}  // namespace stepsim
