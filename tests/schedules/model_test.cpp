// Parameter counts and FLOP against the worked answers of "How To Scale Your Model" and published checkpoints.
#include "schedules/model.h"

#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::llama;
using reading::llama_70b;

std::int64_t without_norms(ModelSpec model) {
  model.elementwise = false;
  return parameters(model).total;
}

TEST(Parameters, Llama3_70B) {
  // Book, "Training LLaMA 3 on TPUs": exact sum of the matrices.
  EXPECT_EQ(without_norms(llama_70b()), 70'552'387'584);
  // Published checkpoint meta-llama/Meta-Llama-3-70B: 70,553,706,496 parameters, norms included.
  EXPECT_EQ(parameters(llama_70b()).total, 70'553'706'496);
}

TEST(Parameters, Llama3_405B) {
  // Book, "Training LLaMA 3 on TPUs", question 2 (matrices), relative tolerance 0.5 %.
  EXPECT_EQ(without_norms(llama(126, 16384, 53248, 128, 8, 128, 128256)), 405'849'243'648);
}

TEST(Parameters, Llama3_8B) {
  // Published checkpoint meta-llama/Meta-Llama-3-8B: 8,030,261,248 parameters.
  EXPECT_EQ(parameters(llama(32, 4096, 14336, 32, 8, 128, 128256)).total, 8'030'261'248);
}

TEST(Parameters, Llama2_13B) {
  // Book, "How to parallelize a transformer for training", question 1.
  EXPECT_EQ(without_norms(llama(40, 5120, 13824, 40, 40, 128, 32000)), 13'015'449'600);
}

TEST(Parameters, TransformerMathQuestion1) {
  // Book, "Transformer math", question 1, which counts two norms a layer and no final one.
  const ParameterCount count = parameters(llama(64, 4096, 16384, 32, 32, 128, 32000));
  EXPECT_EQ(count.total - count.final_norm, 17'442'537'472);
}

TEST(Parameters, InferenceQuestion1) {
  // Book, "Transformer inference", question 1: heads of 256, embeddings counted once (tied).
  ModelSpec model = llama(64, 4096, 16384, 32, 8, 256, 32128);
  model.tied_embeddings = true;
  EXPECT_EQ(without_norms(model), 18'385'207'296);
}

TEST(Parameters, ReducedStackHasTwoMatrices) {
  EXPECT_EQ(parameters(reading::mlp_stack(3, 8192, 32768)).total, 3 * 2 * std::int64_t{8192} * 32768);
}

TEST(Parameters, TooManyAreAnInputError) {
  EXPECT_THROW((void)parameters(reading::mlp_stack(1'000'000, 1LL << 40, 1LL << 40)), InputError);
}

TEST(TrainingFlops, SixPerParameter) {
  // Book: 6 x parameters x tokens. The input table does no arithmetic, so it is left out: 70B: 1.5 % less.
  const TrainingFlops flops = training_flops(llama_70b());
  EXPECT_EQ(flops.matmul_per_token, 6.0 * (70'552'387'584 - 128256LL * 8192));
  EXPECT_NEAR(flops.matmul_per_token, 4.2e11, 0.015 * 4.2e11);
}

TEST(TrainingFlops, AttentionEqualsMatmulsAtEightD) {
  // Book, "Transformer math": with F = 4 D, N H = D, full heads, gated, attention costs as much as the matmuls when
  // T = 8 D (it counts 16 D^2 parameters a layer, and no head).
  ModelSpec model = llama(1, 8192, 4 * 8192, 64, 64, 128, 0);
  model.attention = Attention::full;
  model.sequence = 65536;
  const TrainingFlops full = training_flops(model);
  EXPECT_NEAR(full.attention_per_token / full.matmul_per_token, 1.0, 0.05);
  model.attention = Attention::causal;
  EXPECT_EQ(training_flops(model).attention_per_token, full.attention_per_token / 2);
}

TEST(TrainingFlops, TiedHeadStillMultiplies) {
  ModelSpec tied = llama_70b();
  tied.tied_embeddings = true;
  EXPECT_EQ(training_flops(tied).matmul_per_token, training_flops(llama_70b()).matmul_per_token);
}

}  // namespace
}  // namespace stepsim
