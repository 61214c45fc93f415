// schedule_options.h: what `stepsim schedule` is told in numbers: --times, --p2p, --activation, --fused.
//
// Times are whole or decimal to six places and are kept exactly, in millionths of a unit (costs.h). What is not given
// follows from the rest: F = I = W = 1, B = I + W, FB = F + B.
#pragma once

#include <string>
#include <vector>

#include "schedules/pipeline/clock.h"
#include "sim/input_error.h"

namespace stepsim {

/// "1310.405": exact, without zeros at the end.
std::string ticks_text(Ticks ticks);

/// Each adds to `problems` what it cannot read, with what would be valid.
ActionCosts read_times(const std::string& text, std::vector<Problem>& problems);
Ticks read_time(const std::string& key, const std::string& text, std::vector<Problem>& problems);
ActivationUnits read_activation(const std::string& text, std::vector<Problem>& problems);

/// "F 1, I 1, W 1, B 2, FB 3, p2p 0"
std::string times_text(const ActionCosts& costs);

}  // namespace stepsim
