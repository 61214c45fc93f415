// schedule_run.h: a pipeline schedule by itself, by name or from a CSV, made and played in abstract time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/csv.h"
#include "schedules/pipeline/family.h"

namespace stepsim {

struct ScheduleArguments;

/// What automatic schedules were planned with.
enum class PlannedWith : std::uint8_t { rule, equal_costs, given_costs };

struct MadeSchedule {
  std::string name;                        // of the schedule, or the file
  const PipelineFamily* family = nullptr;  // none: from a file
  PipelineSizes sizes;                     // a file's own, too
  bool stages_by_default = false;          // --stages-per-rank was not given
  PlannedWith planned = PlannedWith::rule;
  ClockOptions clock;
  PipelineOrder order;
  std::vector<LoweredRank> lowered;  // of a file with sends and receives: they are played as they stand
  std::optional<IdleSlots> idle;     // of a file without them
  std::vector<std::string> notes;    // what was read in another way than it is written
};

/// InputError with everything that is wrong with the arguments or the file.
MadeSchedule make_schedule(const ScheduleArguments& arguments);

/// InputError("schedule", "deadlock: ...") where actions wait for each other in a circle.
PlayedOrder play(const MadeSchedule& made);

}  // namespace stepsim
