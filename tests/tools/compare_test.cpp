// `stepsim compare` from the outside: files, what stands on standard output, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "process.h"
#include "schema.h"

namespace stepsim {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The small scenario of this folder with its four chips of a row as a pipeline.
const std::string piped = "'" + data("small.yaml") +
                          "' --set model.layers=16 --set 'parallelism.mesh={pipeline: 4, data: 4}'"
                          " --set parallelism.zero=0 --set parallelism.microbatches=8";

std::vector<std::vector<std::string>> table(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::string cell;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        rows.back().push_back(std::exchange(cell, ""));
      } else {
        cell += c;
      }
    }
    rows.back().push_back(cell);
  }
  return rows;
}

TEST(CompareCommand, JsonFollowsItsSchema) {
  const Json schema = Json::parse(text_of(STEPSIM_SOURCE_DIR "/tools/compare.schema.json"));
  for (const std::string more : {"--schedules all --microbatches 4,8", "--schedules 1f1b,zb_2p --fair"}) {
    const Outcome outcome = stepsim("compare " + piped + " " + more + " --json -");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_THAT(Schema::problems(schema, json), IsEmpty());
    EXPECT_FALSE(json["rows"].empty());
    EXPECT_EQ(json.contains("held_equal"), more.find("--fair") != std::string::npos);
  }
}

TEST(CompareCommand, CsvAndJsonSayTheSame) {
  const Folder folder;
  const Outcome outcome =
      stepsim("compare " + piped + " --schedules all --microbatches 4,8 --csv - --json " + folder.file("rows.json"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json rows = Json::parse(text_of(folder.file("rows.json")))["rows"];
  const auto csv = table(outcome.out);
  ASSERT_EQ(csv.size(), rows.size() + 1);
  const auto column = [&](const std::string& title) {
    return static_cast<std::size_t>(std::find(csv[0].begin(), csv[0].end(), title) - csv[0].begin());
  };
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& cells = csv[i + 1];
    ASSERT_EQ(cells.size(), csv[0].size()) << cells[0];
    EXPECT_EQ(cells[0], rows[i]["name"]);
    if (rows[i].contains("skipped")) {
      ++skipped;
      EXPECT_THAT(cells.back(), HasSubstr(rows[i]["skipped"][0].get<std::string>()));
      continue;
    }
    EXPECT_EQ(std::stoll(cells[column("step_time_ps")]), rows[i]["step_time_ps"]);
    EXPECT_EQ(std::stoll(cells[column("peak_memory_bytes")]), rows[i]["peak_memory_bytes"]);
    EXPECT_EQ(std::stod(cells[column("bubble_rank")]), rows[i]["pipeline"]["bubble_rank"].get<double>());
    EXPECT_EQ(cells[column("best")], rows[i]["best"].get<bool>() ? "true" : "false");
  }
  EXPECT_GT(skipped, 0U) << "DualPipe takes no 4 microbatches on 4 ranks";
}

TEST(CompareCommand, TheSameCommandGivesTheSameBytes) {
  const std::string command = "compare " + piped + " --schedules all --csv -";
  EXPECT_EQ(stepsim(command).out, stepsim(command).out);
}

TEST(CompareCommand, TheReportNamesBestAndRefused) {
  const Outcome outcome = stepsim("compare " + piped + " --schedules 1f1b,zb_h1,dualpipe --microbatches 4");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr(" GiB, best"));
  EXPECT_THAT(outcome.out, HasSubstr("not run"));
  EXPECT_THAT(outcome.out, HasSubstr("m = 4"));
  EXPECT_LT(outcome.out.find("zb_h1"), outcome.out.find("1f1b")) << "faster first";
}

TEST(CompareCommand, TakesSchedulesFromCsvFiles) {
  // Two ranks, two microbatches, GPipe; then the same file with what its four ranks would need.
  const Folder folder;
  const std::string file = folder.write("mine.csv", "0F0,0F1,,,0B0,0B1\n,1F0,1F1,1B0,1B1,\n");
  const std::string two = "'" + data("small.yaml") +
                          "' --set model.layers=4 --set 'parallelism.mesh={pipeline: 2, data: 8}' --set "
                          "parallelism.zero=0 --set parallelism.microbatches=2";
  const Outcome outcome = stepsim("compare " + two + " --schedules gpipe," + file + " --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["step_time_ps"], rows[1]["step_time_ps"]);
  const Outcome other = stepsim("compare " + piped + " --schedules " + file);
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.out, HasSubstr("the file has 2 ranks"));
  EXPECT_EQ(stepsim("compare " + piped + " --schedules " + folder.file("none.csv")).code, 2);
}

TEST(CompareCommand, ScenariosSideBySide) {
  const std::string small = "'" + data("small.yaml") + "'";
  const Outcome outcome = stepsim("compare " + small + " " + small + " --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  const Json schema = Json::parse(text_of(STEPSIM_SOURCE_DIR "/tools/compare.schema.json"));
  EXPECT_THAT(Schema::problems(schema, json), IsEmpty());
  const Json alone = Json::parse(stepsim("run " + small + " --json -").out);
  for (const Json& one : json["rows"]) EXPECT_EQ(one["step_time_ps"], alone["step_time_ps"]);
}

TEST(CompareCommand, ExitCodes) {
  const std::string small = "'" + data("small.yaml") + "'";
  const auto wrong = [](const std::string& arguments, const char* said) {
    const Outcome outcome = stepsim("compare " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(said)) << arguments;
    EXPECT_THAT(outcome.out, IsEmpty()) << arguments;
  };
  wrong(small, "a second scenario");
  wrong(small + " --schedules all", "no pipeline axis");
  wrong(small + " " + small + " --schedules all", "found several");
  wrong(small + " " + small + " --fair", "goes with --schedules");
  wrong(piped + " --schedules 1f1b --memory 1GiB", "goes with --fair");
  wrong(piped + " --schedules 1f1b --fair --memory much", "--memory");
  wrong(piped + " --schedules 1f1b --csv - --json -", "same target");
  wrong(piped + " --schedules 1f1b --microbatches 0", "--microbatches");
  wrong(piped + " --schedules 1f1b --csv /nowhere/rows.csv", "--csv");
  const std::string tiny = piped + " --set cluster.chip.memory=16MiB --schedules 1f1b";
  EXPECT_EQ(stepsim("compare " + tiny).code, 3);
  EXPECT_THAT(stepsim("compare " + tiny).out, HasSubstr("does not fit memory"));
  EXPECT_EQ(stepsim("compare " + tiny + " --set allow_oom=true").code, 0);
}

}  // namespace
}  // namespace stepsim
