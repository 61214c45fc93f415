// checks.h: the sizes of a model and a strategy fit each other.
#pragma once

#include "schedules/model.h"
#include "schedules/strategy.h"

namespace stepsim {

/// Throws InputError with all problems found, on keys under "model" and "parallelism"; where sizes do not divide, with
/// the divisors that fit.
void check_sizes(const ModelSpec& model, const Strategy& strategy);

}  // namespace stepsim
