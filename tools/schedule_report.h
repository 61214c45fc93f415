// schedule_report.h: what `stepsim schedule` prints and writes of a played schedule.
#pragma once

#include <string>

#include "tools/schedule_run.h"

namespace stepsim {

/// "4 ranks, 2 stages each (default), 8 microbatches"
std::string sizes_text(const MadeSchedule& made);

std::string schedule_report(const MadeSchedule& made, const PlayedOrder& played, bool colour);

/// schedule.schema.json describes it. Times in units: whole ones as integers.
std::string schedule_json(const MadeSchedule& made, const PlayedOrder& played);

}  // namespace stepsim
