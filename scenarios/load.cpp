// load.cpp: a scenario from a file: read the tree, apply overrides, read each section, check what only the rooms
// below can tell, and report every problem with its place.
#include "scenarios/load_sections.h"
#include "scenarios/overrides.h"

namespace stepsim {

std::optional<YamlValue> section_value(Section& root, const std::string& name, bool required) {
  if (const YamlValue* value = root.find(name)) return *value;
  if (required) {
    root.problem(name, "missing section");
    return std::nullopt;
  }
  YamlValue empty;
  empty.kind = YamlValue::Kind::map;
  return empty;
}

SourcePlace section_place(Section& root, const std::string& name) {
  const YamlKey* key = root.value().find_key(name);
  return key == nullptr ? root.place() : key->place;
}

void redirect(Findings& findings, const std::string& from_key, const YamlValue& from, YamlValue& into,
              const std::string& into_key, const std::string& name) {
  const YamlValue* there = into.find(name);
  const int difference = there == nullptr ? 1 : rank(from.origin) - rank(there->origin);
  if (difference == 0 && rank(from.origin) > 1) {
    findings.problem(from.place, from_key, "given as well as '" + into_key + "': expected one of the two");
  }
  if (difference < 0 || into.kind != YamlValue::Kind::map) return;
  YamlValue moved = from;
  moved.written_as = from_key;
  into.set({name, from.place}, moved);
}

namespace {

YamlValue read_tree(Findings& findings, const std::string& file, const std::vector<std::string>& overrides) {
  YamlValue tree = parse_yaml(read_text(file), file, "given");
  if (tree.kind == YamlValue::Kind::null) {
    throw InputError({Problem{{file, 0, 0}, "", "the file is empty: expected cluster, model and parallelism"}});
  }
  if (tree.kind != YamlValue::Kind::map) {
    throw InputError(
        {Problem{tree.place, "", "expected a map with cluster, model and parallelism, found " + describe(tree)}});
  }
  apply_overrides(findings, tree, overrides);
  return tree;
}

void read_sections(Section& root, const std::string& catalog, Scenario& scenario) {
  scenario.name = root.text("name", "unnamed");
  scenario.description = root.text("description", "");
  read_cluster(root, catalog, scenario);
  read_faults(root, scenario.cluster);
  scenario.model = read_model(root, catalog);
  read_parallelism(root, scenario);
  read_collectives(root, scenario);
  read_simulation(root, scenario);
  scenario.allow_oom = root.flag("allow_oom", false);
  read_expectations(root, scenario);
  root.done();
}

/// A problem of the rooms below names `cluster.shape` where the file may say `cluster.slice`.
std::string written_key(const YamlValue& tree, const std::string& key) {
  const std::vector<std::pair<std::string, std::string>> other_names = {
      {"cluster.shape", "cluster.slice"},
      {"cluster.chip.link_rate", "cluster.link_rate"},
      {"parallelism.batch_tokens", "parallelism.batch"},
      {"parallelism.batch_tokens", "parallelism.batch_per_chip"},
      {"model.sequence", "parallelism.sequence_length"}};
  for (const auto& [name, other] : other_names) {
    if (key != name) continue;
    const std::size_t dot = other.find('.');
    const YamlValue* section = tree.find(other.substr(0, dot));
    if (section != nullptr && section->find(other.substr(dot + 1)) != nullptr) return other;
  }
  return key;
}

void check_rooms(const Scenario& scenario, const YamlValue& tree) {
  try {
    check_by_building(scenario);
  } catch (const InputError& error) {
    std::vector<Problem> placed = error.problems();
    for (Problem& problem : placed) {
      problem.key = written_key(tree, problem.key);
      if (problem.place.file.empty()) problem.place = place_of(tree, problem.key);
    }
    throw InputError(placed);
  }
}

}  // namespace

Scenario load(const std::string& file, const std::vector<std::string>& overrides, const std::string& catalog) {
  Findings findings;
  const YamlValue tree = read_tree(findings, file, overrides);
  Scenario scenario;
  scenario.file = file;
  Section root(findings, tree, "", {file, 1, 1});
  read_sections(root, catalog, scenario);
  if (!findings.problems.empty()) throw InputError(findings.problems);
  scenario.resolved = findings.resolved;
  check_rooms(scenario, tree);
  return scenario;
}

}  // namespace stepsim
