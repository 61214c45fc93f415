#include "schedules/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "schedules/action_costs.h"
#include "schedules/pipeline/clock.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

/// What is left over goes to the stages in the middle, nearest to it first.
std::vector<std::int64_t> balanced(std::int64_t layers, int stages) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(stages), layers / stages);
  const auto left = static_cast<std::size_t>(layers % stages);
  const std::size_t first = (all.size() - left) / 2;
  for (std::size_t i = 0; i < left; ++i) ++all[first + i];
  return all;
}

std::vector<std::int64_t> given(const std::vector<std::int64_t>& list, std::int64_t layers, int stages) {
  const std::int64_t sum = std::accumulate(list.begin(), list.end(), std::int64_t{0});
  if (static_cast<int>(list.size()) != stages || sum != layers) {
    throw InputError("parallelism.pipeline.layers",
                     fmt::format("expected {} numbers, one per stage, that add up to the model's {} layers, found {} "
                                 "that add up to {}",
                                 stages, layers, list.size(), sum));
  }
  return list;
}

PipelineOrder by_turns(int units) {
  PipelineOrder order = empty_order(1, units, {0});
  for (int unit = 0; unit < units; ++unit) {
    order.ranks[0].push_back(forward(0, unit));
    order.ranks[0].push_back(backward(0, unit));
  }
  return order;
}

void check_given(const PipelineOrder& order, const Strategy& strategy) {
  std::vector<Problem> problems;
  const auto expect = [&](const std::string& what, std::int64_t found, std::int64_t wanted, const std::string& key) {
    if (found == wanted) return;
    problems.push_back(
        {{}, "parallelism.pipeline.schedule", fmt::format("the file has {} {}, {} says {}", found, what, key, wanted)});
  };
  expect("ranks", static_cast<std::int64_t>(order.ranks.size()), pipeline_ranks(strategy), "parallelism.mesh.pipeline");
  expect("microbatches", order.units, strategy.microbatches, "parallelism.microbatches");
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace

int pipeline_ranks(const Strategy& strategy) {
  return static_cast<int>(degrees(strategy).pipeline);
}

int stages_per_rank(const Strategy& strategy) {
  if (strategy.pipeline.stages_per_rank > 0) return strategy.pipeline.stages_per_rank;
  const PipelineFamily* family = pipeline_families().find(strategy.pipeline.schedule);
  return family != nullptr && family->stages_per_rank > 0 ? family->stages_per_rank : 1;
}

PipelineSizes pipeline_sizes(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip) {
  PipelineSizes sizes;
  sizes.ranks = pipeline_ranks(strategy);
  sizes.stages_per_rank = stages_per_rank(strategy);
  sizes.microbatches = static_cast<int>(strategy.microbatches);
  sizes.group = strategy.pipeline.group;
  sizes.segments = strategy.pipeline.segments;
  sizes.memory_limit = strategy.pipeline.memory_limit;
  const PipelineFamily* family = pipeline_families().find(strategy.pipeline.schedule);
  const int copies = family == nullptr ? 1 : family->copies;
  const MeanStage mean = mean_stage(model, strategy, chip, std::max(1, sizes.ranks * sizes.stages_per_rank / copies));
  sizes.costs = mean.costs;
  sizes.activation = mean.activation;
  return sizes;
}

namespace {

/// Sends that wait for their receivers can wait in a circle: better said before the clock starts.
PipelineOrder checked(PipelineOrder order, const Strategy& strategy) {
  const Sends sends = strategy.pipeline.sends;
  if (sends == Sends::eager) return order;
  try {
    ClockOptions options;
    options.blocking_sends = sends == Sends::blocking;
    options.paired_sends = sends == Sends::paired;
    options.fused = FusedPairs::serial;  // the backward of a pair waits for what its forward sends
    (void)play(order, options);
  } catch (const InputError& error) {
    throw InputError("parallelism.pipeline.sends", (sends == Sends::paired ? "paired: " : "blocking: ") +
                                                       error.problems().front().message + " (eager sends do not wait)");
  }
  return order;
}

}  // namespace

PipelineOrder step_order(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip) {
  const bool pipeline = std::any_of(strategy.mesh.begin(), strategy.mesh.end(),
                                    [](const MeshAxis& axis) { return axis.name == "pipeline"; });
  if (!pipeline) return by_turns(static_cast<int>(strategy.microbatches));
  if (strategy.pipeline.order) {
    check_given(*strategy.pipeline.order, strategy);
    return checked(*strategy.pipeline.order, strategy);
  }
  const PipelineFamily& family = pipeline_families().at("parallelism.pipeline.schedule", strategy.pipeline.schedule);
  const PipelineSizes sizes = pipeline_sizes(model, strategy, chip);
  std::vector<Problem> problems;
  for (const std::string& refusal : refusals(family, sizes)) {
    problems.push_back({{}, "parallelism.pipeline.schedule", strategy.pipeline.schedule + ": " + refusal});
  }
  if (!problems.empty()) throw InputError(problems);
  return checked(family.make(sizes), strategy);
}

std::vector<std::int64_t> layers_of_stages(const ModelSpec& model, const Strategy& strategy, int stages) {
  const PipelineStrategy& pipeline = strategy.pipeline;
  if (pipeline.layers_by == StageLayers::given) return given(pipeline.layers, model.layers, stages);
  if (model.layers < stages) {
    throw InputError("parallelism.pipeline.stages_per_rank",
                     fmt::format("{} stages are more than the model's {} layers", stages, model.layers));
  }
  if (pipeline.layers_by == StageLayers::equal && model.layers % stages != 0) {
    throw InputError("parallelism.pipeline.layers",
                     fmt::format("the model's {} layers do not divide by {} stages; use layers: balanced, or a list of "
                                 "{} numbers",
                                 model.layers, stages, stages));
  }
  return balanced(model.layers, stages);
}

const Stage* table_of(const std::vector<Stage>& stages, const Stage& head) {
  for (const Stage& stage : stages) {
    if (stage.embedding && stage.copy == head.copy) return &stage;
  }
  return nullptr;
}

std::vector<Stage> stages_of(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order, int rank) {
  const std::vector<std::int64_t> layers = layers_of_stages(model, strategy, order.stages);
  const bool ends = model.vocabulary > 0;
  std::vector<Stage> all;
  for (std::int32_t copy = 0; copy < order.copies(); ++copy) {
    std::int32_t first = 0;
    for (std::int32_t s = 0; s < order.stages; ++s) {
      const auto own = static_cast<std::int32_t>(layers[static_cast<std::size_t>(s)]);
      if (order.rank_of[static_cast<std::size_t>(copy)][static_cast<std::size_t>(s)] == rank) {
        all.push_back({s, copy, first, own, ends && s == 0, ends && s + 1 == order.stages});
      }
      first += own;
    }
  }
  return all;
}

}  // namespace stepsim
