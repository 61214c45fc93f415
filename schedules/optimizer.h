// optimizer.h: Adam, one memory-bound op per weight unit, on the compute stream after the backward.
//
// An op reads and writes the weights, both moments and (if kept) the fp32 master copy, and reads the gradient, of the
// shard that this chip updates (ZeRO-1 and up), else of the whole unit. Ops run in the order in which the gradients
// become ready; each waits for the reduction of its unit. A model without elementwise ops, whose step is nothing but
// its matmuls, updates in no time. The last of them ends the step. In a pipeline all wait for the norm of the gradients of
// all stages, unless it is checked afterwards (PipelineStrategy::synchronised).
#pragma once

#include <vector>

#include "schedules/gradients.h"

namespace stepsim {

/// Bytes of memory traffic of the update of `parameters`.
double update_traffic(const Strategy& strategy, double parameters);

/// Appends the updates, and with ZeRO-1 and -2 the gathers of the updated weights. Returns per unit the op after
/// which its weights may be used.
std::vector<OpId> update_weights(const Tape& tape, const ModelSpec& model, const Strategy& strategy,
                                 const ChipSpec& chip, const Gradients& gradients, StepWriter& writer);

}  // namespace stepsim
