// flow_case.h: a task graph over links, played by the engine alone.
//
// The case is a JSON object:
//   links: {name: {"capacity": bytes/s, "latency": s}}
//   tasks: list of {"id", and optional "after": [[id, "drained" | "delivered" | "done"], ...], "at": earliest s,
//                   and either "bytes" + "route": [link, ...]   (a flow)
//                   or "time": s                                (a computation)}
// A flow starts when all it waits for has happened, holds every link of its route at its max-min fair rate
// until it is drained, and is delivered the sum of its links' latencies later. An empty route takes no time;
// a link named twice is shared with itself. Numbers are JSON numbers, or texts, which may carry a unit ("45
// GB/s"). They are read exactly: capacities and sizes must come to whole bytes, times to whole picoseconds;
// anything finer is an error, nothing is rounded. Beside links and tasks a case may carry name, why, source,
// description, tolerance_ps and expected_ps, which are not read here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/program.h"
#include "sim/time.h"

namespace stepsim {

struct FlowLink {
  std::string name;
  std::int64_t capacity = 0;
  Picoseconds latency;
};

struct FlowDependency {
  std::uint32_t task = 0;
  Event event = Event::end;
};

struct FlowTask {
  std::string id;
  bool computes = false;
  Picoseconds at;                    // not before
  Picoseconds time;                  // of a computation
  Bytes bytes = 0;                   // of a flow
  std::vector<std::uint32_t> route;  // of a flow: links in order
  std::vector<FlowDependency> after;
};

struct FlowCase {
  std::vector<FlowLink> links;
  std::vector<FlowTask> tasks;
};

struct TaskTimes {
  Picoseconds start;
  Picoseconds drained;  // flows
  Picoseconds end;      // delivered, or done
};

/// Throws InputError with every problem found, each at its line and column: bad JSON, keys that are unknown,
/// missing or given twice, wrong types, names that do not exist, events a task does not have, tasks that wait
/// in a circle.
FlowCase parse_flow_case(const std::string& text, const std::string& file);

/// Tasks so that each stands behind all it waits for; those in a circle, or behind one, are left out.
std::vector<std::uint32_t> in_order(const FlowCase& flow_case);

/// Plays the case; one entry per task. Throws Deadlock naming the stuck tasks.
std::vector<TaskTimes> play(const FlowCase& flow_case);

}  // namespace stepsim
