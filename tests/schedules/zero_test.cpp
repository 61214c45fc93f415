// ZeRO stages, gradient accumulation and the optimizer: how often what is reduced and gathered, and who waits.
// Stages as in Rajbhandari et al. 2020: 1 shards the optimizer, 2 the gradients too, 3 the weights too.
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::issued;
using reading::mlp_stack;

constexpr std::int64_t units = 2 * 3;  // W_in and W_out of three layers

StepPlan stack(int zero, std::int64_t microbatches, std::vector<MeshAxis> mesh = {{"data", 2}, {"fsdp", 4}}) {
  Strategy s = reading::strategy(std::move(mesh), 512, zero);
  s.microbatches = microbatches;
  s.bucket = 1;
  return plan(mlp_stack(3, 64, 256), s, reading::flop_counter());
}

TEST(Zero, CollectivesPerMicrobatch) {
  for (const std::int64_t m : {1, 4}) {
    EXPECT_EQ(issued(stack(0, m), "all-reduce", "data+fsdp").count, units);

    EXPECT_EQ(issued(stack(1, m), "reduce-scatter", "fsdp").count, units);
    EXPECT_EQ(issued(stack(1, m), "all-reduce", "data").count, units);
    EXPECT_EQ(issued(stack(1, m), "all-gather", "fsdp").count, units);

    EXPECT_EQ(issued(stack(2, m), "reduce-scatter", "fsdp").count, units * m);
    EXPECT_EQ(issued(stack(2, m), "all-reduce", "data").count, units);
    EXPECT_EQ(issued(stack(2, m), "all-gather", "fsdp").count, units);

    EXPECT_EQ(issued(stack(3, m), "reduce-scatter", "fsdp").count, units * m);
    EXPECT_EQ(issued(stack(3, m), "all-reduce", "data").count, units);
    EXPECT_EQ(issued(stack(3, m), "all-gather", "fsdp").count, 2 * units * m);  // forward and backward
  }
}

TEST(Zero, WithoutReshardingOneGatherPerMicrobatch) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  s.microbatches = 4;
  s.reshard_after_forward = false;
  const StepPlan p = plan(mlp_stack(3, 64, 256), s, reading::flop_counter());
  EXPECT_EQ(issued(p, "all-gather", "fsdp").count, units * 4);
}

TEST(Zero, MicrobatchesDoTheSameWork) {
  for (const int zero : {0, 1, 2, 3}) EXPECT_EQ(stack(zero, 4).compute_time, stack(zero, 1).compute_time);
}

TEST(Zero, OptimizerFollowsTheReductionsInTheOrderOfReadiness) {
  for (const int zero : {0, 1, 2, 3}) {
    const StepPlan p = stack(zero, 2);
    std::vector<std::string> updates;
    OpId last_update = none;
    const auto& ops = reading::program(p).ops;
    for (OpId id = 0; id < ops.size(); ++id) {
      if (reading::phase(p, ops[id]) != "optimizer") continue;
      EXPECT_EQ(ops[id].stream, 0U);
      updates.push_back(reading::line(p, ops[id]) + "@" + std::to_string(ops[id].tag.layer));
      last_update = id;
    }
    // The backward makes W_out's gradient of the last layer first.
    ASSERT_EQ(updates.size(), static_cast<std::size_t>(units));
    EXPECT_EQ(updates.front(), "adam mlp.out [all-reduce mlp.out]@2");
    EXPECT_EQ(updates.back(), "adam mlp.in [all-reduce mlp.in]@0");
    for (OpId id = 0; id < ops.size(); ++id) EXPECT_EQ(ops[id].ends_step, id == last_update);
  }
}

TEST(Zero, ShardIsReducedOverDataAfterTheLastMicrobatch) {
  const StepPlan p = stack(3, 2);
  for (const Op& op : reading::program(p).ops) {
    if (reading::label(p, op) != "all-reduce mlp.in") continue;
    EXPECT_EQ(op.tag.microbatch, 1);
    EXPECT_EQ(reading::line(p, op), "all-reduce mlp.in [reduce-scatter mlp.in]");
  }
}

TEST(Zero, NextStepWaitsForTheUpdatedWeights) {
  // ZeRO-1, -2: the forward waits for the gather of what the step before updated; the gather waits for the update.
  for (const int zero : {1, 2}) {
    const StepPlan p = stack(zero, 1);
    EXPECT_EQ(reading::lines(p, 1, false).front(), "mlp.in [mlp.out@0, all-gather mlp.in']");
    EXPECT_EQ(reading::lines(p, 1, true).back(), "all-gather mlp.in [adam mlp.in]");
  }
}

TEST(Zero, OnlyTheFirstUseInAStepWaitsForTheStepBefore) {
  for (const int zero : {0, 1, 2, 3}) {
    const StepPlan p = stack(zero, 4);
    std::int64_t across = 0;
    for (const Dependency& dependency : reading::program(p).dependencies) across += dependency.steps_back;
    EXPECT_EQ(across, units);
  }
}

TEST(Zero, UpdateTouchesEverythingAdamKeeps) {
  // Per parameter: weight read and written, gradient read, two moments and the master copy read and written.
  ModelSpec model = mlp_stack(1, 64, 256);
  model.elementwise = true;  // one norm of 64
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  s.gradient_bytes = 4;
  s.master_bytes = 4;
  const StepPlan p = plan(model, s, reading::byte_counter());
  EXPECT_EQ(reading::work(p, "optimizer"), (2 * 64 * 256 + 64) / 4 * (2 * 2 + 4 + 2 * (4 + 4) + 2 * 4));
}

TEST(Zero, ReduceQueueMayBeShared) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  const auto streams = [&] { return plan(mlp_stack(3, 64, 256), s, reading::flop_counter()).program.streams; };
  EXPECT_EQ(streams(), (std::vector<std::string>{"compute", "gather fsdp", "reduce fsdp"}));
  s.separate_reduce_queue = false;
  EXPECT_EQ(streams(), (std::vector<std::string>{"compute", "comm fsdp"}));
}

}  // namespace
}  // namespace stepsim
