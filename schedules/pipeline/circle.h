// circle.h: who waits for whom in a pipeline order, and a circle of waiting explained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/pipeline/order.h"

namespace stepsim {

/// The results that an action reads. Gradients for inputs are named as I, whether I or B gives them.
std::vector<Action> inputs(const PipelineOrder& order, const Action& action);

/// The action of the neighbouring stage that reads an F's, I's or B's result, if there is one.
std::optional<Action> consumer(const PipelineOrder& order, const Action& action);

/// A rank that cannot go on.
struct Stuck {
  Action at;
  std::size_t position = 0;  // its cell in the rank's list, from 0
  Action awaited;            // what it needs, or for a send the action that would take it
  std::int32_t rank = -1;    // whose that is; -1: this rank is not stuck
  bool sending = false;      // it cannot hand over the result of `at`
};

/// "deadlock: rank 0 at cell 3 (0B0) waits for 1B0 of rank 1; rank 1 at cell 2 ...": follows who waits for whom from the
/// first stuck rank until it comes round, and says where an awaited action is not in its rank's list at all.
std::string explain_circle(const PipelineOrder& order, const std::vector<Stuck>& stuck);

}  // namespace stepsim
