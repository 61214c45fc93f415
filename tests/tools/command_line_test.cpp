// The program as a user meets it: exit codes, what goes to which stream, and what is left behind when it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "process.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string small = "'" + data("small.yaml") + "'";

TEST(CommandLine, HelpAndVersionExitWithZero) {
  const Outcome help = stepsim("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* word :
       {"run", "check", "flows", "topology", "classes", "collective", "schedule", "list", "Examples:", "Exit codes:"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_EQ(stepsim("run --help").code, 0);
  const Outcome version = stepsim("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("stepsim [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, WrongUsageExitsWithTwo) {
  for (const char* arguments : {"", "fly", "run", "run --steps 0 x.yaml", "run --steps many x.yaml",
                                "run --nothing x.yaml", "list rockets", "flows", "run --set", "run x.yaml y.yaml"}) {
    const Outcome wrong = stepsim(arguments);
    EXPECT_EQ(wrong.code, 2) << arguments;
    EXPECT_THAT(wrong.out, IsEmpty()) << arguments;
    EXPECT_THAT(wrong.err, Not(IsEmpty())) << arguments;
  }
}

TEST(CommandLine, RunPrintsAReport) {
  const Outcome run = stepsim("run " + small);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Where the step goes"));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));  // not a terminal: no colour
  EXPECT_THAT(run.err, IsEmpty());               // and no progress
}

TEST(CommandLine, SameInputSameBytes) {
  EXPECT_EQ(stepsim("run " + small).out, stepsim("run " + small).out);
  EXPECT_EQ(stepsim("run --json - " + small).out, stepsim("run --json - " + small).out);
}

TEST(CommandLine, JsonOnStandardOutputHasNothingElseThere) {
  for (const std::string command : {"run ", "check ", "check --expect ", "topology ", "classes "}) {
    const Outcome one = stepsim(command + small + " --json -");
    EXPECT_EQ(one.code, 0) << command << one.err;
    EXPECT_TRUE(Json::accept(one.out)) << command;
  }
  EXPECT_TRUE(Json::accept(stepsim("topology " + small + " --json").out));
}

TEST(CommandLine, JsonToAFileAndReportToStandardOutput) {
  const Folder folder;
  const Outcome run = stepsim("run " + small + " --json '" + folder.file("run.json") + "' --trace '" +
                              folder.file("trace.json") + "' --trace-classes 2 --fold off");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Where the step goes"));
  EXPECT_THAT(run.err, HasSubstr("the trace shows 2 of 16 classes"));
  EXPECT_EQ(folder.files(), 2U);  // nothing passing is left beside them
  EXPECT_GT(Json::parse(text_of(folder.file("run.json")))["step_time_ps"].get<std::int64_t>(), 0);
  EXPECT_FALSE(Json::parse(text_of(folder.file("trace.json")))["traceEvents"].empty());
}

// small.yaml is FSDP on a closed 4x4 slice: every chip does the same (one class); an open x axis tells its four
// coordinates apart.
TEST(CommandLine, ClassesSayHowManyChipsAreAlikeAndWhyOthersAreNot) {
  const Outcome alike = stepsim("classes " + small);
  EXPECT_EQ(alike.code, 0) << alike.err;
  EXPECT_THAT(alike.out, HasSubstr("16 chips play as 1 class, exactly"));
  const std::string open = " --set cluster.wraps=[false,true] --set 'parallelism.placement={fsdp: x, tensor: y}'";
  const Outcome line = stepsim("classes " + small + open);
  EXPECT_THAT(line.out, HasSubstr("16 chips play as 4 classes, exactly, told apart by position along x in fsdp"));
  const Json json = Json::parse(stepsim("classes " + small + open + " --json -").out);
  ASSERT_EQ(json["classes"].size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(json["classes"][i]["chips"], 4);
    EXPECT_EQ(json["classes"][i]["traits"]["position along x in fsdp"], std::to_string(i) + " of 4");
  }
  EXPECT_THAT(stepsim("classes " + small + open + " --most 1").out, HasSubstr("3 more classes"));
}

// small.yaml: 50 GB/s one way, 1 us a hop; all 16 chips are a closed 4x4. Sizes grow by the factor.
TEST(CommandLine, CollectivePrintsARowForEachSize) {
  const Json json = Json::parse(stepsim("collective " + small + " --op all_gather -b 1M -e 64M -f 8 --json -").out);
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][1]["bytes"], 8 << 20);
  EXPECT_EQ(json["members"], 16);
  for (const Json& row : json["rows"])
    EXPECT_GE(row["time_s"].get<double>(), row["bound_s"].get<double>() * (1 - 1e-9));
  const Outcome group = stepsim("collective " + small + " -g fsdp -b '3 MB'");
  EXPECT_EQ(group.code, 0) << group.err;
  EXPECT_THAT(group.out, HasSubstr("4 groups at once, each of 4 chips"));
  EXPECT_EQ(stepsim("collective " + small + " -b 8M -e 1M").code, 2);
  EXPECT_EQ(stepsim("collective " + small + " -b 8X").code, 2);
  EXPECT_EQ(stepsim("collective " + small + " -g pipeline").code, 2);
}

const std::string msccl = STEPSIM_SOURCE_DIR "/tests/collectives/msccl/";

// A ring of four from a file: 2 x 3 steps of a quarter, 1 MiB at 50 GB/s and 1 us each: 131.82912 us.
TEST(CommandLine, CollectivePlaysAnAlgorithmOfAFile) {
  const std::string ring = " --algorithm 'msccl:" + msccl + "allreduce_ring_4.xml'";
  const Json json = Json::parse(stepsim("collective " + small + " -g fsdp -b 4M --json -" + ring).out);
  EXPECT_EQ(json["rows"][0]["time_ps"], 131'829'120);
  EXPECT_NEAR(json["rows"][0]["bound_s"].get<double>(), 131.82912e-6, 1e-12);
  const Outcome kind = stepsim("collective " + small + " -g fsdp --op all_gather" + ring);
  EXPECT_EQ(kind.code, 2);
  EXPECT_THAT(kind.err, HasSubstr("allreduce_ring_4.xml' does not do all-gather (it does all-reduce)"));
  const Outcome group = stepsim("collective " + small + ring);
  EXPECT_EQ(group.code, 2);
  EXPECT_THAT(group.err, HasSubstr("allreduce_ring_4.xml' is for 4 members, found 16"));
}

TEST(CommandLine, CollectiveNamesWhatIsWrongInAnAlgorithmFile) {
  const Folder folder;
  std::string text = text_of(msccl + "allreduce_ring_2.xml");
  text.replace(text.find("type=\"rrcs\""), 11, "type=\"push\"");
  const Outcome broken =
      stepsim("collective " + small + " --algorithm 'msccl:" + folder.write("broken.xml", text) + "'");
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.xml:6:8: gpu[0].tb[0].step[1].type: expected one of nop, s, r,"));
  const Outcome missing = stepsim("collective " + small + " --algorithm msccl:nowhere.xml");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.xml: cannot be read"));
  EXPECT_THAT(stepsim("collective " + small + " --algorithm msccl:").err, HasSubstr("expected msccl:FILE"));
}

// Four members on rings of four (50 GB/s one way, 1 us a hop). Shares: 0 sends half to 1, a quarter to 3, and keeps the
// rest; the others send nothing: both ways are its own, half of 8 MiB at 50 GB/s and 1 us: 84.88608 us.
TEST(CommandLine, CollectiveSendsWhatAMatrixSays) {
  const Folder folder;
  const std::string matrix =
      folder.write("moe.csv", "from,0,1,2,3\n0,25 %,0.5,0,25 %\n1,0,1,0,0\n2,0,0,1,0\n3,0,0,0,1\n");
  const std::string command = "collective " + small + " -g fsdp --op all_to_all --json - --sends ";
  const Json json = Json::parse(stepsim(command + matrix + " -b 8M -e 16M").out);
  ASSERT_EQ(json["rows"].size(), 2U);
  EXPECT_EQ(json["rows"][0]["time_ps"], 84'886'080);
  EXPECT_EQ(json["rows"][0]["algorithm"], "pairwise");
  EXPECT_EQ(json["rows"][1]["bytes"], 16 << 20);
  EXPECT_NEAR(json["rows"][0]["bus_bytes_per_s"].get<double>(), 6291456 / 84.88608e-6, 1) << "three quarters leave 0";
  // The same in bytes: no size is asked for, what 0 sends stands for it.
  const std::string sizes =
      folder.write("sizes.csv", "from,0,1,2,3\n0,2 MiB,4 MiB,0,2 MiB\n1,0,0,0,0\n2,0,0,0,0\n3,0,0,0,0\n");
  const Json same = Json::parse(stepsim(command + sizes).out);
  EXPECT_EQ(same["rows"][0]["time_ps"], 84'886'080);
  EXPECT_EQ(same["rows"][0]["bytes"], 8 << 20);
  EXPECT_THAT(stepsim(command + sizes + " -b 1M").err, HasSubstr("--begin: expected none: the sizes stand in"));
}

TEST(CommandLine, CollectiveNamesWhatIsWrongInAMatrix) {
  const Folder folder;
  const std::string command = "collective " + small + " -g fsdp --op all_to_all --sends ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "m.csv:1:1: the file is empty: expected the header line from,0,1,... with a column per member"},
      {"from,1,0\n0,0,0\n1,0,0\n", "m.csv:1:6: expected the header line"},
      {"from,0,1\n0,0,0\n", "m.csv:2:1: expected as many rows as columns, up to 4096, found 1 rows of 2"},
      {"from,0,1\n0,0,0\n0,0,0\n", "m.csv:3:1: expected the row from 1, found '0'"},
      {"from,0,1\n0,0,0\n1,0\n", "m.csv:3:1: from 1: expected 2 entries, found 1"},
      {"from,0,1\n0,0,x\n1,7,0\n",
       "m.csv:2:5: from 0 to 1: expected a share of 0 to 1 or a size with its unit, found 'x'"},
      {"from,0,1\n0,0,x\n1,7,0\n",
       "m.csv:3:3: from 1 to 0: expected a share of 0 to 1 or a size with its unit, found '7'"},
      {"from,0,1\n0,0,-1 B\n1,0,0\n", "m.csv:2:5: from 0 to 1: expected a share"},
      {"from,0,1\n0,60 %,50 %\n1,0,0\n", "m.csv:2:1: from 0: the shares add up to 1.1: expected at most 1"},
      {"from,0,1\n0,0,1 MB\n1,0.5,0\n", "m.csv:3:3: from 1 to 0: expected a size with its unit, as those before it"},
      {"from,0,1\n0,0,0.5\n1,1 MB,0\n", "m.csv:3:3: from 1 to 0: expected a share, as those before it"},
      {"from,0,1\n0,0,0.5\n1,0.5,0\n", "m.csv' is for 2 members, the group has 4"}};
  for (const auto& [text, expected] : cases) {
    const Outcome one = stepsim(command + folder.write("m.csv", text));
    EXPECT_EQ(one.code, 2) << text;
    EXPECT_THAT(one.err, HasSubstr(expected)) << text;
  }
  const std::string matrix = folder.write("m.csv", "from,0\n0,0\n");
  EXPECT_THAT(stepsim("collective " + small + " --sends " + matrix).err, HasSubstr("expected an all_to_all"));
  EXPECT_THAT(stepsim(command + folder.write("m.csv", "from,0,1,2,3\n0,0,1,0,0\n1,0,0,0,0\n2,0,0,0,0\n3,0,0,0,0\n") +
                      " --algorithm direct")
                  .err,
              HasSubstr("'direct' sends all alike (ragged: use 'pairwise')"));
}

TEST(CommandLine, FoldOffPlaysEveryChipToTheSameStep) {
  const Json folded = Json::parse(stepsim("run " + small + " --json -").out);
  const Json whole = Json::parse(stepsim("run " + small + " --fold off --json -").out);
  EXPECT_EQ(folded["classes"], 1);
  EXPECT_EQ(whole["classes"], 16);
  EXPECT_EQ(folded["step_time_ps"], whole["step_time_ps"]);
  EXPECT_EQ(folded["collectives"], whole["collectives"]);
  EXPECT_EQ(folded["memory"], whole["memory"]);
  EXPECT_EQ(stepsim("run " + small + " --fold on").code, 2);
}

TEST(CommandLine, FaultsAreNamedInTheReportBesideTheStepWithoutThem) {
  const Outcome run = stepsim("run " + small +
                              " --set 'faults={chips: [{at: [1, 0], slowdown: 1.5}], cables: [{at: [0, 0], port: y+, "
                              "down: true}]}'");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("chip [1, 0] takes 1.5 times as long"));
  EXPECT_THAT(run.out, HasSubstr("ici y+ from [0, 0] to [0, 1] is down: its transfers go by"));
  EXPECT_THAT(run.out, HasSubstr("without the faults: "));
}

