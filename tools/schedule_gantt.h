// schedule_gantt.h: a played pipeline order as a drawing.
#pragma once

#include <string>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/order.h"
#include "tools/gantt.h"

namespace stepsim {

Gantt schedule_gantt(const PipelineOrder& order, const PlayedOrder& played, const std::string& title,
                     const std::string& subtitle);

/// What the chunks of chunk_of() are called.
std::vector<std::string> chunk_names(const PipelineOrder& order);

/// Which of its rank's stages an action is on, from 0: by stage, of two copies the one of the first half first.
int chunk_of(const PipelineOrder& order, const Action& action);

}  // namespace stepsim
