// pipeline_figures.h: what a run says of its pipeline.
//
// Two definitions of a bubble are in use, and both are shown:
//   wall      1 - compute / step, mean over the chips: whatever else they do
//   per rank  (cost - work) / cost, where cost is the longest time of a rank from its first forward's start to its last
//             backward's end, and work the most that a rank computes in between (arXiv 2401.10241, section 4.3)
#pragma once

#include "scenarios/run.h"

namespace stepsim {

/// Of a run whose mesh has a pipeline axis.
PipelineFigures pipeline_figures(const Scenario& scenario, const RunResult& result);

/// Most activations that a rank holds by the order: one from F on, `after_input` of it from I until W.
double most_held(const PipelineOrder& order, double after_input);

}  // namespace stepsim
