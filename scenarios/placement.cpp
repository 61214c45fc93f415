#include "scenarios/placement.h"

#include <algorithm>
#include <tuple>

#include "scenarios/link_rates.h"

namespace stepsim {
namespace {

constexpr std::size_t placements_tried = 4096;

Placement given_placement(const Scenario& scenario, const Cluster& cluster) {
  Placement placement;
  for (std::size_t i = 0; i < scenario.placement.size(); ++i) {
    const std::string key = "parallelism.placement." + scenario.strategy.mesh[i].name;
    placement.digits.push_back(parse_digits(cluster, key, scenario.placement[i]));
  }
  return placement;
}

RankedPlacement predict(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan,
                        const Placement& placement, const Registry<Algorithm>& algorithms, LinkRates& rates) {
  const Mesh mesh(cluster, scenario.strategy.mesh, placement);
  RankedPlacement ranked{placement, {}, 0, 0};
  double floating = 0;
  for (const CollectiveRequest& request : plan.collectives) {
    const CollectiveSpec spec = collective_spec(scenario, request, mesh);
    const double once = algorithms.at("collectives", spec.algorithm).bound(spec, rates.rates(spec.shape));
    const double all = once * request.uses;
    (request.critical ? ranked.exposed : floating) += all;
    ranked.total += all;
  }
  ranked.exposed += std::max(0.0, floating - to_seconds(plan.compute_time));
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) ranked.text.push_back(mesh.describe(static_cast<int>(i)));
  return ranked;
}

}  // namespace

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
