#include "scenarios/collective_run.h"

#include <algorithm>
#include <map>

#include "scenarios/link_rates.h"

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

std::string default_algorithm(CollectiveKind kind) {
  if (kind == CollectiveKind::all_to_all) return "direct";
  return kind == CollectiveKind::point_to_point ? "point-to-point" : "torus";
}

/// The link that carries most of what it could in this time.
void find_fullest(const Cluster& cluster, const std::vector<LinkClass>& links, const std::vector<LinkUse>& uses,
                  CollectiveResult& result) {
  const double time = to_seconds(result.time);
  for (LinkId id = 0; id < links.size(); ++id) {
    const GraphLink link = cluster.link(links[id].one);
    const double share = static_cast<double>(uses[id].bytes) / (static_cast<double>(link.capacity) * time);
    if (share <= result.fullest_share) continue;
    result.fullest_share = share;
    result.fullest = link.kind;
  }
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
  if (kind == CollectiveKind::point_to_point) return 1;
  const double once = static_cast<double>(members - 1) / members;
  return kind == CollectiveKind::all_reduce ? 2 * once : once;
}

CollectiveRun::CollectiveRun(const Scenario& scenario, const CollectiveChoice& choice)
    : scenario_(scenario), choice_(choice), cluster_(std::make_unique<Cluster>(build(scenario.cluster))) {
  const StepPlan step = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  const Placement placement = ranked_placements(scenario, *cluster_, step).front().placement;
  mesh_ = std::make_unique<Mesh>(*cluster_, scenario.strategy.mesh, placement);
  shape_ = mesh_->group_shape(indices(scenario, choice.axes));
  algorithm_ = choice.algorithm.empty() ? default_algorithm(choice.kind) : choice.algorithm;
}

std::uint32_t CollectiveRun::members() const {
  return stepsim::members(shape_);
}

std::string CollectiveRun::shape_text() const {
  std::string text;
  for (const GroupAxis& axis : shape_) {
    text += (text.empty() ? "" : ", ") + cluster_->axes()[static_cast<std::size_t>(axis.hardware_axis)].name +
            (axis.closed ? " (ring of " : " (line of ") + std::to_string(axis.extent) +
            (axis.hops > 1 ? ", stride " + std::to_string(axis.hops) : "") + ")";
  }
  return text.empty() ? "one chip" : text;
}

CollectiveResult CollectiveRun::play(Bytes bytes) const {
  CollectiveSpec spec;
  spec.kind = choice_.kind;
  spec.shape = shape_;
  spec.bytes = array_of(choice_.kind, bytes, members());
  spec.algorithm = algorithm_;
  spec.ring = scenario_.ring;
  spec.weighted_parts = scenario_.weighted_parts;
  const Registry<Algorithm> algorithms = collective_algorithms();
  const Algorithm& algorithm = algorithms.at("--algorithm", algorithm_);

  const Communication all = lone_pattern(Groups(cluster_->axes(), shape_), algorithm.pattern(spec));
  const Symmetry symmetry = scenario_.fold ? Symmetry(*cluster_, traffic(*cluster_, all)) : Symmetry(*cluster_);

  StepProgram program = one_collective();
  Network network;
  CollectiveRequest request;
  request.kind = choice_.kind;
  request.bytes = spec.bytes;
  const std::vector<LinkClass> links = lay_out(*cluster_, all, {request}, symmetry, program, network);
  RunOptions options = scenario_.run;
  options.exact_steps = 1;
  const Timeline timeline = simulate(program, network, options);

  CollectiveResult result;
  result.bytes = bytes;
  result.time = timeline.window_end();
  result.transfers = timeline.counters.transfers;
  LinkRates rates(*cluster_, scenario_.ring != RingStyle::one_way);
  result.bound = algorithm.bound(spec, rates.rates(shape_));
  const double time = to_seconds(result.time);
  if (time <= 0) return result;
  result.algorithm_rate = static_cast<double>(bytes) / time;
  result.bus_rate = result.algorithm_rate * bus_factor(choice_.kind, members());
  find_fullest(*cluster_, links, timeline.links_at_end.at(0), result);
  return result;
}

}  // namespace stepsim
