// quantities.h: what a scenario may expect of its run, by name.
//
//   step_time in s, tokens_per_s, tokens_per_s_per_chip, model_flops_per_s_per_chip, mfu, peak_memory in bytes
//   parts of the breakdown in s: forward, backward_input, backward_weight, recompute, optimizer, exposed.AXIS,
//   straggler, idle.run_ahead, idle.end; of a pipeline bubble.warmup, bubble.steady, bubble.drain
//   per collective: issued.AXIS.KIND, exposed.AXIS.KIND, communicating.AXIS.KIND in s, overlap.AXIS.KIND as a share
#pragma once

#include <string>
#include <vector>

#include "schedules/plan.h"

namespace stepsim {

/// All names that make sense for this plan: AXIS and KIND are those of its collectives.
std::vector<std::string> quantities(const StepPlan& plan);

}  // namespace stepsim
