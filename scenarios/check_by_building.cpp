// check_by_building.cpp: checks that need the rooms below, made by building what they build.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "scenarios/communication.h"
#include "scenarios/load_sections.h"
#include "scenarios/placement.h"
#include "scenarios/quantities.h"

namespace stepsim {
namespace {

void check_placement(const Cluster& cluster, const Scenario& scenario) {
  if (!scenario.placement.empty()) {
    Mesh(cluster, scenario.strategy.mesh, given_placement(scenario, cluster));
  } else if (placements(cluster, scenario.strategy.mesh, 1).empty()) {
    throw InputError("parallelism.mesh", "no placement lays this mesh on the hardware axes");
  }
}

void collect(std::vector<Problem>& problems, const InputError& error) {
  problems.insert(problems.end(), error.problems().begin(), error.problems().end());
}

/// What is expected must be something that the run will have.
void check_quantities(const Scenario& scenario, const StepPlan& plan, std::vector<Problem>& problems) {
  const std::vector<std::string> known = quantities(plan);
  for (const Expectation& expectation : scenario.expect) {
    if (std::find(known.begin(), known.end(), expectation.quantity) != known.end()) continue;
    const std::string near = nearest(expectation.quantity, known);
    problems.push_back({expectation.place, "expect.quantity",
                        fmt::format("unknown quantity '{}'{} (known: {})", expectation.quantity,
                                    near.empty() ? "" : ", did you mean '" + near + "'?", fmt::join(known, ", "))});
  }
}

/// The usual algorithms of a torus do all that a plan asks for; others may not.
void check_collectives(const Scenario& scenario) {
  const bool usual = scenario.algorithm.empty() && scenario.protocol.empty() && scenario.protocols.empty();
  if (usual && scenario.cluster.kind == "torus") return;
  const Cluster cluster = build(scenario.cluster);
  const StepPlan steps = plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  check_methods(scenario, steps.collectives, cluster, mesh_of(scenario, cluster));
}

}  // namespace

void check_by_building(const Scenario& scenario) {
  std::vector<Problem> problems;
  try {
    check_placement(build(scenario.cluster), scenario);
  } catch (const InputError& error) {
    collect(problems, error);
  }
  try {
    check_quantities(scenario, plan(scenario.model, scenario.strategy, scenario.cluster.chip), problems);
  } catch (const InputError& error) {
    collect(problems, error);
  }
  if (!problems.empty()) throw InputError(problems);
  check_collectives(scenario);
}

}  // namespace stepsim
