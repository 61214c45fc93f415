// plan_costs.h: what the automatic zero-bubble schedules plan with, in units: their generators count in floating point, and
// ties of their roundings decide.
#pragma once

#include "schedules/pipeline/family.h"

namespace stepsim {

struct PlanCosts {
  double forward = 1;
  double input = 1;
  double weight = 1;
  double send = 0;
  ActivationUnits activation;
  double limit = 0;
};

/// All actions alike, as published orders are planned; `limit` where none is given.
inline PlanCosts equal_plan_costs(const PipelineSizes& sizes, const ActivationUnits& activation, double limit) {
  return {1, 1, 1, 0, activation, sizes.memory_limit.value_or(limit)};
}

/// The costs that are given; without a limit so many activations.
inline PlanCosts given_plan_costs(const PipelineSizes& sizes, int activations) {
  const ActionCosts& costs = sizes.costs;
  return {to_units(costs.forward),
          to_units(costs.input_gradient),
          to_units(costs.weight_gradient),
          to_units(costs.send),
          sizes.activation,
          sizes.memory_limit.value_or(activations * sizes.activation.after_forward)};
}

}  // namespace stepsim
