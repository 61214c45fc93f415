// The JSON of a run: as run.schema.json documents it, and with the sums that DESIGN.md promises.
#include "tools/run_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.h"
#include "scenarios/catalog.h"
#include "scenarios/run.h"
#include "schema.h"
#include "tools/run_report.h"
#include "tools/table.h"

namespace stepsim {
namespace {

using Json = nlohmann::json;

Json schema() {
  return Json::parse(text_of(STEPSIM_SOURCE_DIR "/tools/run.schema.json"));
}

/// Played once for all tests here.
struct Played {
  Scenario scenario = load(data("small.yaml"), {}, default_catalog());
  RunResult result = run(scenario);
  Json json = Json::parse(run_json(scenario, result));
};

const Played& small() {
  static const Played played;
  return played;
}

TEST(RunJson, FollowsItsSchema) {
  EXPECT_THAT(Schema::problems(schema(), small().json), ::testing::IsEmpty());
}

TEST(RunJson, TheSchemaNoticesWhatIsMissingAddedOrWrong) {
  Json missing = small().json;
  missing.erase("mfu");
  EXPECT_THAT(Schema::problems(schema(), missing), ::testing::ElementsAre("$: missing mfu"));
  Json added = small().json;
  added["breakdown"][0]["extra"] = 1;
  EXPECT_THAT(Schema::problems(schema(), added), ::testing::ElementsAre("$.breakdown[0]: not in the schema: extra"));
  Json wrong = small().json;
  wrong["step_time_ps"] = "soon";
  wrong["breakdown"][0]["parts"][0]["name"] = "something";
  EXPECT_EQ(Schema::problems(schema(), wrong).size(), 2U);
}

TEST(RunJson, HasTheTopLevelKeysInTheStatedOrder) {
  // DESIGN.md, section "JSON".
  const auto ordered = nlohmann::ordered_json::parse(run_json(small().scenario, small().result));
  std::vector<std::string> keys;
  for (const auto& [key, value] : ordered.items()) keys.push_back(key);
  std::size_t at = 0;
  for (const char* key : {"version", "scenario", "chips", "classes", "step_time_ps", "tokens_per_s",
                          "tokens_per_s_per_chip", "model_flops_per_s_per_chip", "mfu", "flop_formula",
                          "peak_memory_bytes", "breakdown", "collectives", "links", "critical_path", "counters"}) {
    const auto found = std::find(keys.begin() + static_cast<std::ptrdiff_t>(at), keys.end(), key);
    ASSERT_NE(found, keys.end()) << key;
    at = static_cast<std::size_t>(found - keys.begin());
  }
}

TEST(RunJson, EveryBreakdownSumsToTheStep) {
  const std::int64_t step = small().json["step_time_ps"];
  EXPECT_GT(step, 0);
  std::int64_t chips = 0;
  for (const Json& one : small().json["breakdown"]) {
    std::int64_t sum = 0;
    for (const Json& part : one["parts"]) sum += part["time_ps"].get<std::int64_t>();
    EXPECT_EQ(sum, step);
    chips += one["chips"].get<std::int64_t>();
  }
  EXPECT_EQ(chips, small().json["chips"].get<std::int64_t>());
}

TEST(RunJson, TheCriticalPathHasNoGapsAndSumsToTheStep) {
  std::int64_t at = 0;
  for (const Json& piece : small().json["critical_path"]) {
    EXPECT_EQ(piece["start_ps"].get<std::int64_t>(), at);
    EXPECT_GT(piece["time_ps"].get<std::int64_t>(), 0);
    EXPECT_LE(piece["contention_ps"].get<std::int64_t>(), piece["time_ps"].get<std::int64_t>());
    at += piece["time_ps"].get<std::int64_t>();
  }
  EXPECT_EQ(at, small().json["step_time_ps"].get<std::int64_t>());
}

TEST(RunJson, MemoryPartsSumToThePeak) {
  std::int64_t sum = 0;
  for (const Json& part : small().json["memory"]["parts"]) sum += part["bytes"].get<std::int64_t>();
  EXPECT_EQ(sum, small().json["peak_memory_bytes"].get<std::int64_t>());
}

TEST(RunJson, HeadlineFiguresAgreeWithEachOther) {
  const Json& json = small().json;
  const double step = json["step_time_ps"].get<double>() * 1e-12;
  EXPECT_NEAR(json["tokens_per_s"].get<double>() * step, 32 * 1024, 1e-6 * 32 * 1024);  // the scenario's batch
  EXPECT_NEAR(json["tokens_per_s_per_chip"].get<double>() * 16, json["tokens_per_s"].get<double>(), 1e-3);
  EXPECT_NEAR(json["model_flops_per_s_per_chip"].get<double>() / 100e12, json["mfu"].get<double>(), 1e-9);
}

TEST(RunJson, AResultOfNothingIsStillJsonAndText) {
  // No time, no collectives, no memory: nothing is divided by zero.
  Scenario scenario = load(data("small.yaml"), {}, default_catalog());
  RunResult empty;
  empty.assembly = assemble(scenario);
  empty.timeline.step_end = {Picoseconds(0)};
  empty.breakdown = {{0, 16, {}}};
  const Json json = Json::parse(run_json(scenario, empty));
  EXPECT_EQ(json["step_time_ps"], 0);
  const std::string text = run_report(scenario, empty, false);
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("nan")));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("inf ")));
}

TEST(RunReport, FitsAHundredColumnsWithoutColourCodes) {
  std::istringstream lines(run_report(small().scenario, small().result, false));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(width(line), 100U) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

TEST(RunReport, HasTheHeadlineInTheStatedOrder) {
  // DESIGN.md, section 5: step time, tokens/s, tokens/s/chip, model TFLOP/s/chip, MFU, peak memory per chip.
  EXPECT_THAT(
      headline(small().scenario, small().result, false),
      ::testing::ContainsRegex("step time +tokens/s +tokens/s/chip +model TFLOP/s/chip +MFU +peak memory/chip"));
}

TEST(RunReport, NamesItsPartsAndTheBottleneck) {
  const std::string text = run_report(small().scenario, small().result, false);
  for (const char* part : {"cluster", "fsdp 4 x tensor 4", "placement", "Where the step goes", "Communication",
                           "Busiest links", "Memory", "Critical path"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::HasSubstr(small().result.bottleneck.substr(0, 40)));
}

}  // namespace
}  // namespace stepsim
