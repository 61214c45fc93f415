// load_parallelism.cpp: `parallelism:` -> Strategy and placement.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenarios/load_sections.h"
#include "scenarios/units.h"

namespace stepsim {
namespace {

/// In the order that strategy.h gives their roles.
std::vector<std::string> axis_names() {
  return {"data", "fsdp", "sequence", "pipeline", "tensor"};
}

std::string mesh_text(const std::vector<MeshAxis>& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh) text += (text.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.extent);
  return text;
}

void read_mesh(Section& parallelism, Strategy& strategy) {
  const YamlValue* value = parallelism.find("mesh");
  if (value == nullptr) {
    parallelism.problem("mesh", "missing: expected extents by axis such as {fsdp: 16, tensor: 4}");
    return;
  }
  Section mesh(parallelism.findings(), *value, parallelism.full("mesh"), value->place);
  for (const std::string& name : axis_names()) mesh.find(name);
  for (const YamlKey& axis : mesh.value().keys) {
    const std::vector<std::string> known = axis_names();
    if (std::find(known.begin(), known.end(), axis.name) == known.end()) continue;
    strategy.mesh.push_back({axis.name, mesh.small_count(axis.name, {1, 1 << 20}, std::nullopt)});
  }
  mesh.done();
  if (value->kind == YamlValue::Kind::map && value->keys.empty()) {
    parallelism.problem("mesh", "expected extents by axis such as {fsdp: 16, tensor: 4}, found an empty map");
  }
}

/// For each axis, the extent that would make the mesh fit if the others stay.
std::string what_would_fit(const std::vector<MeshAxis>& mesh, std::int64_t product, std::int64_t chips) {
  std::string text;
  for (const MeshAxis& axis : mesh) {
    const std::int64_t others = product / axis.extent;
    if (chips % others != 0) continue;
    text += (text.empty() ? "" : ", or ") + axis.name + ": " + std::to_string(chips / others);
  }
  return text.empty() ? "extents that multiply to " + std::to_string(chips) : text;
}

void check_mesh(Section& parallelism, const Strategy& strategy, std::int64_t chips) {
  std::int64_t product = 1;
  for (const MeshAxis& axis : strategy.mesh) {
    if (axis.extent < 1) return;  // reported already
    product = std::min<std::int64_t>(product * axis.extent, std::int64_t{1} << 40);
  }
  if (chips == 0 || chips > most_chips || strategy.mesh.empty() || product == chips) return;
  parallelism.problem("mesh",
                      fmt::format("expected a mesh of {} chips, as the cluster has, found {} = {}, which is {} "
                                  "(would fit: {})",
                                  chips, mesh_text(strategy.mesh), product, product > chips ? "larger" : "smaller",
                                  what_would_fit(strategy.mesh, product, chips)));
}

/// The terms of one axis: a list of texts, or one text.
std::vector<std::string> terms(Section& placement, const std::string& axis) {
  const YamlValue* value = placement.find(axis);
  std::vector<std::string> all;
  const auto add = [&](const YamlValue& term) {
    if (term.kind == YamlValue::Kind::scalar) {
      all.push_back(term.text);
    } else {
      placement.problem(axis, "expected terms such as \"x\" or \"y:4@4\", found " + describe(term));
    }
  };
  if (value->kind == YamlValue::Kind::list) {
    for (const YamlValue& term : value->items) add(term);
  } else {
    add(*value);
  }
  std::string text;
  for (const std::string& term : all) text += (text.empty() ? "" : " ") + term;
  placement.findings().resolve(placement.full(axis), text, value->origin);
  return all;
}

void read_placement(Section& parallelism, Scenario& scenario) {
  const YamlValue* value = parallelism.find("placement");
  if (value == nullptr || value->kind != YamlValue::Kind::map) {
    parallelism.choice("placement", {"auto"}, 0);
    return;
  }
  Section placement(parallelism.findings(), *value, parallelism.full("placement"), value->place);
  for (const MeshAxis& axis : scenario.strategy.mesh) {
    const bool given = placement.find(axis.name) != nullptr;
    scenario.placement.push_back(given ? terms(placement, axis.name) : std::vector<std::string>{});
    if (!given && axis.extent > 1) {
      placement.problem(axis.name, "missing: expected the hardware axes of this mesh axis such as [\"x\", \"y:4\"]");
    }
  }
  placement.done();
}

void read_batch(Section& parallelism, Strategy& strategy, std::int64_t chips) {
  constexpr Range tokens{1, std::int64_t{1} << 40};
  const std::string chosen = parallelism.one_of("batch", "batch_per_chip");
  if (chosen.empty()) {
    parallelism.problem("batch", "missing: expected tokens per step such as '4Mi tokens', or batch_per_chip");
    return;
  }
  strategy.batch_tokens = parallelism.count(chosen, tokens, std::nullopt);
  if (chosen == "batch") return;
  const std::string origin = parallelism.find(chosen)->origin;
  strategy.batch_tokens *= std::max<std::int64_t>(chips, 1);
  parallelism.findings().resolve(parallelism.full("batch"), format_count(strategy.batch_tokens),
                                 origin + " (batch_per_chip x chips)");
}

/// none, full, or "N per layer".
void read_checkpoints(Section& parallelism, Strategy& strategy) {
  const YamlValue* value = parallelism.find("checkpoints");
  const std::string suffix = " per layer";
  if (value == nullptr || !value->text.ends_with(suffix)) {
    const std::string shown = "N per layer";
    const std::size_t chosen = parallelism.choice("checkpoints", {"none", "full", shown}, 0);
    strategy.checkpoints = static_cast<Checkpoints>(chosen);
    if (chosen == 2) parallelism.problem("checkpoints", "expected a number for N, as in '2 per layer'");
    return;
  }
  YamlValue number = *value;
  number.text = number.text.substr(0, number.text.size() - suffix.size());
  YamlValue map;
  map.kind = YamlValue::Kind::map;
  map.set({"checkpoints", value->place}, number);
  Section inside(parallelism.findings(), map, "parallelism", value->place);
  strategy.checkpoints = Checkpoints::per_layer;
  strategy.checkpoints_per_layer = inside.small_count("checkpoints", {1, 64}, std::nullopt);
  parallelism.findings().resolved.pop_back();
  parallelism.findings().resolve("parallelism.checkpoints", value->text, value->origin);
}

int bytes_of(const std::string& dtype) {
  if (dtype == "fp32") return 4;
  return dtype == "bf16" || dtype == "fp16" ? 2 : 1;
}

void read_dtype(Section& parallelism, Strategy& strategy, const ChipSpec& chip) {
  constexpr Range element{1, 8};
  std::vector<std::string> known;
  for (const auto& [name, flops] : chip.flops) known.push_back(name);
  strategy.dtype = parallelism.text("dtype", "bf16");
  if (!known.empty() && !chip.flops.contains(strategy.dtype)) {
    parallelism.problem("dtype", fmt::format("expected a dtype that the chip has a peak for ({}), found '{}'",
                                             fmt::join(known, ", "), strategy.dtype));
  }
  const int bytes = bytes_of(strategy.dtype);
  strategy.weight_bytes = parallelism.small_count("weight_bytes", element, bytes);
  strategy.gradient_bytes = parallelism.small_count("gradient_bytes", element, bytes);
  strategy.activation_bytes = parallelism.small_count("activation_bytes", element, bytes);
}

void read_optimizer(Section& parallelism, Strategy& strategy) {
  YamlValue empty;
  empty.kind = YamlValue::Kind::map;
  const YamlValue* value = parallelism.find("optimizer");
  Section optimizer(parallelism.findings(), value == nullptr ? empty : *value, parallelism.full("optimizer"),
                    value == nullptr ? parallelism.place() : value->place);
  strategy.moment_bytes = optimizer.small_count("moment_bytes", {0, 8}, 4);
  strategy.master_bytes = optimizer.small_count("master_bytes", {0, 8}, 0);
  optimizer.done();
}

void read_sharding(Section& parallelism, Strategy& strategy) {
  strategy.microbatches = parallelism.count("microbatches", {1, 1'000'000}, 1);
  strategy.zero = parallelism.small_count("zero", {0, 3}, 3);
  strategy.prefetch = parallelism.small_count("prefetch", {0, 1000}, 1);
  strategy.reshard_after_forward = parallelism.flag("reshard_after_forward", true);
  strategy.separate_reduce_queue = parallelism.flag("separate_reduce_queue", true);
  strategy.bucket = parallelism.bytes("bucket", {1, std::int64_t{1} << 50}, strategy.bucket);
  strategy.tensor_overlap_chunks = parallelism.small_count("tensor_overlap_chunks", {1, 1024}, 1);
  strategy.regather_tensor_input = parallelism.flag("regather_tensor_input", false);
}

}  // namespace

void read_parallelism(Section& root, Scenario& scenario) {
  const std::optional<YamlValue> value = section_value(root, "parallelism", true);
  if (!value) return;
  Section parallelism(root.findings(), *value, "parallelism", section_place(root, "parallelism"));
  if (!parallelism.usable()) return;
  const std::int64_t chips = chip_count(scenario.cluster);
  read_mesh(parallelism, scenario.strategy);
  check_mesh(parallelism, scenario.strategy, chips);
  read_placement(parallelism, scenario);
  read_batch(parallelism, scenario.strategy, chips);
  parallelism.find("sequence_length");  // read with the model
  read_sharding(parallelism, scenario.strategy);
  read_pipeline(parallelism, scenario.strategy);
  read_checkpoints(parallelism, scenario.strategy);
  read_dtype(parallelism, scenario.strategy, scenario.cluster.chip);
  read_optimizer(parallelism, scenario.strategy);
  parallelism.done();
}

}  // namespace stepsim
