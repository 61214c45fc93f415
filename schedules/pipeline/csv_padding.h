// csv_padding.h: the idle slots that PyTorch's own schedule objects have, so that a CSV looks as its dump.
//
// They say where PyTorch expects a rank to wait when every action takes one slot; nothing is played by them.
#pragma once

#include <optional>
#include <string>

#include "schedules/pipeline/csv.h"
#include "schedules/pipeline/family.h"

namespace stepsim {

/// For the order of this schedule and sizes; none where PyTorch has no such schedule or leaves no slots.
std::optional<IdleSlots> torch_idle_slots(const std::string& schedule, const PipelineSizes& sizes);

}  // namespace stepsim
