// limits.h: what planners say of memory limits and activations that they cannot do.
#pragma once

#include <string>
#include <vector>

#include "schedules/pipeline/costs.h"

namespace stepsim {

/// "4", "2.5"
std::string format_units(double units);

/// What a planner asks of activations: something is held after F, and I adds nothing.
std::vector<std::string> activation_refusals(const ActivationUnits& activation);

}  // namespace stepsim
