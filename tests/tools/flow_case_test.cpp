// What a task graph may look like, and how each mistake is answered: at its line and column, with what was expected.
#include "tools/flow_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/input_error.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;

std::string problems_of(const std::string& text) {
  try {
    parse_flow_case(text, "case.json");
  } catch (const InputError& error) {
    std::string all;
    for (const Problem& problem : error.problems()) all += to_string(problem) + "\n";
    return all;
  }
  return "no problem";
}

/// A case with one link and these tasks.
std::string with_tasks(const std::string& tasks) {
  return R"({"links": {"ab": {"capacity": 1000000000, "latency": "0.000001"}}, "tasks": [)" + tasks + "]}";
}

std::string with_link(const std::string& link) {
  return R"({"links": {"ab": )" + link + R"(}, "tasks": []})";
}

TEST(FlowCase, ReadsNumbersExactly) {
  // Decimal seconds that a double cannot hold: 0.0000013 s is 1,300,000 ps.
  const FlowCase read = parse_flow_case(R"({"links": {"a": {"capacity": 22500000000.0, "latency": 1.3e-06}},
      "tasks": [{"id": "x", "bytes": "3000", "route": ["a"], "at": 0.0000013},
                {"id": "y", "time": "0.000000000001"}]})",
                                        "case.json");
  EXPECT_EQ(read.links[0].capacity, 22'500'000'000);
  EXPECT_EQ(read.links[0].latency.count(), 1'300'000);
  EXPECT_EQ(read.tasks[0].at.count(), 1'300'000);
  EXPECT_EQ(read.tasks[0].bytes, 3000);
  EXPECT_EQ(read.tasks[1].time.count(), 1);
}

