// FLOP and bytes of each strategy per layer against the book's table ("How to parallelize a transformer for
// training": bf16, global batch B tokens, N chips): 4 B D F / N forward and 8 B D F / N backward for all of them;
// FSDP gathers 4 D F (/ Y) bytes forward and again backward and reduces as much; TP moves 4 B D (/ X) each way, 6
// backward when In is gathered again; DP reduces 4 D F. The table's 8 B D / X for the backward of the mixed scheme is
// an erratum: its own 12 lines move 4 B D / X.
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::issued;
using reading::Issued;
using reading::mlp_stack;

constexpr std::int64_t layers = 3;
constexpr std::int64_t d = 64;
constexpr std::int64_t f = 256;
constexpr std::int64_t batch = 512;

StepPlan stack(const Strategy& s) {
  return plan(mlp_stack(layers, d, f), s, reading::flop_counter());
}

std::vector<Strategy> one_of_each() {
  return {reading::strategy({{"data", 8}}, batch, 0),
          reading::strategy({{"fsdp", 8}}, batch, 1),
          reading::strategy({{"fsdp", 4}, {"sequence", 2}}, batch, 2),
          reading::strategy({{"fsdp", 8}}, batch, 3),
          reading::strategy({{"tensor", 8}}, batch, 3),
          reading::strategy({{"fsdp", 4}, {"tensor", 2}}, batch, 3),
          reading::strategy({{"data", 2}, {"fsdp", 2}, {"tensor", 2}}, batch, 3)};
}

TEST(Volumes, FlopOfEveryStrategy) {
  for (const Strategy& s : one_of_each()) {
    const StepPlan p = stack(s);
    EXPECT_EQ(reading::work(p, "forward"), layers * 4 * batch * d * f / 8);
    EXPECT_EQ(reading::work(p, "backward_input"), layers * 4 * batch * d * f / 8);
    EXPECT_EQ(reading::work(p, "backward_weight"), layers * 4 * batch * d * f / 8);
    EXPECT_EQ(reading::work(p, "optimizer"), 0);  // the reduced stack is nothing but matmuls
    EXPECT_EQ(p.executed_flops, layers * 12.0 * batch * d * f / 8);
    EXPECT_EQ(p.compute_time.count(), layers * 12 * batch * d * f / 8);
  }
}

TEST(Volumes, DataParallel) {
  const StepPlan p = stack(reading::strategy({{"data", 8}}, batch, 0));
  EXPECT_EQ(issued(p, "all-reduce", "data").bytes, layers * 4 * d * f);
  EXPECT_EQ(issued(p, "all-gather", "data").count, 0);
}

TEST(Volumes, Fsdp) {
  const StepPlan p = stack(reading::strategy({{"fsdp", 8}}, batch, 3));
  const Issued gathers = issued(p, "all-gather", "fsdp");
  EXPECT_EQ(gathers.count, layers * 4);  // W_in and W_out, forward and backward
  EXPECT_EQ(gathers.bytes, layers * 8 * d * f);
  EXPECT_EQ(issued(p, "reduce-scatter", "fsdp").bytes, layers * 4 * d * f);
}

TEST(Volumes, Tensor) {
  Strategy s = reading::strategy({{"tensor", 8}}, batch, 3);
  const auto bytes = [&](const std::string& kind) { return issued(stack(s), kind, "tensor").bytes; };
  EXPECT_EQ(bytes("all-gather mlp In") + bytes("reduce-scatter mlp Out"), layers * 4 * batch * d);
  EXPECT_EQ(bytes("all-gather mlp dOut") + bytes("reduce-scatter mlp dIn"), layers * 4 * batch * d);
  s.regather_tensor_input = true;
  EXPECT_EQ(bytes("all-gather") + bytes("reduce-scatter"), layers * (4 + 6) * batch * d);
}

