// examples_test.cpp: the shipped examples run, meet what they expect, and say what the book says about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/run.h"

namespace stepsim {
namespace {

const std::string folder = std::string(STEPSIM_SOURCE_DIR) + "/scenarios/examples/";

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

RunResult run_example(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return run(load(folder + name + ".yaml", overrides, default_catalog()));
}

Picoseconds part(const RunResult& result, const std::string& name) {
  for (const BreakdownPart& one : result.breakdown.front().parts) {
    if (one.name == name) return one.time;
  }
  return Picoseconds(0);
}

class Example : public ::testing::TestWithParam<std::string> {};

TEST_P(Example, RunsSumsAndMeetsItsExpectations) {
  const Scenario scenario = load(folder + GetParam() + ".yaml", {}, default_catalog());
  const RunResult result = run(scenario);
  EXPECT_TRUE(result.timeline.periodic);
  for (const ClassBreakdown& one : result.breakdown) {
    Picoseconds sum;
    for (const BreakdownPart& piece : one.parts) sum += piece.time;
    EXPECT_EQ(sum, result.step_time);
  }
  for (const ExpectationResult& expected : check_expectations(scenario, result)) {
    EXPECT_TRUE(expected.met) << expected.expectation.quantity << " is " << expected.measured << ", expected "
                              << expected.expectation.value << " (" << expected.expectation.source << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Example, ::testing::ValuesIn(examples()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Book, chapter 6: 4Mi tokens on a v5p pod are 468 tokens per chip, below 850: pure FSDP is communication-bound; four
// times the batch is above it.
TEST(Examples, PureFsdpIsCommunicationBoundBelow850TokensPerChip) {
  EXPECT_TRUE(run_example("llama3-70b-v5p-fsdp").bottleneck.starts_with("communication-bound"));
  const RunResult large = run_example("llama3-70b-v5p-fsdp", {"parallelism.batch_per_chip=2048"});
  EXPECT_TRUE(large.bottleneck.starts_with("compute-bound")) << large.bottleneck;
}

// Book, chapter 5, and C / W (N-1)/N = 7312 tokens per card: below it the all-reduce is exposed, above it is hidden.
TEST(Examples, DataParallelCardsAreBoundByPcieBelowTheThresholdOnly) {
  EXPECT_TRUE(run_example("llama3-8b-rtx4080-ddp-small-batch").bottleneck.starts_with("communication-bound"));
  EXPECT_TRUE(run_example("llama3-8b-rtx4080-ddp").bottleneck.starts_with("compute-bound"));
}

// An ideal tensor axis is a closed ring of four (book's V/W, here with balanced halves 3/4 of it); on part of the
// hardware, a 2x2 block or an open segment, its links give less, and none of it is hidden: it is critical.
TEST(Examples, TensorAxisOnPartOfTheHardwareIsExposedAndSlow) {
  const RunResult result = run_example("llama3-70b-v5p-fsdp-tp");
  EXPECT_GT(part(result, "exposed.tensor"), part(result, "exposed.fsdp+sequence"));
  for (const CollectiveReport& use : result.collectives) {
    if (use.axis != "tensor") continue;
    EXPECT_LT(use.achieved, use.limit);
  }
}

/// A placement as a scenario would write it.
std::vector<std::vector<std::string>> terms(const Placement& placement, const std::vector<HardwareAxis>& hardware) {
  std::vector<std::vector<std::string>> all;
  for (const auto& digits : placement.digits) {
    std::vector<std::string>& own = all.emplace_back();
    for (const AxisDigit& digit : digits) {
      own.push_back(hardware[static_cast<std::size_t>(digit.hardware_axis)].name + ":" + std::to_string(digit.extent) +
                    "@" + std::to_string(digit.stride));
    }
  }
  return all;
}

// The placement that is chosen by prediction is, played, at most 3 % slower than the best of the alternatives that
// the report lists.
TEST(Examples, ChosenPlacementHoldsAgainstItsAlternatives) {
  for (const std::string name : {"llama3-70b-v5p-fsdp-tp", "mlp-v5p-4x4x4-fsdp-tp"}) {
    Scenario scenario = load(folder + name + ".yaml", {}, default_catalog());
    const RunResult chosen = run(scenario);
    ASSERT_GT(chosen.assembly.placements.size(), 3U);
    for (std::size_t i = 1; i < 3; ++i) {
      scenario.placement = terms(chosen.assembly.placements[i].placement, chosen.assembly.cluster->axes());
      EXPECT_LE(to_seconds(chosen.step_time), 1.03 * to_seconds(run(scenario).step_time)) << name << ", " << i;
    }
  }
}

}  // namespace
}  // namespace stepsim
