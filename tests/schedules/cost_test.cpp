// Roofline costs against figures of the book.
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

ChipSpec v5e() {
  ChipSpec chip;
  chip.name = "v5e";
  chip.flops = {{"bf16", 1.97e14}, {"int8", 3.94e14}};
  chip.memory_rate = 8.2e11;
  return chip;
}

TEST(Cost, CriticalBatchOfV5e) {
  // Book, "All about rooflines": a bf16 matmul becomes compute-bound at about 240 tokens on v5e (1.97e14 / 8.2e11).
  const double d = 1 << 16;  // large, so that the weights dominate the traffic
  const auto flop_time = [&](double b) { return from_seconds(2 * b * d * d / 1.97e14); };
  EXPECT_EQ(matmul_time(v5e(), "bf16", 250, d, d, 2), flop_time(250));
  EXPECT_GT(matmul_time(v5e(), "bf16", 230, d, d, 2), flop_time(230));
}

TEST(Cost, ForwardOfOneLayerOn64Chips) {
  // Book ("derived" row 444): 48,000 tokens, D 8192, F 32768 on 64 v5p: 4 B D F / (N C) = 1.754480105 ms.
  ChipSpec v5p;
  v5p.flops["bf16"] = 4.59e14;
  v5p.memory_rate = 2.8e12;
  const Strategy s = reading::strategy({{"fsdp", 16}, {"tensor", 4}}, 48000, 3);
  const StepPlan p = plan(reading::mlp_stack(1, 8192, 32768), s, v5p);
  EXPECT_NEAR(1e-12 * static_cast<double>(reading::work(p, "forward")), 1.754480105e-3, 1e-3 * 1.754e-3);
}

TEST(Cost, EfficienciesAndOverhead) {
  ChipSpec chip = v5e();
  chip.matmul_efficiency = 0.5;
  chip.memory_efficiency = 0.25;
  chip.launch_overhead = Picoseconds(7);
  EXPECT_EQ(op_time(chip, "bf16", 1.97e14, 0), Picoseconds(2'000'000'000'007));
  EXPECT_EQ(op_time(chip, "bf16", 0, 8.2e11), Picoseconds(4'000'000'000'007));
  EXPECT_EQ(op_time(chip, "int8", 3.94e14, 0), Picoseconds(2'000'000'000'007));
}

TEST(Cost, TilesPadEveryDimension) {
  // MXU tiles of 128: 129 x 1 x 257 is padded to 256 x 128 x 384.
  ChipSpec chip = reading::flop_counter();
  chip.matmul_tile = 128;
  EXPECT_EQ(matmul_time(chip, "bf16", 129, 1, 257, 2).count(), 2 * 256 * 128 * 384);
  chip.matmul_tile = 1;
  EXPECT_EQ(matmul_time(chip, "bf16", 129, 1, 257, 2).count(), 2 * 129 * 257);
}

TEST(Cost, MatmulTrafficIsOperandsAndResult) {
  EXPECT_EQ(matmul_time(reading::byte_counter(), "bf16", 3, 5, 7, 2).count(), 2 * (15 + 35 + 21));
}

TEST(Cost, UnknownDtypeNamesTheKnown) {
  try {
    (void)op_time(v5e(), "fp4", 1, 1);
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].key, "parallelism.dtype");
    EXPECT_NE(error.problems()[0].message.find("bf16, int8"), std::string::npos);
  }
}

}  // namespace
}  // namespace stepsim
