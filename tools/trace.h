// trace.h: the steps that the timeline keeps, as a Chrome / Perfetto trace (chrome://tracing, ui.perfetto.dev).
//
// Trace event format: one process per chip class, one thread per stream with complete events ("X") that never overlap
// partially, stretches in which a collective waits for its peers nested inside it, counters ("C") for memory, for what
// a class sends per axis (a collective's bytes spread evenly over its time) and for the use of each kind of links in
// each step. ts and dur are microseconds with six decimals, that is, exact picoseconds. Ops that take no time are
// left out.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/timeline.h"

namespace stepsim {

struct TraceInput {
  const StepProgram& program;
  const Timeline& timeline;
  std::vector<std::string> link_kinds;  // per link of the network
  std::uint32_t classes = 64;           // at most so many, the first
};

void write_trace(std::ostream& out, const TraceInput& input);

}  // namespace stepsim
