// limits.h: what an order holds, and what planners say of memory limits and activations that they cannot do.
#pragma once

#include <string>
#include <vector>

#include "schedules/pipeline/costs.h"
#include "schedules/pipeline/order.h"

namespace stepsim {

/// "4", "2.5"
std::string format_units(double units);

/// Most that a rank holds: `after_forward` from F on, `after_input` of it from I until W.
double most_held(const RankOrder& list, const ActivationUnits& activation);

/// Microbatches whose activations fill as much as one chunk's of one unit (a segment, if they are cut): its share.
double microbatches_per_activation(const PipelineOrder& order);

/// What a planner asks of activations: something is held after F, and I adds nothing.
std::vector<std::string> activation_refusals(const ActivationUnits& activation);

}  // namespace stepsim
