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

}  // namespace

Assembly assemble(const Scenario& scenario) {
  Assembly assembly;
  assembly.cluster = std::make_unique<Cluster>(build(scenario.cluster));
  const Cluster& cluster = *assembly.cluster;
  assembly.plan = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  assembly.placements = ranked_placements(scenario, cluster, assembly.plan);
  assembly.mesh = std::make_unique<Mesh>(cluster, scenario.strategy.mesh, assembly.placements.front().placement);
  assembly.communication = communication(scenario, assembly.plan.collectives, cluster, *assembly.mesh);
  assembly.folded = scenario.fold;
  assembly.symmetry = scenario.fold ? folded(cluster, assembly.communication) : std::make_unique<Symmetry>(cluster);
  assembly.links = lay_out(cluster, assembly.communication, assembly.plan.collectives, *assembly.symmetry,
                           assembly.plan.program, assembly.network);
  return assembly;
}

}  // namespace stepsim
