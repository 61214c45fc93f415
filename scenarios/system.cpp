#include "scenarios/system.h"

#include <algorithm>
#include <filesystem>

#include "scenarios/catalog.h"
#include "scenarios/load_sections.h"
#include "scenarios/overrides.h"

namespace stepsim {
namespace {

YamlValue tree_of(const std::string& name) {
  YamlValue system;
  system.kind = YamlValue::Kind::scalar;
  system.text = name;
  system.origin = "given";
  YamlValue cluster;
  cluster.kind = YamlValue::Kind::map;
  cluster.origin = "given";
  cluster.set({"system", {}}, system);
  YamlValue tree;
  tree.kind = YamlValue::Kind::map;
  tree.set({"cluster", {}}, cluster);
  return tree;
}

void use_hardware_as_mesh(Scenario& scenario) {
  const Cluster cluster = build(scenario.cluster);
  for (const HardwareAxis& axis : cluster.axes()) {
    scenario.strategy.mesh.push_back({axis.name, axis.extent});
    scenario.placement.push_back({axis.name});
  }
}

}  // namespace

Scenario system_entry(const std::string& name, const std::string& catalog) {
  Findings findings;
  const YamlValue tree = tree_of(name);
  Scenario scenario;
  Section root(findings, tree, "", {});
  read_cluster(root, catalog, scenario);
  return scenario;
}

bool is_system(const std::string& name, const std::string& catalog) {
  const std::vector<std::string> names = catalog_names(catalog, "systems");
  return std::find(names.begin(), names.end(), name) != names.end() && !std::filesystem::exists(name);
}

Scenario load_system(const std::string& name, const std::vector<std::string>& overrides, const std::string& catalog) {
  Findings findings;
  YamlValue tree = tree_of(name);
  apply_overrides(findings, tree, overrides);
  Scenario scenario;
  scenario.name = name;
  Section root(findings, tree, "", {});
  read_cluster(root, catalog, scenario);
  read_faults(root, scenario.cluster);
  read_collectives(root, scenario);
  read_simulation(root, scenario);
  root.done();
  if (!findings.problems.empty()) throw InputError(findings.problems);
  scenario.resolved = findings.resolved;
  use_hardware_as_mesh(scenario);
  return scenario;
}

}  // namespace stepsim