TEST(CommandLine, StepsAndOverridesShowInTheResolvedScenario) {
  const Json json = Json::parse(stepsim("run " + small + " --steps 2 --set model.layers=2 --json -").out);
  EXPECT_EQ(json["steps_played"], 2);
  std::map<std::string, std::pair<std::string, std::string>> resolved;
  for (const Json& key : json["scenario"]["resolved"]) resolved[key["key"]] = {key["value"], key["origin"]};
  EXPECT_EQ(resolved["simulation.exact_steps"].first, "2");
  EXPECT_EQ(resolved["model.layers"], std::pair(std::string("2"), std::string("--set")));
}

TEST(CommandLine, WhatDoesNotFitMemoryExitsWithThreeUnlessAllowed) {
  const std::string tiny = small + " --set 'cluster.chip.memory=10 MiB'";
  const Outcome run = stepsim("run " + tiny);
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("DOES NOT FIT"));
  EXPECT_THAT(run.err, HasSubstr("does not fit memory"));
  EXPECT_EQ(stepsim("run " + tiny + " --allow-oom").code, 0);
  EXPECT_EQ(stepsim("run " + tiny + " --set allow_oom=true").code, 0);
  EXPECT_EQ(Json::parse(stepsim("run " + tiny + " --json -").out)["memory"]["fits"], false);
}

