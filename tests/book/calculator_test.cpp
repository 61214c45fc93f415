// The rows that `stepsim check` prints, for the book's training run of LLaMA-3 70B (chapter 6, "Applied training").

#include "scenarios/calculator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "book_rows.h"

namespace stepsim::book {

namespace {

/// 4Mi tokens on 16x16x32 v5p: 1024 x FSDP, 2 x sequence, 4 x tensor.
Scenario llama3_70b() {
  Scenario scenario;
  scenario.cluster.kind = "torus";
  scenario.cluster.chip = ideal_chip("v5p");
  scenario.cluster.shape = {16, 16, 32};
  scenario.model = model_of(row("at_params"));
  scenario.model.sequence = 4096;
  scenario.strategy.mesh = {{"fsdp", 1024}, {"sequence", 2}, {"tensor", 4}};
  scenario.strategy.batch_tokens = 4194304;
  scenario.placement = {{"x:2@8", "y", "z"}, {"x:2@4"}, {"x:4"}};
  return scenario;
}

std::string value(const std::vector<CalculatorRow>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const CalculatorRow& r) { return r.name == name; });
  return found == rows.end() ? "no row '" + name + "'" : found->value;
}

TEST(Calculator, ThresholdsOfV5p) {  // book, chapter 5: alpha 2550, 850 on three axes; chapter 6: 113 with F = 28672
  const std::vector<CalculatorRow> rows = calculate(llama3_70b());
  EXPECT_EQ(value(rows, "alpha"), "2550");
  EXPECT_EQ(value(rows, "least tokens per chip, DP or FSDP on 1 axis"), "2550");
  EXPECT_EQ(value(rows, "least tokens per chip, DP or FSDP on 3 axes"), "850");
  EXPECT_EQ(value(rows, "least tokens per chip, FSDP + tensor"), "113.39");
  EXPECT_EQ(value(rows, "most tensor ways on 1 axis"), "11.24");
}

TEST(Calculator, FiguresOfTheRun) {  // 4194304 / 8192 chips; 4096 tokens per sequence
  const std::vector<CalculatorRow> rows = calculate(llama3_70b());
  EXPECT_EQ(value(rows, "tokens per chip"), "512");
  EXPECT_EQ(value(rows, "sequences per batch"), "1024");
  EXPECT_EQ(value(rows, "bytes of state per parameter"), "10");  // book: bf16 weights and two fp32 moments
}

TEST(Calculator, EveryRowHasNameValueAndLaw) {
  for (const CalculatorRow& each : calculate(llama3_70b())) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_FALSE(each.value.empty()) << each.name;
    EXPECT_FALSE(each.law.empty()) << each.name;
    EXPECT_EQ(each.value.find("nan"), std::string::npos) << each.name;
  }
}

TEST(Calculator, SlicesOverTheDataCenterNetwork) {  // book, chapter 5: 73,440 tokens per slice; two slices exactly half
  Scenario scenario = llama3_70b();
  scenario.cluster.slices = 2;
  scenario.strategy.batch_tokens *= 2;
  scenario.strategy.mesh.insert(scenario.strategy.mesh.begin(), {"data", 2});
  scenario.placement.insert(scenario.placement.begin(), {"dcn"});
  const std::vector<CalculatorRow> rows = calculate(scenario);
  EXPECT_EQ(value(rows, "least tokens per slice, DP over DCN"), "73440");
  EXPECT_EQ(value(rows, "least tokens per slice, DP over DCN, exact ring"), "36720");
}

TEST(Calculator, UnknownDtypeNamesTheKey) {
  Scenario scenario = llama3_70b();
  scenario.strategy.dtype = "fp4";
  try {
    calculate(scenario);
    FAIL() << "fp4 has no peak";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().at(0).key, "parallelism.dtype");
  }
}

}  // namespace

}  // namespace stepsim::book