TEST(FlowCase, ReadsUnits) {
  const FlowCase read = parse_flow_case(
      R"({"links": {"a": {"capacity": "45 GB/s", "latency": "1 us"}}, "tasks": [{"id": "x", "time": "2 ns"}]})", "c");
  EXPECT_EQ(read.links[0].capacity, 45'000'000'000);
  EXPECT_EQ(read.links[0].latency.count(), 1'000'000);
  EXPECT_EQ(read.tasks[0].time.count(), 2'000);
}

TEST(FlowCase, AnEmptyRouteTakesNoTimeAndAnEmptyFlowTakesTheLatency) {
  const auto times = play(parse_flow_case(with_tasks(R"({"id": "copy", "bytes": 5000, "route": [], "at": "0.000002"},
                          {"id": "empty", "bytes": 0, "route": ["ab"], "after": [["copy", "delivered"]]})"),
                                          "case.json"));
  EXPECT_EQ(times[0].start.count(), 2'000'000);
  EXPECT_EQ(times[0].end.count(), 2'000'000);
  EXPECT_EQ(times[1].start.count(), 2'000'000);
  EXPECT_EQ(times[1].drained.count(), 2'000'000);
  EXPECT_EQ(times[1].end.count(), 3'000'000);
}

TEST(FlowCase, ATaskMayStandBeforeWhatItWaitsFor) {
  const auto times = play(parse_flow_case(
      with_tasks(R"({"id": "b", "time": "1 us", "after": [["a", "done"]]}, {"id": "a", "time": "2 us"})"),
      "case.json"));
  EXPECT_EQ(times[0].start.count(), 2'000'000);
  EXPECT_EQ(times[0].end.count(), 3'000'000);
}

TEST(FlowCase, TasksWithLikeNamesDoNotShareAStream) {
  // Names are the user's: one may look like the engine's own.
  const auto times = play(parse_flow_case(
      with_tasks(R"({"id": "not before, for x", "time": "5 us"}, {"id": "x", "time": "1 us", "at": "1 us"})"), "c"));
  EXPECT_EQ(times[0].end.count(), 5'000'000);
  EXPECT_EQ(times[1].end.count(), 2'000'000);
}

TEST(FlowCase, NoTasksAreNoProblem) {
  EXPECT_TRUE(play(parse_flow_case(with_tasks(""), "case.json")).empty());
}

struct Mistake {
  std::string text;
  std::string message;
};

class FlowMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(FlowMistakes, AreAnswered) {
  EXPECT_THAT(problems_of(GetParam().text), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, FlowMistakes,
    ::testing::Values(Mistake{"", "case.json:1:1: not valid JSON: syntax error"},
                      Mistake{"{\n  \"links\": {},\n  \"tasks\": [}\n}", "case.json:3:13: not valid JSON"},
                      Mistake{"[]", "case.json:1:1: expected an object, found a list"},
                      Mistake{"{} {}", "not valid JSON"}, Mistake{std::string(100, '['), "nested deeper"},
                      Mistake{"\xff\xfe", "not valid JSON"},
                      Mistake{R"({"links": {"a": {"capacity": NaN}}})", "not valid JSON"},
                      Mistake{with_link(R"({"capacity": 1e999, "latency": 0})"), "not valid JSON"},
                      Mistake{"{\"links\": {},\n \"links\": {}}", "case.json:2:2: links: this key is given twice"}));

INSTANTIATE_TEST_SUITE_P(
    Shape, FlowMistakes,
    ::testing::Values(
        Mistake{"{}", "links: missing, expected an object"}, Mistake{R"({"links": {}})", "tasks: missing"},
        Mistake{R"({"links": [], "tasks": []})", "case.json:1:11: links: expected an object, found a list"},
        Mistake{R"({"links": {}, "tasks": [], "taks": 1})", "case.json:1:28: taks: unknown key, did you mean 'tasks'?"},
        Mistake{with_tasks("7"), "tasks[0]: expected an object, found a number"},
        Mistake{with_tasks(R"({"time": 1})"), "tasks[0].id: missing"},
        Mistake{with_tasks(R"({"id": 7, "time": 1})"), "tasks[0].id: expected a text, found a number"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "atfer": []})"), "unknown key, did you mean 'after'?"},
        Mistake{with_tasks(R"({"id": "x", "time": 1}, {"id": "x", "time": 1})"), "there is another task 'x'"},
        Mistake{with_tasks(R"({"id": "x"})"), "tasks[0] 'x'.bytes: missing"},
        Mistake{with_tasks(R"({"id": "x", "bytes": 5})"), "tasks[0] 'x'.route: missing, expected a list"},
        Mistake{with_tasks(R"({"id": "x", "bytes": 5, "route": "ab"})"), "route: expected a list, found a text"},
        Mistake{with_tasks(R"({"id": "x", "bytes": 5, "route": ["ab"], "time": 1})"), "either a time or bytes"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "after": "y"})"), "after: expected a list, found a text"}));

INSTANTIATE_TEST_SUITE_P(
    Values, FlowMistakes,
    ::testing::Values(
        Mistake{with_link("5"), "links.ab: expected an object, found a number"},
        Mistake{with_link(R"({"latency": 0})"), "links.ab.capacity: missing"},
        Mistake{with_link(R"({"capacity": 1})"), "links.ab.latency: missing"},
        Mistake{with_link(R"({"capacity": 0, "latency": 0})"), "expected 1 to 300000000000000 bytes/s, found 0"},
        Mistake{with_link(R"({"capacity": 1e15, "latency": 0})"), "expected 1 to 300000000000000 bytes/s"},
        Mistake{with_link(R"({"capacity": 1e30, "latency": 0})"), "too large"},
        Mistake{with_link(R"({"capacity": -5, "latency": 0})"), "must not be negative"},
        Mistake{with_link(R"({"capacity": 2.5, "latency": 0})"), "not a whole number of bytes"},
        Mistake{with_link(R"({"capacity": null, "latency": 0})"), "expected a number, found null"},
        Mistake{with_link(R"({"capacity": "fast", "latency": 0})"), "'fast'"},
        Mistake{with_link(R"({"capacity": "", "latency": 0})"), "links.ab.capacity"},
        Mistake{with_link(R"({"capacity": "45 GB", "latency": 0})"), "unknown unit 'GB'"},
        Mistake{with_link(R"({"capacity": 1, "latency": "1e-13"})"), "not a whole number of picoseconds"},
        Mistake{with_link(R"({"capacity": 1, "latency": true})"), "expected a number, found true or false"},
        Mistake{with_tasks(R"({"id": "x", "time": -1})"), "must not be negative"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "at": "soon"})"), "'soon'"},
        Mistake{with_tasks(R"({"id": "x", "bytes": 0.5, "route": []})"), "not a whole number of bytes"}));

INSTANTIATE_TEST_SUITE_P(
    References, FlowMistakes,
    ::testing::Values(
        Mistake{with_tasks(R"({"id": "x", "bytes": 5, "route": ["bb"]})"), "there is no link 'bb', did you mean 'ab'?"},
        Mistake{with_tasks(R"({"id": "x", "bytes": 5, "route": [1]})"), "route[0]: expected a text, found a number"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "after": [["z", "done"]]})"), "there is no task 'z'"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "after": [["x", "done"]]})"), "'x' waits for 'x'"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "after": ["x"]})"), "after[0]: expected a list, found a text"},
        Mistake{with_tasks(R"({"id": "x", "time": 1, "after": [["x"]]})"), "expected [task, event], found 1 entries"},
        Mistake{with_tasks(R"({"id": "y", "time": 1}, {"id": "x", "time": 1, "after": [["y", "drained"]]})"),
                "a computation is 'done', found 'drained'"},
        Mistake{with_tasks(R"({"id": "y", "bytes": 1, "route": []}, {"id": "x", "time": 1, "after": [["y", "done"]]})"),
                "a flow is 'drained' or 'delivered', found 'done'"},
        Mistake{with_tasks(R"({"id": "a", "time": 1, "after": [["b", "done"]]},
                              {"id": "b", "time": 1, "after": [["c", "done"]]},
                              {"id": "c", "time": 1, "after": [["b", "done"]]})"),
                "(deadlock): 'b' waits for 'c' waits for 'b'"}));

TEST(FlowCase, SeveralProblemsAreReportedAtOnce) {
  const std::string all = problems_of(
      "{\"links\": {\"a\": {\"capacity\": -1, \"latency\": 0}},\n"
      " \"tasks\": [{\"id\": \"x\", \"bytes\": 1, \"route\": [\"q\"]},\n"
      "           {\"id\": \"y\", \"time\": \"?\"}]}");
  EXPECT_THAT(all, HasSubstr("case.json:1:30: links.a.capacity: must not be negative, found -1"));
  EXPECT_THAT(all, HasSubstr("case.json:2:46: tasks[0] 'x'.route[0]: there is no link 'q'"));
  EXPECT_THAT(all, HasSubstr("case.json:3:32: tasks[1] 'y'.time: "));
}

}  // namespace
}  // namespace stepsim