TEST(CommandLine, OutputsThatCannotBeWrittenExitWithTwoAndLeaveNothing) {
  const Folder folder;
  const std::string good = " --json '" + folder.file("good.json") + "'";
  for (const std::string& target : {folder.file("no/such/x.json"), folder.file("")}) {
    const Outcome json = stepsim("run " + small + " --json '" + target + "'");
    EXPECT_EQ(json.code, 2) << target;
    EXPECT_THAT(json.out, IsEmpty());
    EXPECT_THAT(json.err, HasSubstr("--json"));
    const Outcome trace = stepsim("run " + small + good + " --trace '" + target + "'");
    EXPECT_EQ(trace.code, 2) << target;
    EXPECT_THAT(trace.err, HasSubstr("--trace"));
  }
  EXPECT_EQ(stepsim("run " + small + good + " --trace '" + folder.file("good.json") + "'").code, 2);
  EXPECT_EQ(stepsim("run " + small + " --trace -").code, 2);
  EXPECT_EQ(folder.files(), 0U);
}

TEST(CommandLine, AFailedRunLeavesTheOldFileAlone) {
  const Folder folder;
  folder.write("run.json", "the old one");
  const Outcome run = stepsim("run " + small + " --set model.layers=-1 --json '" + folder.file("run.json") + "'");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, StartsWith("--set"));
  EXPECT_EQ(text_of(folder.file("run.json")), "the old one");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(CommandLine, ALinkedTargetIsReplacedNotTheLink) {
  const Folder folder;
  folder.write("real.json", "old");
  std::filesystem::create_symlink(folder.file("real.json"), folder.file("link.json"));
  EXPECT_EQ(stepsim("topology " + small + " --json '" + folder.file("link.json") + "'").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.json")));
  EXPECT_TRUE(Json::accept(text_of(folder.file("real.json"))));
  EXPECT_EQ(stepsim("topology " + small + " --json /dev/null").code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(CommandLine, CheckPrintsEveryKeyAndFigure) {
  const Outcome check = stepsim("check " + small);
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_THAT(check.out, ::testing::ContainsRegex("model.layers +3 +given"));
  EXPECT_THAT(check.out, ::testing::ContainsRegex("simulation.max_steps +10 +default"));
  EXPECT_THAT(check.out, HasSubstr("Calculated"));
  EXPECT_THAT(check.out, Not(HasSubstr("Expectations")));
}

TEST(CommandLine, ExpectationsDecideTheExitCode) {
  EXPECT_EQ(stepsim("check --expect " + small).code, 0);
  const Outcome unmet = stepsim("check --expect " + small + " --set 'expect.0.value=0.001'");
  EXPECT_EQ(unmet.code, 1) << unmet.err;
  EXPECT_THAT(unmet.out, HasSubstr("NOT MET"));
}

TEST(CommandLine, Topology) {
  const Json json = Json::parse(stepsim("topology " + small + " --json -").out);
  EXPECT_EQ(json["chips"], 16);
  EXPECT_EQ(json["hosts"], 4);           // 2x2 chips each
  EXPECT_EQ(json["diameter_links"], 4);  // 2 + 2 on a wrapped 4x4 torus
  const Outcome dot = stepsim("topology " + small + " --dot -");
  EXPECT_THAT(dot.out, StartsWith("digraph"));
  EXPECT_EQ(stepsim("topology " + small + " --dot - --json -").code, 2);
}

TEST(CommandLine, ListNamesWhatThereIs) {
  const Outcome all = stepsim("list");
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* name : {"torus", "pcie", "point-to-point", "Chips", "Systems", "Models"})
    EXPECT_THAT(all.out, HasSubstr(name));
  EXPECT_THAT(stepsim("list topologies").out, Not(HasSubstr("Models")));
}

TEST(CommandLine, FlowsPlaysACase) {
  // Two flows on one link of 1 GB/s and 1 us: half the rate each until the short one has drained (3 kB and 1 kB).
  const Folder folder;
  const std::string file =
      folder.write("case.json", R"({"links": {"a": {"capacity": 1000000000, "latency": "0.000001"}},
      "tasks": [{"id": "x", "bytes": 3000, "route": ["a"]}, {"id": "y", "bytes": 1000, "route": ["a"]},
                {"id": "z", "time": "1 us", "after": [["y", "drained"]]}]})");
  const Outcome json = stepsim("flows '" + file + "' --json -");
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out),
            Json::parse(R"({"tasks": {"x": {"start": 0, "drained": 4000000, "delivered": 5000000},
      "y": {"start": 0, "drained": 2000000, "delivered": 3000000}, "z": {"start": 2000000, "done": 3000000}}})"));
  const Outcome table = stepsim("flows '" + file + "'");
  EXPECT_THAT(table.out, ::testing::ContainsRegex("x +0 +4,000,000 +5,000,000"));
}

