// subject.cpp: the part of the report that says what is simulated.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/class_report.h"
#include "schedules/stages.h"
#include "tools/fault_lines.h"
#include "tools/format.h"
#include "tools/run_report.h"
#include "tools/table.h"
#include "tools/warnings.h"

namespace stepsim {

namespace {

constexpr std::size_t label_width = 13;  // "  placement  "
constexpr std::size_t text_width = 98;
constexpr std::size_t most_faults = 8;

std::string line(const std::string& label, const std::string& text, bool colour, Paint how = Paint::dim) {
  const std::string blanks(label_width - 2 - std::min(label_width - 2, width(label)), ' ');
  const std::string body = indented(wrapped(text, text_width - label_width, 0), label_width);
  return "  " + paint(colour, how, label) + blanks + body + "\n";
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::string wraps(const Cluster& cluster) {
  std::vector<std::string> closed;
  std::vector<std::string> open;
  for (const HardwareAxis& axis : cluster.axes()) {
    if (axis.direct || axis.extent < 2) continue;
    (axis.wraps ? closed : open).push_back(axis.name);
  }
  std::string text;
  if (!closed.empty()) text += "; wraps on " + joined(closed, ", ");
  if (!open.empty()) text += "; open on " + joined(open, ", ");
  return text;
}

std::string cluster_text(const Cluster& cluster) {
  std::string text = cluster_kind_text(cluster) +
                     fmt::format(": {} {}", grouped(cluster.chips()), cluster.chips() == 1 ? "chip" : "chips");
  if (static_cast<std::uint32_t>(cluster.cores()) != cluster.chips())
    text += ", " + grouped(cluster.cores()) + " cores";
  return text + fmt::format(", {} {}", grouped(cluster.hosts()), cluster.hosts() == 1 ? "host" : "hosts") +
         wraps(cluster);
}

std::string mesh_text(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes())
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.extent);
  return text.empty() ? "one chip" : text;
}

std::string model_text(const ModelSpec& model) {
  std::string text = fmt::format("{}: {} parameters, {} layers, d_model {}, d_ff {}", model.name,
                                 count_text(static_cast<double>(parameters(model).total)), model.layers,
                                 grouped(model.d_model), grouped(model.d_ff));
  if (model.attention != Attention::none) {
    text += fmt::format(", {} heads ({} kv) of {}, {} attention", model.heads, model.kv_heads, model.head_dim,
                        model.attention == Attention::causal ? "causal" : "full");
  } else {
    text += ", no attention";
  }
  if (model.vocabulary > 0) text += fmt::format(", vocabulary {}", grouped(model.vocabulary));
  return text;
}

std::string batch_text(const Scenario& scenario, std::uint32_t chips) {
  const Strategy& strategy = scenario.strategy;
  return fmt::format("{} tokens in sequences of {} ({} tokens per chip), {} {}", grouped(strategy.batch_tokens),
                     grouped(scenario.model.sequence),
                     significant(share(static_cast<double>(strategy.batch_tokens), chips), 4), strategy.microbatches,
                     strategy.microbatches == 1 ? "microbatch" : "microbatches");
}

std::string strategy_text(const Strategy& strategy) {
  static const char* const zero[] = {"replicated state (ZeRO 0)", "sharded optimizer (ZeRO 1)",
                                     "sharded optimizer and gradients (ZeRO 2)", "sharded weights (ZeRO 3, FSDP)"};
  std::string text = fmt::format("{} {}", strategy.dtype, zero[std::min(std::max(strategy.zero, 0), 3)]);
  if (strategy.zero == 3) {
    text += fmt::format(", {} {} gathered ahead", strategy.prefetch, strategy.prefetch == 1 ? "layer" : "layers");
  }
  if (strategy.tensor_overlap_chunks > 1) {
    text += fmt::format(", tensor collectives in {} chunks", strategy.tensor_overlap_chunks);
  }
  switch (strategy.checkpoints) {
    case Checkpoints::none:
      return text + ", all activations kept";
    case Checkpoints::full:
      return text + ", layers recomputed from their inputs";
    case Checkpoints::per_layer:
      return text + fmt::format(", {} activations kept per layer", strategy.checkpoints_per_layer);
  }
  return text;
}

/// "6", or the first number of every stretch of like ones: "5 x 2, 6 x 4, 5 x 2".
std::string runs_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end - i < numbers.size()) text += fmt::format(" x {}", end - i);
    i = end;
  }
  return text;
}

