// stages.h: which layers each stage has, which stages each rank has, and in which order a rank plays them.
#pragma once

#include <vector>

#include "schedules/model.h"
#include "schedules/pipeline/family.h"
#include "schedules/strategy.h"
#include "topology/chip.h"

namespace stepsim {

/// A stretch of the model on one rank.
struct Stage {
  std::int32_t index = 0;  // of all stages
  std::int32_t copy = 0;   // of the model (PipelineOrder::rank_of)
  std::int32_t first_layer = 0;
  std::int32_t layers = 0;
  bool embedding = false;
  bool head = false;
};

/// Ranks along the pipeline: 1 without that axis.
int pipeline_ranks(const Strategy& strategy);
/// Stages of one rank, as the strategy or else its schedule says.
int stages_per_rank(const Strategy& strategy);

/// What the strategy's schedule is asked for; costs and activations for one stage are the mean over all.
PipelineSizes pipeline_sizes(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip);

/// The order that is played: the strategy's own; of its schedule; or forwards and backwards by turns on one rank.
/// InputError under "parallelism.pipeline".
PipelineOrder step_order(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip);

/// InputError when they do not fit (with what would).
std::vector<std::int64_t> layers_of_stages(const ModelSpec& model, const Strategy& strategy, int stages);

/// With tied embeddings: the stage of the same rank and copy whose embedding table this stage's head reads, if there is
/// one.
const Stage* table_of(const std::vector<Stage>& stages, const Stage& head);

/// Stages of one rank, by copy and index.
std::vector<Stage> stages_of(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order, int rank);

}  // namespace stepsim
