// load_pipeline.cpp: `parallelism.pipeline:` -> PipelineStrategy.
#include <algorithm>
#include <filesystem>

#include "scenarios/catalog.h"
#include "scenarios/load_sections.h"
#include "schedules/pipeline/csv.h"
#include "schedules/pipeline/family.h"

namespace stepsim {
namespace {

/// A schedule by name, or its orders in a CSV file beside the scenario.
void read_schedule(Section& section, PipelineStrategy& pipeline) {
  pipeline.schedule = section.text("schedule", pipeline.schedule);
  if (!pipeline.schedule.ends_with(".csv")) {
    if (pipeline_families().find(pipeline.schedule) != nullptr) return;
    try {
      (void)pipeline_families().at("schedule", pipeline.schedule);
    } catch (const InputError& error) {
      section.problem("schedule", error.problems().front().message);
    }
    return;
  }
  const YamlValue* value = section.find("schedule");
  const std::filesystem::path given(pipeline.schedule);
  const std::filesystem::path folder = std::filesystem::path(value->place.file).parent_path();
  const std::string file = given.is_absolute() ? pipeline.schedule : (folder / given).string();
  try {
    pipeline.order = read_pipeline_csv(read_text(file), file).order;
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) {
      if (problem.place.line == 0) {
        section.problem("schedule", file + ": " + problem.message);
      } else {
        section.findings().problems.push_back(problem);
      }
    }
  }
}

void read_layers(Section& section, PipelineStrategy& pipeline) {
  const YamlValue* value = section.find("layers");
  if (value != nullptr && value->kind == YamlValue::Kind::list) {
    for (const int layers : section.counts("layers", {1, 1'000'000}, std::nullopt)) pipeline.layers.push_back(layers);
    pipeline.layers_by = StageLayers::given;
    return;
  }
  pipeline.layers_by = static_cast<StageLayers>(section.choice("layers", {"equal", "balanced"}, 0));
}

}  // namespace

void read_pipeline(Section& parallelism, Strategy& strategy) {
  PipelineStrategy& pipeline = strategy.pipeline;
  const YamlValue* value = parallelism.find("pipeline");
  const bool has_axis = std::any_of(strategy.mesh.begin(), strategy.mesh.end(),
                                    [](const MeshAxis& axis) { return axis.name == "pipeline"; });
  if (!has_axis) {
    if (value != nullptr) parallelism.problem("pipeline", "the mesh has no pipeline axis that these would be about");
    return;
  }
  YamlValue empty;
  empty.kind = YamlValue::Kind::map;
  Section section(parallelism.findings(), value == nullptr ? empty : *value, parallelism.full("pipeline"),
                  value == nullptr ? parallelism.place() : value->place);
  read_schedule(section, pipeline);
  const PipelineFamily* family = pipeline_families().find(pipeline.schedule);
  const int usual = family != nullptr && family->stages_per_rank > 0 ? family->stages_per_rank : 1;
  pipeline.stages_per_rank = section.small_count("stages_per_rank", {1, 1024}, usual);
  pipeline.group = section.small_count("group", {0, 1'000'000}, 0);
  pipeline.segments = section.small_count("segments", {1, 1024}, 1);
  if (section.find("memory_limit") != nullptr) {
    pipeline.memory_limit = section.number("memory_limit", 0, 1e9, std::nullopt);
  }
  read_layers(section, pipeline);
  pipeline.sharded_for = static_cast<ShardedFor>(section.choice("sharded_for", {"microbatch", "stage", "step"}, 0));
  pipeline.sends = static_cast<Sends>(section.choice("sends", {"eager", "paired", "blocking"}, 0));
  pipeline.synchronised = section.choice("optimizer", {"synchronised", "post_validation"}, 0) == 0;
  pipeline.blocks = section.choice("detail", {"actions", "ops"}, 0) == 0;
  pipeline.fused_duration = section.number("fused_duration", 0.1, 10, 1.0);
  section.done();
}

}  // namespace stepsim
