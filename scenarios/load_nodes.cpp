// load_nodes.cpp: `cluster:` of kind nodes, and what a system says of driving its hardware: `protocols:`, `aliases:`.
#include <fmt/format.h>

#include <cmath>

#include "scenarios/algorithm_file.h"
#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

constexpr Range rate_range{1, 1'000'000'000'000'000};

/// A list of ratios such as [2, 1.5], as exact fractions of thousandths.
std::vector<Ratio> ratios(Section& cluster, const std::string& name) {
  std::vector<Ratio> all;
  const YamlValue* value = cluster.find(name);
  if (value == nullptr) {
    cluster.counts(name, {1, 1}, std::vector<int>{});
    return all;
  }
  if (value->kind != YamlValue::Kind::list) {
    cluster.problem(name, "expected a list with a ratio of 1 or more per tier below the top, such as [2]");
    return all;
  }
  if (value->items.empty()) cluster.findings().resolve(cluster.full(name), "[]", value->origin);
  YamlValue map;
  map.kind = YamlValue::Kind::map;
  for (std::size_t i = 0; i < value->items.size(); ++i) map.set({std::to_string(i), value->place}, value->items[i]);
  Section items(cluster.findings(), map, cluster.full(name), value->place);
  for (const YamlKey& tier : map.keys) {
    const double ratio = items.number(tier.name, 1, 1000, std::nullopt);
    all.push_back({std::llround(ratio * 1000), 1000});
  }
  return all;
}

void read_between(Section& cluster, NodesSpec& spec) {
  spec.nics = cluster.small_count("nics", {1, 1024}, std::nullopt);
  spec.nic_rate = cluster.rate("nic_rate", rate_range, std::nullopt);
  spec.nic_latency = cluster.time("nic_latency", Picoseconds(0));
  spec.wiring = static_cast<Wiring>(cluster.choice("wiring", {"leaf_spine", "rail_optimised", "rail_only"}, 0));
  spec.cross_rail = static_cast<CrossRail>(cluster.choice("cross_rail", {"spine", "pxn"}, 0));
  spec.oversubscription = ratios(cluster, "oversubscription");
  spec.tier_latency = cluster.time("tier_latency", Picoseconds(0));
  const bool hashed = cluster.choice("ecmp", {"spray", "hash"}, 0) == 1;
  if (hashed) {
    spec.uplinks = cluster.small_count("uplinks", {2, 4096}, std::nullopt);
    spec.ecmp_seed = static_cast<std::uint64_t>(cluster.count("ecmp_seed", {0, INT64_MAX}, 0));
  } else {
    cluster.unused({"uplinks", "ecmp_seed"}, "with ecmp spray");
  }
}

std::vector<std::string> texts(Section& section, const std::string& name, const std::string& expected) {
  std::vector<std::string> all;
  const YamlValue* value = section.find(name);
  if (value == nullptr) return all;
  if (value->kind != YamlValue::Kind::list) {
    section.problem(name, "expected a list of " + expected + ", found " + describe(*value));
    return all;
  }
  for (const YamlValue& item : value->items) all.push_back(item.text);
  return all;
}

/// A text, or {name, set, group, algorithm, op}.
Alias read_alias(Section& cluster, const YamlValue& item, std::size_t number) {
  Alias alias;
  if (item.kind == YamlValue::Kind::scalar) {
    alias.name = item.text;
    return alias;
  }
  Section entry(cluster.findings(), item, cluster.full("aliases." + std::to_string(number)), item.place);
  alias.name = entry.text("name", std::nullopt);
  alias.set = texts(entry, "set", "overrides such as 'cluster.nodes=[4]'");
  alias.group = entry.text("group", "");
  alias.algorithm = beside(entry.text("algorithm", ""), item.place.file);
  alias.op = entry.text("op", "");
  entry.done();
  return alias;
}

Protocol read_protocol(Section& section, const std::string& name) {
  Protocol protocol;
  protocol.name = name;
  protocol.algorithms = texts(section, "algorithms", "names of algorithms");
  protocol.one_node = section.flag("one_node", false);
  protocol.launch = section.time("launch", Picoseconds(0));
  protocol.hops.direct = section.time("direct_hop", Picoseconds(0));
  protocol.hops.pcie = section.time("pcie_hop", Picoseconds(0));
  protocol.hops.network = section.time("network_hop", Picoseconds(0));
  protocol.chunk = section.bytes("chunk", {0, INT64_MAX}, 0);
  protocol.channels = static_cast<std::uint32_t>(section.small_count("channels", {0, 64}, 0));
  if (section.has("share")) {
    const Fraction share = section.fraction("share", 1e-3, 1);
    protocol.share = std::max(1U, share.numerator);
    protocol.of = share.denominator;
  }
  section.done();
  return protocol;
}

}  // namespace

std::vector<std::string> nodes_keys() {
  return {"gpus",   "nodes",      "switch_rate",      "switch_latency", "nics", "nic_rate", "nic_latency",
          "wiring", "cross_rail", "oversubscription", "tier_latency",   "ecmp", "uplinks",  "ecmp_seed"};
}

void read_nodes(Section& cluster, Section& chip, ClusterSpec& spec) {
  spec.chip.pcie_rate = chip.rate("pcie_rate", {0, rate_range.most}, 0);
  spec.chip.pcie_latency = chip.time("pcie_latency", Picoseconds(0));
  NodesSpec& nodes = spec.nodes;
  nodes.gpus = cluster.small_count("gpus", {1, 1024}, std::nullopt);
  nodes.nodes = cluster.counts("nodes", {1, 65'536}, std::vector<int>{1});
  std::int64_t count = 1;
  for (const int extent : nodes.nodes) count = std::min<std::int64_t>(count * extent, most_chips + 1);
  nodes.switch_rate = nodes.gpus == 1 ? cluster.rate("switch_rate", {0, rate_range.most}, 0)
                                      : cluster.rate("switch_rate", rate_range, std::nullopt);
  nodes.switch_latency = cluster.time("switch_latency", Picoseconds(0));
  if (count > 1) {
    read_between(cluster, nodes);
  } else {  // a system keeps its network's keys for when it has several nodes
    for (const std::string& key : nodes_keys()) cluster.find(key);
  }
}

void read_costs(Section& cluster, Scenario& scenario) {
  if (const YamlValue* aliases = cluster.find("aliases")) {
    if (aliases->kind != YamlValue::Kind::list)
      cluster.problem("aliases", "expected a list, found " + describe(*aliases));
    for (std::size_t i = 0; i < aliases->items.size(); ++i) {
      scenario.aliases.push_back(read_alias(cluster, aliases->items[i], i));
    }
  }
  const YamlValue* value = cluster.find("protocols");
  if (value == nullptr) return;
  if (value->kind != YamlValue::Kind::map) {
    cluster.problem("protocols",
                    "expected protocols by name, such as {Simple: {launch: 20 us}}, found " + describe(*value));
    return;
  }
  for (const YamlKey& key : value->keys) {
    Section section(cluster.findings(), *value->find(key.name), cluster.full("protocols." + key.name), key.place);
    scenario.protocols.push_back(read_protocol(section, key.name));
  }
}

}  // namespace stepsim
