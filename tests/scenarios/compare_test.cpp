// `stepsim compare`: the rows against runs of their own, relations that the literature states, and what is refused.
#include "scenarios/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "load_text.h"
#include "scenarios/calculator.h"

namespace stepsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A stack of matmuls on four ranks, with links so fast that sends cost nothing beside them: what is left is the
/// schedule. F, I and W of a stage take equally long, for each is one matmul per matrix.
const char* const bare = R"(
name: bare pipeline
cluster:
  kind: torus
  shape: [4]
  chip:
    name: test chip
    flops: {bf16: 100 TFLOP/s}
    memory: 16 GiB
    memory_rate: 800 TB/s
    axes: 1
    pod: [4]
    host_shape: [4]
    wrap: full_extent
    link_rate: 300 TB/s
    link_latency: 1 ps
model:
  name: stack
  layers: 24
  d_model: 1024
  d_ff: 4096
  attention: none
  gated: false
  elementwise: false
parallelism:
  mesh: {pipeline: 4}
  zero: 0
  microbatches: 16
  batch: 256Ki tokens
  pipeline: {schedule: 1f1b}
)";

const ComparedRow& row(const CompareResult& result, const std::string& name) {
  const auto found =
      std::find_if(result.rows.begin(), result.rows.end(), [&](const ComparedRow& one) { return one.name == name; });
  if (found == result.rows.end()) throw std::out_of_range(name);
  return *found;
}

CompareResult compared(const Scenario& scenario, const std::vector<std::string>& schedules,
                       const std::vector<std::int64_t>& microbatches = {}, const std::vector<int>& stages = {}) {
  CompareRequest request;
  request.schedules = schedules;
  request.microbatches = microbatches;
  request.stages = stages;
  return compare_schedules(scenario, request);
}

const Scenario& bare_scenario() {
  static const Scenario scenario = load_text(bare);
  return scenario;
}

const CompareResult& everything() {
  static const CompareResult result = compared(bare_scenario(), {"all"});
  return result;
}

// --- the same as a run -------------------------------------------------------------------------------------------

TEST(Compare, ARowHasTheNumbersOfItsRun) {
  for (const char* schedule : {"gpipe", "zb_h1", "interleaved_1f1b", "dualpipe", "v_half"}) {
    std::vector<std::string> set{std::string("parallelism.pipeline.schedule=") + schedule};
    const ComparedRow& one = row(everything(), schedule);
    if (one.stages_per_rank == 2) set.emplace_back("parallelism.pipeline.stages_per_rank=2");
    const RunResult run = stepsim::run(load_text(bare, set));
    EXPECT_EQ(one.step_time, run.step_time) << schedule;
    EXPECT_EQ(one.peak, run.memory.peak) << schedule;
    EXPECT_EQ(one.mfu, run.mfu) << schedule;
    EXPECT_EQ(one.tokens_per_s_per_chip, run.tokens_per_s_per_chip) << schedule;
    double steady = 0;
    for (const ClassBreakdown& rank : run.breakdown) {
      for (const BreakdownPart& part : rank.parts) {
        if (part.name == "bubble.steady") steady += to_seconds(part.time) * static_cast<double>(rank.chips);
      }
    }
    EXPECT_NEAR(one.pipeline->steady, steady / 4 / to_seconds(run.step_time), 1e-12) << schedule;
  }
}

TEST(Compare, ScenariosAreAsTheyRun) {
  const Scenario piped = load_text(bare);
  const Scenario plain = load_text(bare, {"parallelism.mesh={data: 4}", "parallelism.pipeline=null", "name=plain"});
  const CompareResult result = compare_scenarios({piped, plain});
  EXPECT_EQ(row(result, "bare pipeline").step_time, run(piped).step_time);
  EXPECT_EQ(row(result, "plain").step_time, run(plain).step_time);
  EXPECT_FALSE(row(result, "plain").pipeline.has_value());
  EXPECT_TRUE(row(result, "bare pipeline").pipeline.has_value());
}