std::string pipeline_text(const Scenario& scenario, const PipelineOrder& order) {
  const PipelineStrategy& pipeline = scenario.strategy.pipeline;
  const std::size_t ranks = order.ranks.size();
  std::string text = fmt::format(
      "{}: {} ranks, {} stages of {} layers, {} microbatches", pipeline.schedule, ranks, order.stages,
      runs_text(layers_of_stages(scenario.model, scenario.strategy, order.stages)), order.units / order.segments);
  if (order.segments > 1) text += fmt::format(" in {} segments", order.segments);
  if (order.copies() > 1) text += fmt::format(", {} copies of the weights", order.copies());
  constexpr const char* sends[] = {"eager", "paired", "blocking"};
  text += fmt::format(", {} sends", sends[static_cast<std::size_t>(pipeline.sends)]);
  constexpr const char* spans[] = {"microbatch", "stage", "step"};
  if (scenario.strategy.zero >= 2 && degrees(scenario.strategy).shard > 1) {
    text += fmt::format(", sharded for each {}", spans[static_cast<std::size_t>(pipeline.sharded_for)]);
  }
  return text + (pipeline.synchronised ? ", optimizer synchronised" : ", optimizer validated afterwards");
}

std::string predicted(const RankedPlacement& placement) {
  return fmt::format("{} exposed of {} communication predicted", seconds_text(placement.exposed),
                     seconds_text(placement.total));
}

std::string alternative(const Mesh& mesh, const RankedPlacement& placement) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < placement.text.size() && i < mesh.axes().size(); ++i) {
    if (mesh.axes()[i].extent > 1) axes.push_back(mesh.axes()[i].name + " " + placement.text[i]);
  }
  return predicted(placement) + ": " + joined(axes, "; ");
}

std::string placement_lines(const Scenario& scenario, const Assembly& assembly, bool colour) {
  const std::vector<RankedPlacement>& all = assembly.placements;
  if (all.empty()) return "";
  if (!scenario.placement.empty()) return line("placement", "as given; " + predicted(all.front()), colour);
  std::string text =
      fmt::format("chosen from {}: {}", grouped(static_cast<std::int64_t>(all.size())), predicted(all.front()));
  text = line("placement", text, colour);
  for (std::size_t i = 1; i < all.size() && i < 3; ++i) {
    text += line(i == 1 ? "next best" : "", alternative(*assembly.mesh, all[i]), colour);
  }
  return text;
}

}  // namespace

std::string folding_text(const Assembly& assembly) {
  const std::uint32_t chips = assembly.cluster->chips();
  const std::uint32_t classes = assembly.symmetry->classes();
  if (!assembly.folded) return fmt::format("none: all {} chips are played", grouped(chips));
  std::string text = fmt::format("{} {} play as {} {}, exactly", grouped(chips), chips == 1 ? "chip" : "chips",
                                 grouped(classes), classes == 1 ? "class" : "classes");
  if (classes > 1) text += ", told apart by " + joined(why_classes_differ(assembly), ", ");
  return text;
}

std::string subject(const Scenario& scenario, const Assembly& assembly, bool colour) {
  std::string text = paint(colour, Paint::bold, scenario.name) + "\n";
  if (!scenario.description.empty()) text += "  " + wrapped(scenario.description, text_width - 2, 2) + "\n";
  text += "\n" + line("cluster", cluster_text(*assembly.cluster), colour);
  text += line("mesh", mesh_text(*assembly.mesh), colour);
  for (std::size_t i = 0; i < assembly.mesh->axes().size(); ++i) {
    const MeshAxis& axis = assembly.mesh->axes()[i];
    if (axis.extent > 1) text += line("", axis.name + " on " + assembly.mesh->describe(static_cast<int>(i)), colour);
  }
  text += placement_lines(scenario, assembly, colour);
  text += line("folding", folding_text(assembly), colour);
  for (const std::string& fault : fault_lines(*assembly.cluster, most_faults)) text += line("fault", fault, colour);
  for (const std::string& note : assembly.cluster->spec().graph.notes) text += line("note", note, colour);
  for (const Straddle& one : straddles(scenario, *assembly.cluster, *assembly.mesh)) {
    text += line("warning", straddle_text(one, *assembly.cluster), colour, Paint::yellow);
  }
  text += line("model", model_text(scenario.model), colour);
  text += line("batch", batch_text(scenario, assembly.cluster->chips()), colour);
  text += line("strategy", strategy_text(scenario.strategy), colour);
  if (scenario.strategy.mesh.empty() || degrees(scenario.strategy).pipeline == 1) return text;
  return text + line("pipeline", pipeline_text(scenario, assembly.plan.order), colour);
}

}  // namespace stepsim