TEST(CommandLine, FlowsRefusesBadCases) {
  const Folder folder;
  const std::string file =
      folder.write("case.json", "{\"links\": {},\n\"tasks\": [{\"id\": \"x\", \"bytes\": 1, \"route\": [\"a\"]}]}");
  const Outcome bad = stepsim("flows '" + file + "' --json '" + folder.file("out.json") + "'");
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, StartsWith(file + ":2:45: tasks[0] 'x'.route[0]: there is no link 'a'"));
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_EQ(folder.files(), 1U);
  EXPECT_EQ(stepsim("flows '" + folder.file("") + "'").code, 2);      // a directory
  EXPECT_EQ(stepsim("flows '" + folder.file("none") + "'").code, 2);  // nothing there
}

TEST(CommandLine, SizesThatTakeForeverAreAnInputError) {
  const Folder folder;
  const std::string file = folder.write("case.json", R"({"links": {"a": {"capacity": 1, "latency": 0}},
      "tasks": [{"id": "x", "bytes": 1000000000000, "route": ["a"]}]})");
  const Outcome slow = stepsim("flows '" + file + "'");
  EXPECT_EQ(slow.code, 2);
  EXPECT_THAT(slow.err, HasSubstr("106 days"));
}

/// How the head of a broken scenario says it is run (tests/scenarios/broken/README.md).
struct Broken {
  std::string options;
  std::string environment;
};