TEST(Volumes, FsdpAndTensor) {
  Strategy s = reading::strategy({{"fsdp", 4}, {"tensor", 2}}, batch, 3);
  const auto bytes = [&](const std::string& kind, const std::string& axis) {
    return issued(stack(s), kind, axis).bytes;
  };
  EXPECT_EQ(bytes("all-gather", "fsdp"), layers * 8 * d * f / 2);
  EXPECT_EQ(bytes("reduce-scatter", "fsdp"), layers * 4 * d * f / 2);
  EXPECT_EQ(bytes("all-gather", "tensor") + bytes("reduce-scatter", "tensor"), layers * (4 + 4) * batch * d / 4);
  s.regather_tensor_input = true;
  EXPECT_EQ(bytes("all-gather", "tensor") + bytes("reduce-scatter", "tensor"), layers * (4 + 6) * batch * d / 4);
}

TEST(Volumes, SequenceShardsWeightsTogetherWithFsdp) {
  const StepPlan p = stack(reading::strategy({{"fsdp", 4}, {"sequence", 2}}, batch, 3));
  EXPECT_EQ(issued(p, "all-gather", "fsdp+sequence").bytes, layers * 8 * d * f);
  EXPECT_EQ(issued(p, "reduce-scatter", "fsdp+sequence").bytes, layers * 4 * d * f);
}

TEST(Volumes, AcrossPodsOnlyTheShardIsReduced) {
  // Book, "Scaling across pods": after the reduce-scatter inside, each chip owns 1 / M of the gradient.
  const StepPlan p = stack(reading::strategy({{"data", 2}, {"fsdp", 2}, {"tensor", 2}}, batch, 3));
  EXPECT_EQ(issued(p, "all-reduce", "data").bytes, layers * 4 * d * f / 4);
}

TEST(Volumes, GatedHasThreeMatrices) {
  ModelSpec model = mlp_stack(layers, d, f);
  model.gated = true;
  const StepPlan p = plan(model, reading::strategy({{"fsdp", 8}}, batch, 3), reading::flop_counter());
  EXPECT_EQ(reading::work(p, "forward"), layers * 6 * batch * d * f / 8);
  EXPECT_EQ(p.executed_flops, layers * 18.0 * batch * d * f / 8);
  EXPECT_EQ(issued(p, "all-gather", "fsdp").bytes, layers * 12 * d * f);
}

TEST(Volumes, AxesOfOneChipIssueNothing) {
  const StepPlan p = stack(reading::strategy({{"data", 1}, {"fsdp", 1}, {"sequence", 1}, {"tensor", 1}}, batch, 3));
  EXPECT_TRUE(p.collectives.empty());
}

TEST(Volumes, UsesCountTheIssues) {
  for (const Strategy& s : one_of_each()) {
    const StepPlan p = stack(s);
    std::vector<std::uint32_t> counted(p.collectives.size(), 0);
    for (const Op& op : reading::program(p).ops) {
      if (op.kind == OpKind::collective) ++counted.at(op.collective);
    }
    for (std::size_t i = 0; i < counted.size(); ++i) EXPECT_EQ(counted[i], p.collectives[i].uses);
  }
}

TEST(Volumes, LargeBucketsHoldManyUnits) {
  Strategy s = reading::strategy({{"data", 8}}, batch, 0);
  s.bucket = 3 * 2 * d * f;  // three matrices in bf16
  const StepPlan p = stack(s);
  EXPECT_EQ(issued(p, "all-reduce", "data").count, 2);
  EXPECT_EQ(issued(p, "all-reduce", "data").bytes, layers * 4 * d * f);
  s.bucket = 3 * 2 * d * f + 1;  // a byte more takes a fourth; the rest follows at the end
  EXPECT_EQ(issued(stack(s), "all-reduce", "data").count, 2);
  s.bucket = 1LL << 40;
  EXPECT_EQ(issued(stack(s), "all-reduce", "data").count, 1);
}

}  // namespace
}  // namespace stepsim
