#include "scenarios/placement.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scenarios/link_rates.h"

namespace stepsim {
namespace {

constexpr std::size_t placements_tried = 4096;

/// Requests of one kind on one set of mesh axes, by index.
struct Kind {
  std::vector<std::string> axes;
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<std::size_t> floating;
};

/// Requests on one set of mesh axes, which have the same groups. Many placements lay them alike: what is known of a
/// shape is kept.
struct Family {
  std::vector<int> mesh_axes;
  std::vector<std::size_t> requests;
  std::map<std::vector<int>, std::vector<double>> known;  // by shape: seconds of all uses of each request, alone
};

/// Predicts placements of one scenario.
class Predictor {
 public:
  Predictor(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan)
      : scenario_(scenario),
        cluster_(cluster),
        requests_(plan.collectives),
        compute_(to_seconds(plan.compute_time)),
        algorithms_(collective_algorithms()),
        rates_(cluster, scenario.ring != RingStyle::one_way) {
    sort_requests();
  }

  RankedPlacement predict(const Placement& placement);

 private:
  void sort_requests();
  const std::vector<double>& seconds_of(Family& family, const std::vector<GroupAxis>& shape);
  [[nodiscard]] double slowdown(std::size_t family, double step) const;

  const Scenario& scenario_;
  const Cluster& cluster_;
  const std::vector<CollectiveRequest>& requests_;
  double compute_ = 0;
  Registry<Algorithm> algorithms_;
  LinkRates rates_;
  std::vector<Family> families_;
  std::vector<std::size_t> family_of_;  // each request
  std::vector<Kind> kinds_;             // in order of axes and kind

  // Of the placement at hand:
  std::vector<std::vector<GroupAxis>> shape_;  // per family
  std::vector<double> seconds_;                // per request: all its uses, alone on the network
};

void Predictor::sort_requests() {
  std::map<std::vector<std::string>, std::size_t> families;
  std::map<std::pair<std::vector<std::string>, CollectiveKind>, std::vector<std::size_t>> kinds;
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    const CollectiveRequest& request = requests_[r];
    const auto [family, is_new] = families.try_emplace(request.axes, families_.size());
    if (is_new) families_.push_back({axis_indices(scenario_.strategy, request.axes), {}, {}});
    families_[family->second].requests.push_back(r);
    family_of_.push_back(family->second);
    if (!request.critical) kinds[{request.axes, request.kind}].push_back(r);
  }
  for (auto& [what, floating] : kinds) kinds_.push_back({what.first, what.second, std::move(floating)});
  shape_.resize(families_.size());
  seconds_.resize(requests_.size());
}

const std::vector<double>& Predictor::seconds_of(Family& family, const std::vector<GroupAxis>& shape) {
  std::vector<int> key;
  for (const GroupAxis& axis : shape) {
    key.insert(key.end(), {axis.hardware_axis, axis.extent, axis.hops, axis.closed ? 1 : 0});
  }
  const auto [entry, is_new] = family.known.try_emplace(std::move(key));
  if (!is_new) return entry->second;
  const AxisRates rates = rates_.rates(shape);
  for (const std::size_t r : family.requests) {
    const CollectiveSpec spec = collective_spec(scenario_, requests_[r], shape);
    const bool sends = spec.kind == CollectiveKind::point_to_point;
    const AxisRates on = sends ? worst_axis(rates) : rates;
    entry->second.push_back(algorithms_.at("collectives", spec.algorithm).bound(spec, on) * requests_[r].uses);
  }
  return entry->second;
}

/// How many times longer a critical collective takes because others float over the same links: while a kind of
/// collective is in flight (a share of the step), a link of a common hardware axis carries one of its flows per
/// interleaved group, and flows share fairly. The most loaded axis counts.
double Predictor::slowdown(std::size_t family, double step) const {
  double most = 1;
  for (const GroupAxis& axis : shape_[family]) {
    double one = 1;
    for (const Kind& kind : kinds_) {
      double seconds = 0;
      int flows = 0;
      for (const std::size_t other : kind.floating) {
        for (const GroupAxis& theirs : shape_[family_of_[other]]) {
          if (theirs.hardware_axis != axis.hardware_axis) continue;
          seconds += seconds_[other];
          flows = theirs.hops;
        }
      }
      one += std::min(1.0, seconds / step) * flows;
    }
    most = std::max(most, one);
  }
  return most;
}

RankedPlacement Predictor::predict(const Placement& placement) {
  const Mesh mesh(cluster_, scenario_.strategy.mesh, placement);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    shape_[f] = mesh.group_shape(families_[f].mesh_axes);
    const std::vector<double>& seconds = seconds_of(families_[f], shape_[f]);
    for (std::size_t i = 0; i < seconds.size(); ++i) seconds_[families_[f].requests[i]] = seconds[i];
  }
  double critical = 0;
  double floating = 0;
  for (std::size_t r = 0; r < requests_.size(); ++r) (requests_[r].critical ? critical : floating) += seconds_[r];
  std::vector<double> slower(families_.size(), 0);  // 0: not asked for yet
  RankedPlacement ranked{placement, {}, std::max(0.0, floating - compute_), critical + floating};
  for (std::size_t r = 0; r < requests_.size(); ++r) {
    if (!requests_[r].critical) continue;
    double& factor = slower[family_of_[r]];
    if (factor == 0) factor = slowdown(family_of_[r], compute_ + critical);
    ranked.exposed += seconds_[r] * factor;
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

CollectiveSpec collective_spec(const Scenario& scenario, const CollectiveRequest& request,
                               const std::vector<GroupAxis>& shape) {
  CollectiveSpec spec;
  spec.kind = request.kind;
  spec.shape = shape;
  spec.bytes = request.bytes;
  spec.ring = scenario.ring;
  spec.weighted_parts = scenario.weighted_parts;
  spec.root = request.from;
  spec.to = request.to;
  if (request.kind == CollectiveKind::point_to_point) spec.algorithm = "point-to-point";
  return spec;
}

CollectiveSpec collective_spec(const Scenario& scenario, const CollectiveRequest& request, const Mesh& mesh) {
  return collective_spec(scenario, request, mesh.group_shape(axis_indices(scenario.strategy, request.axes)));
}

std::vector<RankedPlacement> ranked_placements(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan) {
  Predictor predictor(scenario, cluster, plan);
  if (!scenario.placement.empty()) return {predictor.predict(given_placement(scenario, cluster))};
  std::vector<RankedPlacement> all;
  for (const Placement& placement : placements(cluster, scenario.strategy.mesh, placements_tried)) {
    all.push_back(predictor.predict(placement));
  }
  if (all.empty()) throw InputError("parallelism.mesh", "no placement of the mesh axes tiles the cluster's axes");
  std::stable_sort(all.begin(), all.end(), [](const RankedPlacement& a, const RankedPlacement& b) {
    return std::tuple(a.exposed, a.total) < std::tuple(b.exposed, b.total);
  });
  return all;
}

Mesh mesh_of(const Scenario& scenario, const Cluster& cluster) {
  if (!scenario.placement.empty()) return {cluster, scenario.strategy.mesh, given_placement(scenario, cluster)};
  const StepPlan steps = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  return {cluster, scenario.strategy.mesh, ranked_placements(scenario, cluster, steps).front().placement};
}

}  // namespace stepsim
