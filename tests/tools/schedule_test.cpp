// `stepsim schedule`: what is refused and how, what goes to which stream, CSV out and in again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.h"
#include "schedules/pipeline/family.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string small = "1f1b --ranks 4 --microbatches 8";

std::string refused(const std::string& arguments) {
  const Outcome run = stepsim("schedule " + arguments);
  EXPECT_EQ(run.code, 2) << arguments << run.out;
  EXPECT_THAT(run.out, IsEmpty()) << arguments;
  return run.err;
}

TEST(Schedule, WithoutANameListsAll) {
  const Outcome listed = stepsim("schedule");
  EXPECT_EQ(listed.code, 0);
  EXPECT_EQ(listed.out, stepsim("list schedules").out);
  for (const std::string& name : pipeline_families().names()) EXPECT_THAT(listed.out, HasSubstr("\n  " + name + " "));
  EXPECT_THAT(listed.out, HasSubstr("two directions, v = 2"));
}

// 1F1B by hand (arXiv 2104.04473, section 2.2.1): (m + p - 1)(F + B) = 11 x 3, bubble (p - 1) / (m + p - 1) = 3/11.
TEST(Schedule, ReportNamesBothBubblesAndTheDefaults) {
  const Outcome run = stepsim("schedule " + small);
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err, IsEmpty());
  for (const char* text : {"4 ranks, 1 stage each (default), 8 microbatches", "one stage a rank", "makespan     33",
                           "bubble       27.3 %", "rank bubble  27.3 %", "F 1, I 1, W 1, B 2, FB 3, p2p 0"}) {
    EXPECT_THAT(run.out, HasSubstr(text));
  }
  EXPECT_THAT(stepsim("schedule zb_h1 --ranks 2 --microbatches 4 --stages-per-rank 1").out,
              Not(HasSubstr("(default)")));
  EXPECT_THAT(stepsim("schedule zbv --ranks 2 --microbatches 4").out, HasSubstr("2 stages each (default)"));
}

// B = I + W and FB = F + B unless given.
TEST(Schedule, TimesThatAreNotGivenFollow) {
  const auto times = [](const std::string& given) {
    return Json::parse(stepsim("schedule " + small + " --times " + given + " --json -").out)["times"].dump();
  };
  EXPECT_EQ(times("W=0.5"), R"({"B":1.5,"F":1,"FB":2.5,"I":1,"W":0.5,"p2p":0})");
  EXPECT_EQ(times("B=7"), R"({"B":7,"F":1,"FB":8,"I":1,"W":1,"p2p":0})");
  EXPECT_EQ(times("'F=2.000001, I=3'"), R"({"B":4,"F":2.000001,"FB":6.000001,"I":3,"W":1,"p2p":0})");
}

TEST(Schedule, EqualCostPlansSaySoAndNameTheirTwin) {
  for (const auto& entry : pipeline_families().entries()) {
    if (!entry.value.takes_limit) continue;
    const std::string sizes = " --ranks 2 --microbatches 4";
    const std::string order = stepsim("schedule " + entry.name + sizes + " --csv -").out;
    const std::string other = stepsim("schedule " + entry.name + sizes + " --times F=3,W=9 --csv -").out;
    const Outcome run = stepsim("schedule " + entry.name + sizes);
    EXPECT_THAT(run.out, HasSubstr("planning it")) << entry.name;
    if (entry.value.cost_driven_twin.empty()) {
      EXPECT_THAT(run.out, HasSubstr("given here")) << entry.name;
      continue;
    }
    EXPECT_EQ(order, other) << entry.name;
    EXPECT_THAT(run.out, HasSubstr(std::string(entry.value.cost_driven_twin) + " plans")) << entry.name;
  }
  const std::string sizes = " --ranks 4 --microbatches 12";
  EXPECT_NE(stepsim("schedule zb_2p" + sizes + " --csv -").out,
            stepsim("schedule zb_2p" + sizes + " --times F=3,I=5 --p2p 2 --csv -").out);
}

