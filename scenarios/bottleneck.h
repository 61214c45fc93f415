// bottleneck.h: one plain sentence that says what the step time is made of and what to blame.
//
// A step is called communication-bound when exposed communication is more than a tenth of it (waiting for late chips,
// likewise, straggler-bound), else compute-bound. The sentence is read off the most common class.
#pragma once

#include <string>

#include "scenarios/run.h"

namespace stepsim {

std::string bottleneck(const RunResult& result);

}  // namespace stepsim
