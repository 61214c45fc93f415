// check_by_building.cpp: checks that need the rooms below, made by building what they build.
#include <utility>

#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

Placement given_placement(const Cluster& cluster, const Scenario& scenario) {
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

void check_placement(const Cluster& cluster, const Scenario& scenario) {
  if (!scenario.placement.empty()) {
    Mesh(cluster, scenario.strategy.mesh, given_placement(cluster, scenario));
  } else if (placements(cluster, scenario.strategy.mesh, 1).empty()) {
    throw InputError("parallelism.mesh", "no placement lays this mesh on the hardware axes");
  }
}

void collect(std::vector<Problem>& problems, const InputError& error) {
  problems.insert(problems.end(), error.problems().begin(), error.problems().end());
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
    plan(scenario.model, scenario.strategy, scenario.cluster.chip);
  } catch (const InputError& error) {
    collect(problems, error);
  }
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace stepsim
