// The engine against an independent one: 49 cases with their exact times, played by a slow reference in rational
// arithmetic that was written apart from this project ("independent engine in rational arithmetic"). Rates and work
// here are integers and each end is rounded up to a picosecond, so a time may be late by as many picoseconds as the
// task has others before it (the case's tolerance_ps); where only whole picoseconds occur there is nothing to round.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/flow_case.h"

namespace stepsim {
namespace {

using Json = nlohmann::ordered_json;
using Rational = boost::multiprecision::cpp_rational;

Json cases() {
  std::ifstream file(STEPSIM_SOURCE_DIR "/tests/tools/data/fluid_cases.json");
  return Json::parse(file);
}

/// 4000000 or "8000000/3"
Rational exact(const Json& expected) {
  return expected.is_string() ? Rational(expected.get<std::string>()) : Rational(expected.get<std::int64_t>());
}

using Times = std::map<std::string, std::map<std::string, std::int64_t>>;

Times played(const Json& one) {
  const FlowCase flow_case = parse_flow_case(one.dump(), "case.json");
  const std::vector<TaskTimes> times = play(flow_case);
  Times all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto& task = all[flow_case.tasks[i].id];
    task["start"] = times[i].start.count();
    if (!flow_case.tasks[i].computes) task["drained"] = times[i].drained.count();
    task[flow_case.tasks[i].computes ? "done" : "delivered"] = times[i].end.count();
  }
  return all;
}

bool only_whole(const Json& expected) {
  for (const auto& task : expected) {
    for (const auto& time : task) {
      if (time.is_string()) return false;
    }
  }
  return true;
}

void compare(const Json& expected, const Times& measured, int tolerance) {
  ASSERT_EQ(measured.size(), expected.size());
  for (const auto& [id, events] : expected.items()) {
    ASSERT_EQ(measured.at(id).size(), events.size()) << id;
    for (const auto& [event, time] : events.items()) {
      const Rational off = Rational(measured.at(id).at(event)) - exact(time);
      EXPECT_LE(abs(off), tolerance) << id << " " << event << " expected " << time << ", off by " << off << " ps";
    }
  }
}

TEST(FlowCases, MatchTheIndependentEngine) {
  int exact_cases = 0;
  const Json all = cases();
  ASSERT_EQ(all.size(), 49U);
  for (const Json& one : all) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const bool whole = only_whole(one["expected_ps"]);
    exact_cases += whole ? 1 : 0;
    compare(one["expected_ps"], played(one), whole ? 0 : one["tolerance_ps"].get<int>());
  }
  EXPECT_EQ(exact_cases, 21);  // so many of the cases have whole picoseconds only
}

TEST(FlowCases, NothingIsEarlyBeyondWhatRoundingAllows) {
  // The first event of any case that is not whole is rounded up, never down: two flows of 1 byte, one link of 3 B/s
  // (1.5 B/s each, both drained at 2/3 s = 666666666666.67 ps).
  const std::string text = R"({"links": {"a": {"capacity": 3, "latency": 0}},
    "tasks": [{"id": "x", "bytes": 1, "route": ["a"]}, {"id": "y", "bytes": 1, "route": ["a"]}]})";
  const auto times = play(parse_flow_case(text, "case.json"));
  EXPECT_EQ(times[0].drained.count(), 666'666'666'667);
  EXPECT_EQ(times[1].drained.count(), 666'666'666'667);
}

TEST(FlowCases, OrderOfTheListDoesNotMatter) {
  for (const Json& one : cases()) {
    Json reversed = one;
    reversed["tasks"] = Json::array();
    for (auto task = one["tasks"].rbegin(); task != one["tasks"].rend(); ++task) reversed["tasks"].push_back(*task);
    EXPECT_EQ(played(one), played(reversed)) << one["name"];
  }
}

}  // namespace
}  // namespace stepsim
