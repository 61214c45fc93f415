#include "scenarios/placement.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scenarios/link_rates.h"

namespace stepsim {
namespace {

constexpr std::size_t placements_tried = 4096;

/// All uses of one request in a step, alone on the network.
struct Predicted {
  const CollectiveRequest* request;
  std::vector<GroupAxis> shape;
  double seconds;
};

/// How many times longer a critical collective takes because others float over the same links: while a kind of
/// collective is in flight (a share of the step), a link of a common hardware axis carries one of its flows per
/// interleaved group, and flows share fairly. The most loaded axis counts.
double slowdown(const Predicted& critical, const std::vector<Predicted>& all, double step) {
  double most = 1;
  for (const GroupAxis& axis : critical.shape) {
    std::map<std::pair<std::vector<std::string>, CollectiveKind>, std::pair<double, int>> floating;  // seconds, flows
    for (const Predicted& other : all) {
      if (other.request->critical) continue;
      for (const GroupAxis& theirs : other.shape) {
        if (theirs.hardware_axis != axis.hardware_axis) continue;
        auto& [seconds, flows] = floating[{other.request->axes, other.request->kind}];
        seconds += other.seconds;
        flows = theirs.hops;
      }
    }
    double one = 1;
    for (const auto& [kind, use] : floating) one += std::min(1.0, use.first / step) * use.second;
    most = std::max(most, one);
  }
  return most;
}

RankedPlacement predict(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan,
                        const Placement& placement, const Registry<Algorithm>& algorithms, LinkRates& rates) {
  const Mesh mesh(cluster, scenario.strategy.mesh, placement);
  std::vector<Predicted> all;
  double critical = 0;
  double floating = 0;
  for (const CollectiveRequest& request : plan.collectives) {
    const CollectiveSpec spec = collective_spec(scenario, request, mesh);
    const double once = algorithms.at("collectives", spec.algorithm).bound(spec, rates.rates(spec.shape));
    all.push_back({&request, spec.shape, once * request.uses});
    (request.critical ? critical : floating) += all.back().seconds;
  }
  const double compute = to_seconds(plan.compute_time);
  RankedPlacement ranked{placement, {}, std::max(0.0, floating - compute), critical + floating};
  for (const Predicted& one : all) {
    if (one.request->critical) ranked.exposed += one.seconds * slowdown(one, all, compute + critical);
  }
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) ranked.text.push_back(mesh.describe(static_cast<int>(i)));
  return ranked;
}

}  // namespace

Placement given_placement(const Scenario& scenario, const Cluster& cluster) {
  Placement placement;
  std::vector<Problem> problems;
  for (std::size_t axis = 0; axis < scenario.placement.size(); ++axis) {
    const std::string key = "parallelism.placement." + scenario.strategy.mesh[axis].name;
    try {
      placement.digits.push_back(parse_digits(cluster, key, scenario.placement[axis]));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return placement;
}

std::vector<int> axis_indices(const Strategy& strategy, const std::vector<std::string>& names) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < strategy.mesh.size(); ++i) {
    if (std::find(names.begin(), names.end(), strategy.mesh[i].name) != names.end()) {
      indices.push_back(static_cast<int>(i));
    }
  }
  return indices;
}

CollectiveSpec collective_spec(const Scenario& scenario, const CollectiveRequest& request, const Mesh& mesh) {
  CollectiveSpec spec;
  spec.kind = request.kind;
  spec.shape = mesh.group_shape(axis_indices(scenario.strategy, request.axes));
  spec.bytes = request.bytes;
  spec.ring = scenario.ring;
  spec.weighted_parts = scenario.weighted_parts;
  return spec;
}

std::vector<RankedPlacement> ranked_placements(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan) {
  const Registry<Algorithm> algorithms = collective_algorithms();
  LinkRates rates(cluster, scenario.ring != RingStyle::one_way);
  if (!scenario.placement.empty()) {
    return {predict(scenario, cluster, plan, given_placement(scenario, cluster), algorithms, rates)};
  }
  std::vector<RankedPlacement> all;
  for (const Placement& placement : placements(cluster, scenario.strategy.mesh, placements_tried)) {
    all.push_back(predict(scenario, cluster, plan, placement, algorithms, rates));
  }
  if (all.empty()) throw InputError("parallelism.mesh", "no placement of the mesh axes tiles the cluster's axes");
  std::stable_sort(all.begin(), all.end(), [](const RankedPlacement& a, const RankedPlacement& b) {
    return std::tuple(a.exposed, a.total) < std::tuple(b.exposed, b.total);
  });
  return all;
}

}  // namespace stepsim
