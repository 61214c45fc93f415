// load_run.cpp: `collectives:`, `simulation:` and `expect:`, how a scenario is played and what is expected of it.
#include <algorithm>

#include "scenarios/load_sections.h"

namespace stepsim {

namespace {

/// On a torus the default is what its axes are made for.
void read_methods(Section& collectives, Scenario& scenario) {
  std::vector<std::string> algorithms = collective_algorithms().names();
  algorithms.insert(algorithms.begin(), "auto");
  const bool given = collectives.has("algorithm");
  const std::string usual = scenario.cluster.kind == "torus" ? "torus" : "auto";
  const auto fallback = std::find(algorithms.begin(), algorithms.end(), usual) - algorithms.begin();
  const std::size_t chosen = collectives.choice("algorithm", algorithms, static_cast<std::size_t>(fallback));
  if (given) scenario.algorithm = algorithms[chosen];
  std::vector<std::string> protocols{"auto"};
  for (const Protocol& protocol : scenario.protocols) protocols.push_back(protocol.name);
  const std::size_t protocol = collectives.choice("protocol", protocols, 0);
  if (protocol > 0) scenario.protocol = protocols[protocol];
}

}  // namespace

void read_collectives(Section& root, Scenario& scenario) {
  const std::optional<YamlValue> value = section_value(root, "collectives", false);
  Section collectives(root.findings(), *value, "collectives", section_place(root, "collectives"));
  scenario.ring = static_cast<RingStyle>(collectives.choice("ring", {"one_way", "halves", "whole_shards"}, 1));
  scenario.weighted_parts = collectives.choice("parts", {"equal", "weighted"}, 0) == 1;
  scenario.chunk = collectives.bytes("chunk", {0, INT64_MAX}, Bytes{512} * 1024);
  read_methods(collectives, scenario);
  collectives.done();
}

void read_simulation(Section& root, Scenario& scenario) {
  const std::optional<YamlValue> value = section_value(root, "simulation", false);
  Section simulation(root.findings(), *value, "simulation", section_place(root, "simulation"));
  RunOptions& run = scenario.run;
  run.latency_model = static_cast<LatencyModel>(simulation.choice("latency_model", {"additive", "max"}, 0));
  run.max_steps = static_cast<std::uint32_t>(simulation.count("max_steps", {2, 1000}, 10));
  run.exact_steps = static_cast<std::uint32_t>(simulation.count("exact_steps", {0, 1000}, 0));
  run.shuffle_seed = static_cast<std::uint64_t>(simulation.count("shuffle_seed", {0, INT64_MAX}, 0));
  scenario.fold = simulation.choice("fold", {"auto", "off"}, 0) == 0;
  simulation.done();
}

namespace {

Expectation read_expectation(Section& entry) {
  Expectation expectation;
  expectation.place = entry.place();
  expectation.quantity = entry.text("quantity", std::nullopt);
  expectation.value = entry.quantity("value");
  expectation.tolerance = entry.number("tolerance", 0, 1, std::nullopt);
  expectation.source = entry.text("source", std::nullopt);
  entry.done();
  return expectation;
}

}  // namespace

void read_expectations(Section& root, Scenario& scenario) {
  const YamlValue* value = root.find("expect");
  if (value == nullptr) return;
  if (value->kind != YamlValue::Kind::list) {
    root.problem("expect", "expected a list of {quantity, value, tolerance, source}, found " + describe(*value));
    return;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const YamlValue& item = value->items[i];
    Section entry(root.findings(), item, "expect." + std::to_string(i), item.place);
    scenario.expect.push_back(read_expectation(entry));
  }
}

}  // namespace stepsim