std::string shell(std::string text) {
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

Broken read_broken(const std::string& file) {
  Broken broken;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && line.starts_with("#");) {
    if (line.starts_with("# set: ")) broken.options += " --set " + shell(line.substr(7));
    if (line.starts_with("# catalog: ")) {
      broken.environment = "STEPSIM_CATALOG=" + shell(STEPSIM_SOURCE_DIR "/tests/scenarios/" + line.substr(11));
    }
  }
  return broken;
}

void expect_refused(const std::string& file) {
  SCOPED_TRACE(file);
  const Broken broken = read_broken(file);
  const Folder out;
  const Outcome run = stepsim("run " + shell(file) + broken.options + " --json " + shell(out.file("run.json")) +
                                  " --trace " + shell(out.file("trace.json")),
                              broken.environment);
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_EQ(out.files(), 0U);
  EXPECT_THAT(run.err, Not(IsEmpty()));
  // One line per problem, each with its place: line and column where it has them, the file as a whole where not.
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, ::testing::ContainsRegex("^(/.*\\.yaml(:[0-9]+:[0-9]+)?|--set): "));
  }
}

TEST(CommandLine, BrokenScenariosAreAnswered) {
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/tests/scenarios/broken")) {
    if (entry.path().extension() != ".yaml") continue;
    expect_refused(entry.path().string());
    ++tried;
  }
  EXPECT_GE(tried, 50);
}

}  // namespace
}  // namespace stepsim
