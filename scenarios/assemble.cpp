// assemble.cpp: cluster + plan + placement -> the program the clock plays.
//
// Every chip is its own class here (the identity partition): the place where classes of like chips are folded is
// `identity_classes`, all that follows is indexed by class.
#include <map>
#include <tuple>
#include <utility>

#include "scenarios/run.h"

namespace stepsim {
namespace {

void identity_classes(const Cluster& cluster, StepProgram& program) {
  program.program_of.assign(cluster.chips(), 0);
  program.chips_of.assign(cluster.chips(), 1);
}

/// Lays the plan's collectives on the mesh: communicators, transfer plans and routes, each made once and shared.
class Layout {
 public:
  Layout(const Scenario& scenario, Assembly& assembly)
      : scenario_(scenario),
        assembly_(assembly),
        program_(assembly.plan.program),
        algorithms_(collective_algorithms()) {}

  void lay(const CollectiveRequest& request) {
    const CollectiveSpec spec = collective_spec(scenario_, request, *assembly_.mesh);
    Collective collective;
    collective.communicator = communicator(request.axes);
    std::tie(collective.plan, collective.routes) = plan(spec, collective.communicator);
    collective.kind = program_.name(to_string(request.kind));
    collective.array = request.bytes;
    program_.collectives.push_back(collective);
  }

 private:
  CommunicatorId communicator(const std::vector<std::string>& axes);
  std::pair<std::uint32_t, std::uint32_t> plan(const CollectiveSpec& spec, CommunicatorId communicator);
  std::uint32_t route_table(const TransferPlan& plan, const CollectiveSpec& spec, const Communicator& family);
  RouteId route(ChipId from, ChipId to, const Port& port, const std::vector<GroupAxis>& shape);
  RouteId interned(const std::vector<LinkId>& links);

  const Scenario& scenario_;
  Assembly& assembly_;
  StepProgram& program_;
  Registry<Algorithm> algorithms_;
  std::map<std::vector<std::string>, CommunicatorId> communicators_;
  std::map<std::tuple<CommunicatorId, CollectiveKind, Bytes>, std::pair<std::uint32_t, std::uint32_t>> plans_;
  std::map<std::vector<RouteId>, std::uint32_t> tables_;
  std::map<std::tuple<ChipId, int, int>, RouteId> along_;
  std::map<std::vector<LinkId>, RouteId> routes_;
};

CommunicatorId Layout::communicator(const std::vector<std::string>& axes) {
  const auto [entry, is_new] =
      communicators_.try_emplace(axes, static_cast<CommunicatorId>(program_.communicators.size()));
  if (!is_new) return entry->second;
  const Mesh::Groups groups = assembly_.mesh->groups(axis_indices(scenario_.strategy, axes));
  Communicator family;
  family.name = group_name(axes);
  family.members = groups.members;
  family.group_of = groups.group_of;
  family.rank_of = groups.rank_of;
  family.class_of.resize(groups.group_of.size());
  for (ChipId chip = 0; chip < groups.group_of.size(); ++chip) {
    family.class_of[groups.group_of[chip] * groups.members + groups.rank_of[chip]] = chip;
  }
  program_.communicators.push_back(std::move(family));
  return entry->second;
}

std::pair<std::uint32_t, std::uint32_t> Layout::plan(const CollectiveSpec& spec, CommunicatorId communicator) {
  const auto [entry, is_new] = plans_.try_emplace({communicator, spec.kind, spec.bytes});
  if (!is_new) return entry->second;
  TransferPlan plan = algorithms_.at("collectives", spec.algorithm).make(spec);
  check(plan);
  entry->second.second = route_table(plan, spec, program_.communicators[communicator]);
  entry->second.first = static_cast<std::uint32_t>(program_.plans.size());
  program_.plans.push_back(std::move(plan));
  return entry->second;
}

std::uint32_t Layout::route_table(const TransferPlan& plan, const CollectiveSpec& spec, const Communicator& family) {
  std::vector<RouteId> table(family.group_of.size() * plan.ports, none);
  for (ChipId chip = 0; chip < family.group_of.size(); ++chip) {
    const std::uint32_t member = family.rank_of[chip];
    for (std::uint32_t p = 0; p < plan.ports; ++p) {
      const Port& port = plan.port[member * plan.ports + p];
      if (port.to == member) continue;  // not used
      const ChipId to = family.class_of[family.group_of[chip] * family.members + port.to];
      table[chip * plan.ports + p] = route(chip, to, port, spec.shape);
    }
  }
  const auto [entry, is_new] = tables_.try_emplace(table, static_cast<std::uint32_t>(program_.route_tables.size()));
  if (is_new) program_.route_tables.push_back(std::move(table));
  return entry->second;
}

RouteId Layout::route(ChipId from, ChipId to, const Port& port, const std::vector<GroupAxis>& shape) {
  if (port.axis < 0) return interned(assembly_.cluster->routes(from, to).front().links);
  const GroupAxis& axis = shape[static_cast<std::size_t>(port.axis)];
  const int hops = port.direction * axis.hops;
  const auto [entry, is_new] = along_.try_emplace({from, axis.hardware_axis, hops});
  if (is_new) entry->second = interned(assembly_.cluster->along(from, axis.hardware_axis, hops));
  return entry->second;
}

RouteId Layout::interned(const std::vector<LinkId>& links) {
  const auto [entry, is_new] = routes_.try_emplace(links);
  if (is_new) entry->second = assembly_.network.add_route(links);
  return entry->second;
}

}  // namespace

Assembly assemble(const Scenario& scenario) {
  Assembly assembly;
  assembly.cluster = std::make_unique<Cluster>(build(scenario.cluster));
  assembly.network = assembly.cluster->network();
  assembly.plan = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  assembly.placements = ranked_placements(scenario, *assembly.cluster, assembly.plan);
  assembly.mesh =
      std::make_unique<Mesh>(*assembly.cluster, scenario.strategy.mesh, assembly.placements.front().placement);
  identity_classes(*assembly.cluster, assembly.plan.program);
  Layout layout(scenario, assembly);
  for (const CollectiveRequest& request : assembly.plan.collectives) layout.lay(request);
  return assembly;
}

}  // namespace stepsim