TEST(Compare, TheOrderOfRowsDoesNotDependOnWhoIsAskedFirst) {
  const CompareResult there = compared(bare_scenario(), {"gpipe", "zb_h1", "looped_bfs"});
  const CompareResult back = compared(bare_scenario(), {"looped_bfs", "zb_h1", "gpipe"});
  ASSERT_EQ(there.rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(there.rows[i].step_time, back.rows[i].step_time);
}

// --- bubbles -------------------------------------------------------------------------------------------------------

TEST(Compare, BubblesWithFreeSendsAreTheClosedForms) {
  // Wall bubble as a share of the ideal time: (p - 1) / m for GPipe and 1F1B, (p - 1) / (v m) interleaved
  // (arXiv 2104.04473, sections 2.2.1 and 2.2.2). Of the whole step that is b / (1 + b).
  const CompareResult result = compared(bare_scenario(), {"gpipe", "1f1b", "interleaved_1f1b"}, {8, 16}, {2, 3});
  ASSERT_EQ(result.rows.size(), 8U);
  for (const ComparedRow& one : result.rows) {
    ASSERT_TRUE(one.ran()) << one.name << ": " << one.reasons.front();
    const double ideal = 3.0 / static_cast<double>(one.microbatches * one.stages_per_rank);
    EXPECT_NEAR(one.pipeline->wall_bubble, ideal / (1 + ideal), 2e-3) << one.name << " m " << one.microbatches;
    EXPECT_NEAR(one.pipeline->rank_bubble, one.pipeline->wall_bubble, 2e-3) << one.name;
    const double split = one.pipeline->warm_up + one.pipeline->steady + one.pipeline->drain;
    EXPECT_LE(split, one.pipeline->wall_bubble + 1e-9) << one.name;
  }
}

TEST(Compare, ZeroBubbleSchedulesStandAsPublished) {
  const auto step = [](const char* name) { return row(everything(), name).step_time; };
  const auto bubble = [](const char* name) { return row(everything(), name).pipeline->rank_bubble; };
  // (p - 1)(F + I - W) of H1 beside (p - 1)(F + I + W) of 1F1B, and (b) nothing of ZB-2p at F = I = W
  // (arXiv 2401.10241, sections 2 and 3): with F = I = W a third of the bubble, and none.
  EXPECT_LT(step("zb_h1"), step("1f1b"));
  EXPECT_LE(step("zb_2p"), step("zb_1p"));
  EXPECT_GT(row(everything(), "zb_2p").peak, row(everything(), "zb_1p").peak);
  EXPECT_NEAR(bubble("zb_h1"), 1.0 / (16 + 1), 2e-3);  // 3 x F of 16 x 3 x F + 3 x F
  EXPECT_NEAR(bubble("zb_2p"), 0, 2e-3);
  EXPECT_NEAR(bubble("torch_zbv"), 0, 1e-2);
  // What one definition does not see the other does: p - 1 stages of skew (2401.10241, section 4).
  EXPECT_NEAR(row(everything(), "zb_2p").pipeline->wall_bubble, 3.0 / (16 * 3 + 3), 3e-3);
}

TEST(Compare, ActivationsInMicrobatchesAreThePublishedOnes) {
  // p for 1F1B, m for GPipe, p + 1 for DualPipe (its README), (p + 2) / 2 for V-Half and (p + 4) div 3 for V-Min
  // (the authors' table), p (1 + (p - 1) / (p v)) interleaved (arXiv 2205.05198).
  const auto held = [](const char* name) { return row(everything(), name).pipeline->activation_microbatches; };
  EXPECT_DOUBLE_EQ(held("1f1b"), 4);
  EXPECT_DOUBLE_EQ(held("gpipe"), 16);
  EXPECT_DOUBLE_EQ(held("dualpipe"), 5);
  EXPECT_DOUBLE_EQ(held("dualpipev"), 4.5);
  EXPECT_DOUBLE_EQ(held("interleaved_1f1b"), 5.5);
  EXPECT_LE(held("v_half"), 3);
  EXPECT_LE(held("v_min"), 2);
  EXPECT_EQ(row(everything(), "dualpipe").pipeline->copies, 2);
  EXPECT_EQ(row(everything(), "dualpipev").pipeline->copies, 1);
}

TEST(Compare, APipelineOverTwoHardwareAxesHasItsSendsBound) {
  // 2x2 chips in one pipeline: a microbatch's activations, 16 Ki tokens x 1024 x 2 bytes, over one link of 100 GB/s is
  // 335.5 us; ZeRO 0 and one chip per stage leave no other collective than the optimizer's.
  const Scenario scenario = load_text(bare, {"cluster.shape=[2, 2]", "cluster.chip.axes=2", "cluster.chip.pod=[2, 2]",
                                             "cluster.chip.host_shape=[2, 2]", "cluster.chip.link_rate=100 GB/s"});
  std::vector<std::string> sends;
  for (const CalculatorRow& one : calculate(scenario)) {
    if (one.name.find("over pipeline of 33.55 MB") != std::string::npos) sends.push_back(one.value);
  }
  EXPECT_FALSE(sends.empty());
  for (const std::string& one : sends) EXPECT_THAT(one, HasSubstr("335.5 us"));
}

// --- order and marks -----------------------------------------------------------------------------------------------

ComparedRow made(const std::string& name, std::int64_t step, Bytes peak, std::vector<std::string> reasons = {}) {
  ComparedRow one;
  one.name = name;
  one.step_time = Picoseconds(step);
  one.peak = peak;
  one.budget = 100;
  one.reasons = std::move(reasons);
  return one;
}

TEST(Compare, RowsAreSortedAndTheBestOfEachBudgetMarked) {
  std::vector<ComparedRow> rows{made("refused", 0, 0, {"m = 2"}),
                                made("slow", 9, 20),
                                made("huge", 1, 101),
                                made("fast", 5, 90),
                                made("mid", 7, 50),
                                made("beaten", 8, 60)};
  rank_rows(rows);
  std::vector<std::string> names;
  std::vector<std::string> marked;
  for (const ComparedRow& one : rows) {
    names.push_back(one.name);
    if (one.fastest_within) marked.push_back(one.name);
    EXPECT_EQ(one.best, one.name == "fast") << one.name;
  }
  EXPECT_THAT(names, ElementsAre("fast", "mid", "beaten", "slow", "huge", "refused"));
  EXPECT_THAT(marked, ElementsAre("fast", "mid", "slow"));
}

TEST(Compare, RowsThatAreAlikeAreMarkedAlike) {
  std::vector<ComparedRow> rows{made("a", 5, 50), made("b", 5, 50), made("c", 5, 60)};
  rank_rows(rows);
  EXPECT_TRUE(rows[0].best && rows[1].best);
  EXPECT_FALSE(rows[2].best || rows[2].fastest_within);
}

// --- what is refused -----------------------------------------------------------------------------------------------

std::string reason(const CompareResult& result, const std::string& name) {
  const ComparedRow& one = row(result, name);
  return one.ran() ? "ran" : one.reasons.front();
}

TEST(Compare, WhatCannotBeSaysWhy) {
  const CompareResult few = compared(bare_scenario(), {"dualpipe", "dualpipev", "1f1b", "hanayo"}, {4}, {3});
  EXPECT_THAT(reason(few, "dualpipe"), HasSubstr("m = 4"));
  EXPECT_THAT(reason(few, "dualpipev"), HasSubstr("2p = 8"));
  EXPECT_THAT(reason(few, "hanayo"), HasSubstr("v = 3"));
  EXPECT_EQ(reason(few, "1f1b"), "ran");
  EXPECT_EQ(few.rows.front().name, "1f1b") << "what was not run comes last";
  const CompareResult many = compared(bare_scenario(), {"interleaved_1f1b"}, {}, {5});
  EXPECT_THAT(reason(many, "interleaved_1f1b"), HasSubstr("24 layers do not divide by 20 stages"));
  const CompareResult odd = compared(bare_scenario(), {"gpipe"}, {7});
  EXPECT_THAT(reason(odd, "gpipe"), HasSubstr("7 microbatches"));
}

TEST(Compare, BlockingSendsThatDeadlockAreARowWithItsReason) {
  // Rendezvous sends of plain 1F1B wait for each other: rank 2 cannot hand over its second forward while rank 3 cannot
  // over its gradient. GPipe only ever sends one way at a time.
  const Scenario blocking =
      load_text(bare, {"parallelism.pipeline.schedule=gpipe", "parallelism.pipeline.sends=blocking"});
  const CompareResult result = compared(blocking, {"gpipe", "1f1b"});
  EXPECT_EQ(reason(result, "gpipe"), "ran");
  EXPECT_THAT(reason(result, "1f1b"), HasSubstr("deadlock: rank 2 at cell 2 cannot end the send of 2F1 until rank 3"));
  EXPECT_THAT(reason(result, "1f1b"), HasSubstr("rank 3 at cell 2 cannot end the send of 3B0"));
}

TEST(Compare, RefusesWhatItCannotCompare) {
  const auto message = [](const Scenario& scenario, const CompareRequest& request) -> std::string {
    try {
      (void)compare_schedules(scenario, request);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const Scenario plain = load_text(bare, {"parallelism.mesh={data: 4}", "parallelism.pipeline=null"});
  CompareRequest request;
  request.schedules = {"all"};
  EXPECT_THAT(message(plain, request), HasSubstr("no pipeline axis"));
  request.schedules = {"1f2b"};
  EXPECT_THAT(message(bare_scenario(), request), HasSubstr("did you mean '1f1b'"));
  request.schedules = {"1f1b"};
  request.microbatches = {0};
  EXPECT_THAT(message(bare_scenario(), request), HasSubstr("--microbatches"));
  request.microbatches = {};
  request.stages = {-1};
  EXPECT_THAT(message(bare_scenario(), request), HasSubstr("--stages"));
  request.stages = {};
  request.budget = 1;
  EXPECT_THAT(message(bare_scenario(), request), HasSubstr("--fair"));
  request.fair = true;
  request.budget = bare_scenario().cluster.chip.memory + 1;
  EXPECT_THAT(message(bare_scenario(), request), HasSubstr("--memory"));
}

TEST(Compare, AllLeavesOutTwinsAndSaysSo) {
  for (const ComparedRow& one : everything().rows) {
    EXPECT_NE(one.name, "zb_1p_auto");
    EXPECT_NE(one.name, "zbv_auto");
    EXPECT_TRUE(one.ran()) << one.name << ": " << one.reasons.front();
  }
  EXPECT_THAT(everything().notes.front(), HasSubstr("zb_1p (not zb_1p_auto, zb_auto_profiled)"));
  EXPECT_TRUE(compared(bare_scenario(), {"zb_1p_auto"}).rows.front().ran()) << "by name it is run";
}

TEST(Compare, KeysOfTheScenarioGoToThoseThatTakeThem) {
  const Scenario grouped = load_text(bare, {"parallelism.pipeline.schedule=interleaved_1f1b",
                                            "parallelism.pipeline.stages_per_rank=3", "parallelism.pipeline.group=8"});
  const CompareResult result = compared(grouped, {"1f1b", "interleaved_1f1b"});
  EXPECT_TRUE(row(result, "1f1b").ran());
  EXPECT_EQ(row(result, "interleaved_1f1b").stages_per_rank, 3);
  EXPECT_EQ(row(result, "interleaved_1f1b").step_time, run(grouped).step_time);
  EXPECT_THAT(result.notes.front(), HasSubstr("group = 8 goes to the schedules that take one: interleaved_1f1b"));
}

// --- fair ----------------------------------------------------------------------------------------------------------

CompareRequest fair_request(Bytes budget) {
  CompareRequest request;
  request.schedules = {"all"};
  request.microbatches = {8, 16, 32};
  request.stages = {2, 3};
  request.fair = true;
  request.budget = budget;
  return request;
}

TEST(Compare, AFairComparisonHasOneRowOfEachAndNoneAboveTheBudget) {
  const Bytes budget = row(everything(), "zb_1p").peak;
  const CompareResult result = compare_schedules(bare_scenario(), fair_request(budget));
  EXPECT_EQ(result.rows.size(), everything().rows.size());
  const CompareResult all = compared(bare_scenario(), {"all"}, {8, 16, 32}, {2, 3});
  for (const ComparedRow& one : result.rows) {
    EXPECT_EQ(one.budget, budget);
    EXPECT_TRUE(one.fits() || !(one.best || one.fastest_within)) << one.name;
    // None of its variants that keep to the budget is faster.
    for (const ComparedRow& other : all.rows) {
      if (other.name != one.name || !other.ran() || other.peak > budget) continue;
      EXPECT_TRUE(one.fits()) << one.name;
      EXPECT_LE(one.step_time, other.step_time) << one.name;
    }
  }
}

TEST(Compare, APlannerIsGivenLessUntilItFits) {
  // What is saved costs time: ZB-2p within the memory of ZB-1p is no faster than by itself, and no slower than 1F1B.
  CompareRequest request = fair_request(row(everything(), "zb_1p").peak);
  request.schedules = {"zb_2p", "1f1b"};
  request.microbatches = {};
  const CompareResult result = compare_schedules(bare_scenario(), request);
  const ComparedRow& planned = row(result, "zb_2p");
  ASSERT_TRUE(planned.fits());
  ASSERT_TRUE(planned.memory_limit.has_value());
  EXPECT_LT(*planned.memory_limit, 8);
  EXPECT_GT(planned.played, 1U);
  EXPECT_GE(planned.step_time, row(everything(), "zb_2p").step_time);
  EXPECT_LE(planned.step_time, row(result, "1f1b").step_time);
}

TEST(Compare, MoreMemoryIsNeverSlower) {
  std::vector<Bytes> budgets;
  for (const ComparedRow& one : everything().rows) budgets.push_back(one.peak);
  std::sort(budgets.begin(), budgets.end());
  std::optional<Picoseconds> before;
  for (const std::size_t i : {std::size_t{0}, budgets.size() / 3, budgets.size() - 1}) {
    const CompareResult result = compare_schedules(bare_scenario(), fair_request(budgets[i]));
    ASSERT_TRUE(result.rows.front().fits()) << budgets[i];
    EXPECT_LE(result.rows.front().step_time, before.value_or(result.rows.front().step_time)) << budgets[i];
    before = result.rows.front().step_time;
  }
}

}  // namespace
}  // namespace stepsim