TEST(Schedule, WrongArgumentsAreNamedWithWhatIsValid) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1f1b", "--ranks, --microbatches: 1f1b needs them"},
      {"--ranks 4 --microbatches 8", "NAME: missing: expected a schedule"},
      {"--json -", "NAME: missing"},
      {"interleaved_1f1b --ranks 4 --microbatches 8", "--stages-per-rank: not given, so 1"},
      {"1f1b --ranks 4", "--microbatches: 1f1b needs it"},
      {"1f1bb --ranks 4 --microbatches 8", "did you mean '1f1b'?"},
      {"1f1b --ranks 0 --microbatches 8", "--ranks: 0: expected at least 1"},
      {"1f1b --ranks 4 --microbatches -8", "--microbatches: -8: expected at least 1"},
      {small + " --stages-per-rank 2", "v = 2: expected 1 stage a rank"},
      {small + " --group 2", "group = 2: it has no groups"},
      {small + " --segments 2", "segments = 2: it does not cut sequences"},
      {small + " --memory-limit 2", "memory limit: it is not made to one"},
      {"zb_1p --ranks 4 --microbatches 8 --memory-limit -1", "--memory-limit: -1: expected more than 0"},
      {"zb_1p --ranks 4 --microbatches 8 --memory-limit nan", "--memory-limit"},
      {"dualpipe --ranks 3 --microbatches 8", "dualpipe: "},
      {small + " --times F=-1", "--times F: '-1': expected a time from 0"},
      {small + " --times F=1e3", "--times F: '1e3': expected a time from 0"},
      {small + " --times F=1.0000001", "six places"},
      {small + " --times F=2000000000", "to 1000000000"},
      {small + " --times F=", "--times F: ''"},
      {small + " --times F=1,F=2", "--times: F is given twice"},
      {small + " --times G=1", "--times: unknown letter 'G': expected one of F, I, W, B, FB"},
      {small + " --times f=1", "--times: unknown letter 'f'"},
      {small + " --times 10", "--times: '10': expected LETTER=NUMBER"},
      {small + " --times F=1,", "--times: '': expected LETTER=NUMBER"},
      {small + " --p2p x", "--p2p: 'x': expected a time from 0"},
      {small + " --activation F=0", "--activation F: expected more than 0"},
      {small + " --activation F=1,W=2", "--activation W: 2 is held until W, more than the 1 after F"},
      {small + " --activation B=2", "--activation: unknown letter 'B': expected one of F, W"},
      {"1f1b --ranks 100000 --microbatches 1000000", "expected at most 50000000"},
      {"dualpipev --ranks 2 --microbatches 8 --csv - --csv-form padded", "--csv-form: padded: PyTorch leaves no idle"},
      {small + " --csv-form other", "--csv-form"},
      {small + " --fused apart", "--fused"},
      {small + " --json - --csv -", "--csv: standard output is taken by --json -"},
      {small + " --svg - --csv -", "--svg: standard output is taken by --csv -"},
      {small + " --json /nowhere/x.json", "--json"},
      {"/nowhere/x.csv", "/nowhere/x.csv: cannot be read"},
  };
  for (const auto& [arguments, expected] : cases) EXPECT_THAT(refused(arguments), HasSubstr(expected)) << arguments;
  const std::string several = refused("zb_1p --ranks -4 --times F=x --p2p y --activation Q=1");
  for (const char* key : {"--ranks: -4", "--times F", "--p2p", "--activation"}) EXPECT_THAT(several, HasSubstr(key));
}

// With rendezvous sends both ranks send to each other: 0F1 to rank 1 while 1B0 to rank 0.
TEST(Schedule, BlockingSendsThatDeadlockAreExplained) {
  const Outcome run = stepsim("schedule 1f1b --ranks 2 --microbatches 3 --blocking");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("deadlock: rank 0 at cell 2 cannot end the send of 0F1 until rank 1 comes to 1F1"));
  EXPECT_THAT(run.err, HasSubstr("rank 1 at cell 2 cannot end the send of 1B0 until rank 0 comes to 0B0"));
  EXPECT_EQ(stepsim("schedule gpipe --ranks 2 --microbatches 3 --blocking").code, 0);
  const Folder folder;
  const std::string csv = folder.write("idle.csv", "0F0,,0F1,0B0,0F2,0B1,0B2\n,1F0,1B0,1F1,1B1,1F2,1B2\n");
  EXPECT_THAT(stepsim("schedule '" + csv + "' --blocking").err, HasSubstr("rank 0 at cell 3 cannot end"));
}

