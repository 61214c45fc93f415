// action_costs.h: what the actions of a stage take and keep, by the rooflines of their ops alone: what automatic
// schedules plan with.
#pragma once

#include "schedules/model.h"
#include "schedules/pipeline/costs.h"
#include "schedules/strategy.h"
#include "topology/chip.h"

namespace stepsim {

struct MeanStage {
  ActionCosts costs;           // in ticks that are picoseconds; nothing for sends
  ActivationUnits activation;  // after_forward 1, after_input what of it I leaves
};

/// Of one of `stages` stages and one microbatch (or segment), embedding and head spread over all.
MeanStage mean_stage(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip, int stages);

}  // namespace stepsim
