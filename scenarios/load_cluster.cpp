// load_cluster.cpp: `cluster:` -> ClusterSpec. Each kind of cluster has its own keys; those of another kind are
// reported rather than ignored.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "scenarios/catalog.h"
#include "scenarios/load_import.h"
#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

constexpr Range any_rate{0, 1'000'000'000'000'000};  // up to 1 PB/s
constexpr Range some_rate{1, 1'000'000'000'000'000};
constexpr Range extent{1, 65'536};

void read_flops(Section& chip, ChipSpec& spec) {
  const YamlValue* value = chip.find("flops");
  if (value == nullptr) {
    chip.problem("flops", "missing: expected dense peaks by dtype such as {bf16: 459 TFLOP/s}");
    return;
  }
  Section flops(chip.findings(), *value, chip.full("flops"), value->place);
  for (const YamlKey& dtype : flops.value().keys) spec.flops[dtype.name] = flops.flops(dtype.name);
  if (value->kind == YamlValue::Kind::map && spec.flops.empty()) {
    chip.problem("flops", "expected dense peaks by dtype such as {bf16: 459 TFLOP/s}, found an empty map");
  }
}

void read_compute(Section& chip, ChipSpec& spec) {
  constexpr Range memory{1, 1'000'000'000'000'000};  // up to 1 PB
  spec.name = chip.text("name", "inline");
  read_flops(chip, spec);
  spec.memory = chip.bytes("memory", memory, std::nullopt);
  spec.memory_rate = static_cast<double>(chip.rate("memory_rate", some_rate, std::nullopt));
  spec.matmul_efficiency = chip.number("matmul_efficiency", 1e-3, 1, 1.0);
  spec.memory_efficiency = chip.number("memory_efficiency", 1e-3, 1, 1.0);
  spec.launch_overhead = chip.time("launch_overhead", Picoseconds(0));
  spec.matmul_tile = chip.small_count("matmul_tile", {1, 65'536}, 1);
  spec.cores = chip.small_count("cores", {1, 1024}, 1);
}

}  // namespace

void read_host_link(Section& chip, ChipSpec& spec) {
  spec.pcie_rate = chip.rate("pcie_rate", any_rate, 0);
  spec.pcie_latency = chip.time("pcie_latency", Picoseconds(0));
}

namespace {

void check_axes(Section& chip, const std::string& name, const std::vector<int>& extents, int axes) {
  if (extents.empty() || static_cast<int>(extents.size()) == axes) return;
  chip.problem(name, fmt::format("expected {} extents, one per axis, found {}", axes, extents.size()));
}

void read_interconnect(Section& chip, ChipSpec& spec) {
  spec.axes = chip.small_count("axes", {1, 3}, std::nullopt);
  spec.pod = chip.counts("pod", extent, std::nullopt);
  spec.host_shape = chip.counts("host_shape", extent, std::nullopt);
  spec.wrap = static_cast<WrapRule>(chip.choice("wrap", {"none", "cubes", "full_extent"}, std::nullopt));
  check_axes(chip, "pod", spec.pod, spec.axes);
  check_axes(chip, "host_shape", spec.host_shape, spec.axes);
  spec.link_rate = chip.rate("link_rate", some_rate, std::nullopt);
  spec.link_latency = chip.time("link_latency", Picoseconds(0));
  spec.dcn_rate_per_chip = chip.rate("dcn_rate_per_chip", any_rate, 0);
  spec.dcn_latency = chip.time("dcn_latency", Picoseconds(0));
  spec.slice_name_counts_cores = chip.flag("slice_name_counts_cores", false);
  spec.slice_prefix = chip.text("slice_prefix", "");
}

}  // namespace

std::vector<std::string> interconnect_keys() {
  return {"axes",
          "pod",
          "host_shape",
          "wrap",
          "link_rate",
          "link_latency",
          "dcn_latency",
          "dcn_rate_per_chip",
          "slice_name_counts_cores",
          "slice_prefix"};
}

namespace {

void read_slice_name(Section& cluster, ClusterSpec& spec) {
  const std::string slice = cluster.text("slice", std::nullopt);
  // A chip that could not be read has no prefix to compare with; its own problems are enough.
  if (slice.empty() || spec.chip.axes == 0) return;
  try {
    spec.shape = slice_shape(slice, spec.chip);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) cluster.problem("slice", problem.message);
  }
}

void read_shape(Section& cluster, ClusterSpec& spec) {
  const std::string chosen = cluster.one_of("slice", "shape");
  if (chosen == "slice") {
    read_slice_name(cluster, spec);
  } else if (chosen == "shape") {
    spec.shape = cluster.counts("shape", extent, std::nullopt);
  } else {
    cluster.problem("shape", "missing: expected the extents of a slice such as [4, 4, 8], or its name as 'slice'");
  }
  if (spec.chip.axes > 0) check_axes(cluster, chosen, spec.shape, spec.chip.axes);
}

/// auto, or true / false per axis.
void read_wraps(Section& cluster, ClusterSpec& spec) {
  const YamlValue* value = cluster.find("wraps");
  if (value == nullptr || value->kind != YamlValue::Kind::list) {
    cluster.choice("wraps", {"auto"}, 0);
    return;
  }
  YamlValue map;
  map.kind = YamlValue::Kind::map;
  for (std::size_t i = 0; i < value->items.size(); ++i) map.set({std::to_string(i), value->place}, value->items[i]);
  Section items(cluster.findings(), map, cluster.full("wraps"), value->place);
  for (const YamlKey& axis : map.keys) spec.wraps.push_back(items.flag(axis.name, false));
  if (spec.wraps.size() == spec.shape.size() || spec.shape.empty()) return;
  cluster.problem(
      "wraps", fmt::format("expected auto or {} flags, one per axis, found {}", spec.shape.size(), spec.wraps.size()));
}

void read_torus(Section& cluster, Section& chip, ClusterSpec& spec) {
  read_interconnect(chip, spec.chip);
  read_host_link(chip, spec.chip);
  read_shape(cluster, spec);
  read_wraps(cluster, spec);
  spec.twisted = cluster.flag("twisted", false);
  spec.slices = cluster.small_count("slices", {1, 65'536}, 1);
  if (spec.slices > 1 && chip.usable() && (spec.chip.dcn_rate_per_chip == 0 || spec.chip.pcie_rate == 0)) {
    cluster.problem("slices", "expected 1, as the chip has no dcn_rate_per_chip or no pcie_rate to join slices with");
  }
}

void read_switches(Section& cluster, ClusterSpec& spec) {
  spec.devices_per_switch = cluster.counts("devices_per_switch", {1, 4096}, std::vector<int>{});
  if (spec.devices_per_switch.empty() || spec.devices < 1) return;
  std::int64_t sum = 0;
  for (const int devices : spec.devices_per_switch) sum += devices;
  if (sum != spec.devices) {
    cluster.problem(
        "devices_per_switch",
        fmt::format("expected numbers that add up to the {} devices, found a sum of {}", spec.devices, sum));
  }
}

void read_pcie(Section& cluster, Section& chip, ClusterSpec& spec) {
  chip.unused(interconnect_keys(), "with kind pcie");
  read_host_link(chip, spec.chip);
  if (spec.chip.pcie_rate == 0) chip.problem("pcie_rate", "expected more than 0, as kind pcie has no other link");
  spec.devices = cluster.small_count("devices", {1, 4096}, std::nullopt);
  read_switches(cluster, spec);
  spec.root_complexes = cluster.small_count("root_complexes", {1, 4096}, 1);
  spec.peer_to_peer = cluster.flag("peer_to_peer", true);
  const bool staged = !spec.peer_to_peer || spec.root_complexes > 1;
  spec.host_memory_rate = staged ? cluster.rate("host_memory_rate", some_rate, std::nullopt)
                                 : cluster.rate("host_memory_rate", any_rate, 0);
  spec.root_complex_rate = staged ? cluster.rate("root_complex_rate", some_rate, std::nullopt)
                                  : cluster.rate("root_complex_rate", any_rate, 0);
  spec.staging_latency = cluster.time("staging_latency", Picoseconds(0));
}

/// Files of other tools tell all links: the chip gives none.
void unused_links(Section& chip, const std::string& kind) {
  chip.unused(interconnect_keys(), "with kind " + kind);
  chip.unused({"pcie_rate", "pcie_latency"}, "with kind " + kind);
}

void read_nccl(Section& cluster, Section& chip, ClusterSpec& spec) {
  unused_links(chip, "nccl_topology");
  read_nccl_topology(cluster, spec);
}

void read_smi(Section& cluster, Section& chip, ClusterSpec& spec) {
  unused_links(chip, "nvidia_smi");
  read_nvidia_smi(cluster, spec);
}

/// Keys of a PCIe tree, and more.
std::vector<std::string> tree_keys(std::vector<std::string> keys) {
  keys.insert(keys.end(),
              {"devices_per_switch", "switches_per_upper", "sockets", "switch_rate", "socket_rate", "socket_latency",
               "peer_to_peer", "intel_peers", "host_memory_rate", "memory_link_rate", "staging_latency", "nics"});
  return keys;
}

struct Kind {
  std::string name;
  std::vector<std::string> keys;  // under `cluster`, of this kind; others may have some of them too
  void (*read)(Section& cluster, Section& chip, ClusterSpec& spec);
};

/// To add a kind of cluster: one line here with its keys and the function that reads them.
std::vector<Kind> kinds() {
  return {
      {"torus", {"slice", "shape", "wraps", "twisted", "slices", "link_rate", "link_latency"}, read_torus},
      {"pcie",
       {"devices", "devices_per_switch", "root_complexes", "peer_to_peer", "host_memory_rate", "root_complex_rate",
        "staging_latency"},
       read_pcie},
      {"nodes", nodes_keys(), read_nodes},
      {"links", {"vertices", "links", "chips_relay", "peer_to_peer"}, read_links},
      {"pcie_tree", tree_keys({}), read_pcie_tree},
      {"nvlink", tree_keys({"wiring", "nvlink_rate", "nvlink_latency", "nvlinks"}), read_nvlink},
      {"nccl_topology", {"file"}, read_nccl},
      {"nvidia_smi", {"file", "pcie_gen", "nvlink_gen", "socket_rate"}, read_smi},
  };
}

/// The chip's map, with the what-if keys of the cluster (link_rate, link_latency) put into it; nothing when there is
/// no chip to read, which has been reported.
std::optional<YamlValue> chip_value(Section& cluster, const std::string& catalog, bool torus) {
  const YamlValue* given = cluster.find("chip");
  if (given == nullptr) {
    cluster.problem("chip", fmt::format("missing: expected the name of a chip ({}) or its keys",
                                        fmt::join(catalog_names(catalog, "chips"), ", ")));
    return std::nullopt;
  }
  std::optional<YamlValue> chip = resolve_reference(cluster.findings(), catalog, "chips", cluster.full("chip"), *given);
  for (const std::string name : {"link_rate", "link_latency"}) {
    const YamlValue* what_if = cluster.find(name);
    if (!chip || what_if == nullptr || !torus) continue;
    redirect(cluster.findings(), cluster.full(name), *what_if, *chip, cluster.full("chip." + name), name);
  }
  return chip;
}

void read_of_kind(Section& cluster, const std::string& catalog, const Kind& kind, ClusterSpec& spec) {
  const std::optional<YamlValue> value = chip_value(cluster, catalog, kind.name == "torus");
  const std::string key = cluster.full("chip");
  const YamlKey* given = cluster.value().find_key("chip");
  const SourcePlace place = given == nullptr ? cluster.place() : given->place;
  Section chip =
      value ? Section(cluster.findings(), *value, key, place) : Section::unusable(cluster.findings(), key, place);
  read_compute(chip, spec.chip);
  kind.read(cluster, chip, spec);
  chip.done();
}

void read_keys(Section& cluster, const std::string& catalog, Scenario& scenario) {
  ClusterSpec& spec = scenario.cluster;
  const std::vector<Kind> all = kinds();
  std::vector<std::string> names;
  for (const Kind& kind : all) names.push_back(kind.name);
  const Kind& chosen = all[cluster.choice("kind", names, std::nullopt)];
  spec.kind = chosen.name;
  read_of_kind(cluster, catalog, chosen, spec);
  std::set<std::string> others;
  for (const Kind& kind : all) {
    std::copy_if(kind.keys.begin(), kind.keys.end(), std::inserter(others, others.end()), [&](const std::string& key) {
      return std::find(chosen.keys.begin(), chosen.keys.end(), key) == chosen.keys.end();
    });
  }
  read_costs(cluster, scenario);
  cluster.unused({others.begin(), others.end()}, "with kind " + chosen.name);
  cluster.done();
  if (chip_count(spec) > most_chips) {
    const bool nodes = spec.kind == "nodes";
    const std::string shape = nodes ? fmt::format("{} a node", spec.nodes.gpus)
                                    : fmt::format("{} slice(s) of [{}]", spec.slices, fmt::join(spec.shape, ", "));
    cluster.problem(nodes ? "nodes" : "shape",
                    fmt::format("expected at most {} chips in all, found {}", most_chips, shape));
  }
}

}  // namespace

std::int64_t chip_count(const ClusterSpec& cluster) {
  if (cluster.kind == "pcie") return cluster.devices;
  if (cluster.kind == "nodes") {
    std::int64_t chips = cluster.nodes.gpus;
    for (const int extent : cluster.nodes.nodes) chips = std::min<std::int64_t>(chips * extent, most_chips + 1);
    return chips;
  }
  if (cluster.kind == "links" || cluster.kind == "pcie_tree" || cluster.kind == "nvlink") return listed_chips(cluster);
  std::int64_t chips = cluster.shape.empty() ? 0 : cluster.slices;
  for (const int extent : cluster.shape) chips = std::min<std::int64_t>(chips * extent, most_chips + 1);
  return chips;
}

void read_cluster(Section& root, const std::string& catalog, Scenario& scenario) {
  const std::optional<YamlValue> given = section_value(root, "cluster", true);
  if (!given) return;
  const auto value = resolve_reference(root.findings(), catalog, "systems", "cluster", *given, "system");
  if (!value) return;
  Section cluster(root.findings(), *value, "cluster", section_place(root, "cluster"));
  if (cluster.usable()) read_keys(cluster, catalog, scenario);
}

ClusterSpec read_cluster(Section& root, const std::string& catalog) {
  Scenario scenario;
  read_cluster(root, catalog, scenario);
  return scenario.cluster;
}

}  // namespace stepsim
