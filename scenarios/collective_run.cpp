#include "scenarios/collective_run.h"

#include <algorithm>

#include "collectives/pairwise.h"

namespace stepsim {
namespace {

std::vector<int> indices(const Scenario& scenario, const std::vector<std::string>& axes) {
  std::vector<std::string> known;
  for (const MeshAxis& axis : scenario.strategy.mesh) known.push_back(axis.name);
  for (const std::string& name : axes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    throw InputError("--group", "expected mesh axes of the scenario (" + list + "), found '" + name + "'");
  }
  return axis_indices(scenario.strategy, axes.empty() ? known : axes);
}

/// The array V of a group.
Bytes array_of(CollectiveKind kind, Bytes bytes, std::uint32_t members) {
  Bytes array = bytes;
  if (kind == CollectiveKind::all_to_all && __builtin_mul_overflow(bytes, Bytes{members}, &array)) {
    throw InputError("--end", "more bytes than 63 bits can count");
  }
  return array;
}

}  // namespace

double bus_factor(CollectiveKind kind, std::uint32_t members) {
  const double once = static_cast<double>(members - 1) / members;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * once;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return once;
    default:
      return 1;
  }
}

CollectiveRun::CollectiveRun(const Scenario& scenario, const CollectiveChoice& choice)
    : choice_(choice), cluster_(std::make_unique<Cluster>(build(scenario.cluster))) {
  Placement placement;
  if (scenario.placement.empty()) {
    const StepPlan step = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
    placement = ranked_placements(scenario, *cluster_, step).front().placement;
  } else {
    placement = given_placement(scenario, *cluster_);
  }
  mesh_ = std::make_unique<Mesh>(*cluster_, scenario.strategy.mesh, placement);
  const MethodsAsked asked{choice.kind, choice.algorithm, choice.protocol, choice.sends};
  methods_ = std::make_unique<CollectiveMethods>(scenario, *cluster_,
                                                 mesh_->group_shape(indices(scenario, choice.axes)), asked);
}

CollectiveResult CollectiveRun::play(Bytes bytes) const {
  const Bytes array = array_of(choice_.kind, bytes, members());
  const std::vector<LonePlay> plays = fastest_first(*methods_, array);
  const LonePlay& best = plays.front();
  CollectiveResult result;
  result.method = best.method.name;
  result.bytes = bytes;
  result.time = best.time;
  result.transfers = best.transfers;
  result.bound = methods_->bound(best.method, array);
  for (std::size_t i = 1; i < plays.size(); ++i) result.others.push_back({plays[i].method.name, plays[i].time});
  const double time = to_seconds(result.time);
  if (time <= 0) return result;
  result.algorithm_rate = static_cast<double>(bytes) / time;
  result.bus_rate = choice_.sends.members == 0
                        ? result.algorithm_rate * bus_factor(choice_.kind, members())
                        : static_cast<double>(busiest_member(methods_->spec(best.method, array))) / time;
  result.fullest = best.fullest;
  result.fullest_share = best.fullest_share;
  return result;
}

}  // namespace stepsim
