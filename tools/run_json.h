// run_json.h: a run as JSON. Every key is documented in run.schema.json; keys carry their unit.
//
// Times are whole picoseconds (_ps) with the same in seconds (_s) beside them for reading.
#pragma once

#include <string>

#include "scenarios/run.h"

namespace stepsim {

/// Indented by two blanks, with a line break at the end.
std::string run_json(const Scenario& scenario, const RunResult& result);

}  // namespace stepsim
