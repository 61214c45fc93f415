// run_gantt.h: the pipeline of a simulated step, drawn: a row for each rank, spans of what it computed.
#pragma once

#include "scenarios/run.h"
#include "tools/gantt.h"

namespace stepsim {

/// The reported step. Of chips that play the same rank the slowest class is shown: the one whose last op ends last.
Gantt run_gantt(const Scenario& scenario, const RunResult& result);

}  // namespace stepsim
