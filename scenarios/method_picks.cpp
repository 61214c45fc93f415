// method_picks.cpp: the communication of a plan: for each collective of each set of mesh axes the method it is done by.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "collectives/point_to_point.h"
#include "scenarios/lone_play.h"
#include "scenarios/placement.h"

namespace stepsim {
namespace {

/// Picks methods on a cluster without faults.
class Picker {
 public:
  Picker(const Scenario& scenario, const Cluster& cluster, const Mesh& mesh);

  /// InputError when nothing does this kind on the groups it has.
  CollectiveMethods& methods(const CollectiveRequest& request);

  /// What one request sends, and why so.
  std::pair<FamilyPattern, MethodPick> pick(const CollectiveRequest& request);

 private:
  [[nodiscard]] std::pair<FamilyPattern, MethodPick> send(const CollectiveRequest& request) const;

  Scenario healthy_;
  const Mesh& mesh_;
  std::optional<Cluster> built_;  // where the scenario's has faults
  const Cluster& cluster_;
  std::map<std::pair<std::vector<std::string>, CollectiveKind>, std::unique_ptr<CollectiveMethods>> methods_;
};

bool faulty(const Scenario& scenario) {
  return !scenario.cluster.chip_faults.empty() || !scenario.cluster.link_faults.empty();
}

Scenario without_faults(Scenario scenario) {
  scenario.cluster.chip_faults.clear();
  scenario.cluster.link_faults.clear();
  scenario.fold = true;  // exact: the same methods are picked either way
  scenario.run.record_memory = false;
  return scenario;
}

Picker::Picker(const Scenario& scenario, const Cluster& cluster, const Mesh& mesh)
    : healthy_(without_faults(scenario)),
      mesh_(mesh),
      built_(faulty(scenario) ? std::optional(build(healthy_.cluster)) : std::nullopt),
      cluster_(built_ ? *built_ : cluster) {}

CollectiveMethods& Picker::methods(const CollectiveRequest& request) {
  std::unique_ptr<CollectiveMethods>& known = methods_[{request.axes, request.kind}];
  if (known) return *known;
  const std::vector<GroupAxis> shape = mesh_.group_shape(axis_indices(healthy_.strategy, request.axes));
  MethodsAsked asked{request.kind, healthy_.algorithm, healthy_.protocol};
  asked.algorithm_key = "collectives.algorithm";
  asked.protocol_key = "collectives.protocol";
  known = std::make_unique<CollectiveMethods>(healthy_, cluster_, shape, asked);
  return *known;
}

/// NCCL moves sends by its protocol Simple; LL serves those up to 16 KiB (NCCL_P2P_LL_THRESHOLD).
const Protocol* send_protocol(const std::vector<Protocol>& protocols, Bytes bytes) {
  constexpr Bytes small = Bytes{16} * 1024;
  const Protocol* best = protocols.empty() ? nullptr : &protocols.back();
  for (const Protocol& one : protocols) {
    if (one.name == (bytes <= small ? "LL" : "Simple")) best = &one;
  }
  return best;
}

std::pair<FamilyPattern, MethodPick> Picker::send(const CollectiveRequest& request) const {
  CollectiveSpec spec;
  spec.kind = request.kind;
  spec.shape = mesh_.group_shape(axis_indices(healthy_.strategy, request.axes));
  spec.bytes = request.bytes;
  spec.root = request.from;
  spec.to = request.to;
  spec.rendezvous = request.rendezvous;
  const Protocol* protocol = send_protocol(healthy_.protocols, request.bytes);
  std::pair<FamilyPattern, MethodPick> made;
  FamilyPattern& one = made.first;
  one.pattern = on_the_wire(point_to_point_pattern(spec), protocol == nullptr ? Protocol() : *protocol);
  one.used = ports_in_use(one.pattern);
  made.second.method = "point-to-point";
  if (protocol == nullptr) return made;
  one.hops = protocol->hops;
  one.launch = protocol->launch;
  made.second.method += ", " + protocol->name;
  return made;
}

std::pair<FamilyPattern, MethodPick> Picker::pick(const CollectiveRequest& request) {
  if (request.kind == CollectiveKind::point_to_point) return send(request);
  const CollectiveMethods& ways = methods(request);
  if (ways.all().size() == 1) {
    const CollectiveMethod& only = ways.all().front();
    return {ways.pattern(only, request.bytes), {only.name}};
  }
  const std::vector<LonePlay> plays = fastest_first(ways, request.bytes);
  MethodPick pick{plays.front().method.name};
  for (const LonePlay& one : plays) pick.tried.push_back({one.method.name, one.time});
  return {ways.pattern(plays.front().method, request.bytes), std::move(pick)};
}

/// Each rank along the pipeline runs its own.
std::vector<std::uint32_t> programs_of(const Strategy& strategy, const Mesh& mesh) {
  if (degrees(strategy).pipeline == 1) return {};
  return mesh.groups(axis_indices(strategy, {"pipeline"})).rank_of;
}

}  // namespace

void check_methods(const Scenario& scenario, const std::vector<CollectiveRequest>& requests, const Cluster& cluster,
                   const Mesh& mesh) {
  Picker picker(scenario, cluster, mesh);
  std::vector<Problem> problems;
  std::set<std::string> told;
  for (const CollectiveRequest& request : requests) {
    if (request.kind == CollectiveKind::point_to_point) continue;  // always done
    try {
      picker.methods(request);
    } catch (const InputError& error) {
      for (Problem problem : error.problems()) {
        if (problem.key != "collectives.protocol") problem.key = "collectives.algorithm";
        if (told.insert(problem.message).second) problems.push_back(std::move(problem));
      }
    }
  }
  if (!problems.empty()) throw InputError(problems);
}

Communication communication(const Scenario& scenario, const std::vector<CollectiveRequest>& requests,
                            const Cluster& cluster, const Mesh& mesh) {
  Picker picker(scenario, cluster, mesh);
  Communication all;
  std::map<std::vector<std::string>, std::size_t> families;
  std::map<std::tuple<std::size_t, CollectiveKind, Bytes, std::uint32_t, std::uint32_t, bool>, std::size_t> patterns;
  for (const CollectiveRequest& request : requests) {
    const auto [family, new_family] = families.try_emplace(request.axes, all.families.size());
    if (new_family) {
      const std::vector<GroupAxis> shape = mesh.group_shape(axis_indices(scenario.strategy, request.axes));
      all.families.push_back({group_name(request.axes), Groups(mesh.hardware(), shape)});
    }
    const auto [known, is_new] = patterns.try_emplace(
        {family->second, request.kind, request.bytes, request.from, request.to, request.rendezvous},
        all.patterns.size());
    if (is_new) {
      auto [pattern, pick] = picker.pick(request);
      pattern.family = family->second;
      all.patterns.push_back(std::move(pattern));
      all.picks.push_back(std::move(pick));
    }
    all.pattern_of.push_back(known->second);
  }
  all.program_of = programs_of(scenario.strategy, mesh);
  return all;
}

}  // namespace stepsim
