// assemble.cpp: cluster + plan + placement -> the program the clock plays.
#include <cassert>

#include "scenarios/layout.h"
#include "scenarios/run.h"

namespace stepsim {
namespace {

// A debug build holds their classes against the definition.
[[maybe_unused]] constexpr std::uint32_t most_checked_chips = 4096;

std::unique_ptr<Symmetry> folded(const Cluster& cluster, const Communication& communication) {
  const Traffic all = traffic(cluster, communication);
  auto symmetry = std::make_unique<Symmetry>(cluster, all);
  assert(cluster.chips() > most_checked_chips || why_not_symmetric(cluster, all, *symmetry).empty());
  return symmetry;
}

/// What follows from cluster, plan and placements.
Assembly laid_out(const Scenario& scenario, StepPlan plan, Ground ground) {
  Assembly assembly;
  assembly.cluster = std::move(ground.cluster);
  assembly.placements = std::move(ground.placements);
  assembly.plan = std::move(plan);
  const Cluster& cluster = *assembly.cluster;
  assembly.mesh = std::make_unique<Mesh>(cluster, scenario.strategy.mesh, assembly.placements.front().placement);
  assembly.communication = communication(scenario, assembly.plan.collectives, cluster, *assembly.mesh);
  assembly.folded = scenario.fold;
  assembly.symmetry = scenario.fold ? folded(cluster, assembly.communication) : std::make_unique<Symmetry>(cluster);
  assembly.links = lay_out(cluster, assembly.communication, assembly.plan.collectives, *assembly.symmetry,
                           assembly.plan.program, assembly.network);
  return assembly;
}

StepPlan plan_of(const Scenario& scenario) {
  return plan(scenario.model, scenario.strategy, scenario.cluster.chip);
}

Ground ground_for(const Scenario& scenario, const StepPlan& plan) {
  Ground ground;
  ground.cluster = std::make_shared<const Cluster>(build(scenario.cluster));
  ground.placements = ranked_placements(scenario, *ground.cluster, plan);
  return ground;
}

}  // namespace

Ground ground_of(const Scenario& scenario) {
  return ground_for(scenario, plan_of(scenario));
}

Assembly assemble(const Scenario& scenario) {
  StepPlan plan = plan_of(scenario);
  Ground ground = ground_for(scenario, plan);
  return laid_out(scenario, std::move(plan), std::move(ground));
}

Assembly assemble(const Scenario& scenario, const Ground& ground) {
  return laid_out(scenario, plan_of(scenario), ground);
}

}  // namespace stepsim
