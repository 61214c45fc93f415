// The trace: valid JSON whose events nest on every thread, to the picosecond.
#include "tools/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "process.h"
#include "scenarios/catalog.h"
#include "scenarios/run.h"

namespace stepsim {
namespace {

using Json = nlohmann::json;

struct Traced {
  Scenario scenario;
  RunResult result;
  std::string text;
  Json json;
};

Traced traced(const std::vector<std::string>& overrides, std::uint32_t classes) {
  Traced one;
  one.scenario = load(data("small.yaml"), overrides, default_catalog());
  one.scenario.run.record_memory = true;
  one.scenario.fold = false;  // every chip has its place in the trace
  one.result = run(one.scenario);
  std::vector<std::string> kinds;
  for (const LinkClass& link : one.result.assembly.links) {
    kinds.push_back(one.result.assembly.cluster->link(link.one).kind);
  }
  std::ostringstream out;
  write_trace(out, {one.result.assembly.plan.program, one.result.timeline, kinds, classes});
  one.text = out.str();
  one.json = Json::parse(one.text);
  return one;
}

/// Microseconds back to whole picoseconds: six decimals are exact.
std::int64_t picoseconds(const Json& us) {
  return std::llround(us.get<double>() * 1e6);
}

struct Span {
  std::int64_t start, end;
};

std::map<std::pair<int, int>, std::vector<Span>> spans(const Json& trace) {
  std::map<std::pair<int, int>, std::vector<Span>> all;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const std::int64_t start = picoseconds(event["ts"]);
    all[{event["pid"], event["tid"]}].push_back({start, start + picoseconds(event["dur"])});
  }
  for (auto& [thread, list] : all) {
    std::sort(list.begin(), list.end(),
              [](const Span& a, const Span& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  }
  return all;
}

/// No two overlap in part: with a stack of open ends, each ends within the one it begins in.
void expect_nested(const std::vector<Span>& list) {
  std::vector<std::int64_t> open;
  for (const Span& span : list) {
    while (!open.empty() && open.back() <= span.start) open.pop_back();
    EXPECT_TRUE(open.empty() || span.end <= open.back()) << span.start << " to " << span.end;
    open.push_back(span.end);
  }
}

TEST(Trace, EventsOnAThreadNest) {
  for (const auto& overrides : std::vector<std::vector<std::string>>{
           {}, {"parallelism.prefetch=2"}, {"cluster.chip.link_rate=1 GB/s"}, {"parallelism.microbatches=2"}}) {
    const Json trace = traced(overrides, 64).json;
    const auto all = spans(trace);
    EXPECT_GT(all.size(), 16U);  // more threads than chips
    for (const auto& [thread, list] : all) expect_nested(list);
  }
}

TEST(Trace, EveryProcessAndThreadHasAName) {
  const Json trace = traced({}, 64).json;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<int, std::string> processes;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[{event["pid"], event["tid"]}] = event["args"]["name"];
  }
  EXPECT_EQ(processes.size(), 17U);  // 16 chips and the cluster
  for (const auto& [thread, list] : spans(trace))
    EXPECT_TRUE(threads.contains(thread)) << thread.first << " " << thread.second;
}

TEST(Trace, HasCountersForMemoryLinksAndSending) {
  const Json trace = traced({}, 64).json;
  std::map<std::string, double> most;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    for (const auto& [unit, value] : event["args"].items()) {
      double& largest = most[event["name"]];
      largest = std::max(largest, value.get<double>());
      EXPECT_GE(value.get<double>(), 0);
    }
  }
  EXPECT_GT(most["memory"], 0);
  EXPECT_GT(most["links ici x+"], 0);
  EXPECT_LE(most["links ici x+"], 100);
  EXPECT_GT(most["sending fsdp"], 0);
}

TEST(Trace, TimesCarryEveryPicosecond) {
  const Traced one = traced({}, 64);
  std::int64_t computing = 0;  // of class 0, over the kept steps
  for (const Json& event : one.json["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 1 && event.value("cat", "") == "compute")
      computing += picoseconds(event["dur"]);
  }
  const Timeline& timeline = one.result.timeline;
  const StepProgram& program = one.result.assembly.plan.program;
  std::int64_t expected = 0;
  for (std::uint32_t step = timeline.first_kept; step < timeline.steps; ++step) {
    for (OpId id = 0; id < program.programs[program.program_of[0]].ops.size(); ++id) {
      if (program.programs[program.program_of[0]].ops[id].kind != OpKind::compute) continue;
      expected += (timeline.at(step, 0, id).end - timeline.at(step, 0, id).start).count();
    }
  }
  EXPECT_EQ(computing, expected);
}

TEST(Trace, ShowsTheFirstClassesOnlyAndSaysSo) {
  const Json trace = traced({}, 3).json;
  EXPECT_EQ(trace["otherData"]["classes"], 16);
  EXPECT_EQ(trace["otherData"]["classes_traced"], 3);
  for (const Json& event : trace["traceEvents"]) EXPECT_LE(event["pid"].get<int>(), 3);
}

TEST(Trace, IsTheSameEveryTime) {
  EXPECT_EQ(traced({}, 64).text, traced({}, 64).text);
}

}  // namespace
}  // namespace stepsim