TEST(Schedule, BadFilesAreAnsweredWithRowAndCell) {
  const Folder folder;
  const std::string csv = folder.write("bad.csv", "0F0,0B0,0X1\n1F0,1B0,1F0\n");
  const std::string said = refused("'" + csv + "'");
  EXPECT_THAT(said, HasSubstr(csv + ":1:3: rank 0, cell 3: "));
  const std::string circle = folder.write("circle.csv", "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n");
  EXPECT_THAT(refused("'" + circle + "'"), HasSubstr("deadlock: rank 0 at cell 2 (0B0) waits for 1B0 of rank 1"));
  const std::string good = folder.write("good.csv", "0F0,0B0\n1F0,1B0\n");
  EXPECT_THAT(refused("'" + good + "' --ranks 3"), HasSubstr("--ranks: 3, but " + good + " has 2"));
  EXPECT_THAT(refused("'" + good + "' --group 2"), HasSubstr("--group: is for schedules by name"));
  EXPECT_EQ(stepsim("schedule '" + good + "' --ranks 2 --microbatches 1 --stages-per-rank 1").code, 0);
}

TEST(Schedule, StandardOutputHasOneThingOnly) {
  const Folder folder;
  const Outcome json = stepsim("schedule " + small + " --json - --gantt");
  EXPECT_TRUE(Json::accept(json.out));
  EXPECT_THAT(json.err, HasSubstr("--gantt is left out"));
  EXPECT_THAT(stepsim("schedule 1f1b --ranks 2 --microbatches 2 --csv -").out, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  const Outcome svg = stepsim("schedule " + small + " --svg -");
  EXPECT_THAT(svg.out, StartsWith("<svg "));
  const Outcome files = stepsim("schedule " + small + " --json '" + folder.file("a") + "' --csv '" + folder.file("b") +
                                "' --svg '" + folder.file("c") + "'");
  EXPECT_EQ(files.code, 0);
  EXPECT_THAT(files.out, HasSubstr("makespan"));
  EXPECT_EQ(folder.files(), 3U);
  EXPECT_EQ(svg.out, text_of(folder.file("c")));
  const std::string old = folder.write("old.csv", "0F0,0B0,0W0\n1F0,1BW0\n");
  const Outcome noted = stepsim("schedule '" + old + "' --json -");
  EXPECT_TRUE(Json::accept(noted.out));
  EXPECT_THAT(noted.err, HasSubstr("old letters"));
}

// What is written is read as the same order; with sends and receives written out it plays the same where each receive
// stands just before what takes it (1F1B, equal times), and every other plays no faster than the order alone.
TEST(Schedule, CsvComesBackAsTheSameSchedule) {
  for (const std::string name : {"1f1b", "zbv", "dualpipe", "chimera", "interleaved_1f1b", "torch_interleaved_zb"}) {
    const bool chunks = pipeline_families().at("", name).stages_per_rank != 1;
    const std::string sizes = " --ranks 4 --microbatches 8" + std::string(chunks ? " --stages-per-rank 2" : "");
    const Folder folder;
    const Json made = Json::parse(
        stepsim("schedule " + name + sizes + " --p2p 0.25 --json - --csv '" + folder.file("order.csv") + "'").out);
    const Json read = Json::parse(stepsim("schedule '" + folder.file("order.csv") + "' --p2p 0.25 --json -").out);
    for (const char* key : {"ranks", "p", "v", "m", "makespan", "bubble", "rank_bubble", "start", "end", "busy",
                            "peak_W", "peak_I", "stage_rank", "actions"}) {
      EXPECT_EQ(made[key], read[key]) << name << " " << key;
    }
    const std::string lowered =
        folder.write("lowered.csv", stepsim("schedule " + name + sizes + " --csv - --csv-form communication").out);
    EXPECT_THAT(text_of(lowered), HasSubstr("RECV_F"));
    const Json timed = Json::parse(stepsim("schedule '" + lowered + "' --p2p 0.25 --json -").out);
    EXPECT_GE(timed["makespan"], made["makespan"]) << name;
    EXPECT_EQ(timed["busy"], made["busy"]) << name;
  }
}

TEST(Schedule, PaddedCsvIsAsPyTorchsDump) {
  for (const Vector& vector : vectors({"gpipe", "1f1b", "torch_zbv", "torch_interleaved_zb"})) {
    if (!vector.json.contains("csv_padded")) continue;
    std::string expected;
    for (const Json& row : vector.json["csv_padded"]) expected += row.get<std::string>() + "\n";
    const std::string sizes = " --ranks " + vector.json["p"].dump() + " --stages-per-rank " + vector.json["v"].dump() +
                              " --microbatches " + vector.json["m"].dump();
    const Folder folder;
    const std::string csv =
        folder.write("padded.csv", stepsim("schedule " + vector.name + sizes + " --csv - --csv-form padded").out);
    EXPECT_EQ(text_of(csv), expected);
    EXPECT_EQ(stepsim("schedule '" + csv + "' --csv - --csv-form padded").out, expected);
  }
}

}  // namespace
}  // namespace stepsim
