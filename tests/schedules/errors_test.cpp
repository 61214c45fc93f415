// Sizes that do not fit: the key, what was found, and what would be valid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using testing::HasSubstr;

std::vector<Problem> problems(const ModelSpec& model, const Strategy& s) {
  try {
    (void)plan(model, s, reading::flop_counter());
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

void expect_one(const ModelSpec& model, const Strategy& s, const std::string& key, const std::string& text) {
  const std::vector<Problem> found = problems(model, s);
  ASSERT_EQ(found.size(), 1U) << key;
  EXPECT_EQ(found[0].key, key);
  EXPECT_THAT(found[0].message, HasSubstr(text));
}

Strategy one_chip(std::int64_t tokens = 64) {
  return reading::strategy({}, tokens, 3);
}

TEST(Errors, TensorMustDivideHeadsAndF) {
  // 8 heads, 2 of keys and values, D 64, F 256, vocabulary 128: tensor may be 1, 2, 4 or 8.
  expect_one(reading::small_transformer(1), reading::strategy({{"tensor", 3}}, 64, 3), "parallelism.mesh.tensor",
             "fits: 1, 2, 4, 8)");
  expect_one(reading::small_transformer(1), reading::strategy({{"tensor", 16}}, 64, 3), "parallelism.mesh.tensor",
             "heads 8");
  EXPECT_TRUE(problems(reading::small_transformer(1), reading::strategy({{"tensor", 8}}, 64, 3)).empty());
}

TEST(Errors, TensorMustDivideTheVocabulary) {
  ModelSpec model = reading::small_transformer(1);
  model.vocabulary = 50257;  // GPT-2, a prime
  expect_one(model, reading::strategy({{"tensor", 2}}, 64, 3), "parallelism.mesh.tensor", "fits: 1)");
}

TEST(Errors, BatchMustDivide) {
  Strategy s = reading::strategy({{"data", 2}, {"fsdp", 3}}, 100, 3);
  s.microbatches = 5;
  expect_one(reading::mlp_stack(1, 64, 256), s, "parallelism.batch_tokens", "nearest that do: 90 and 120");
  s.batch_tokens = 96;  // 16 per chip
  expect_one(reading::mlp_stack(1, 64, 256), s, "parallelism.batch_tokens", "fit: 1, 2, 4, 8, 16");
}

TEST(Errors, SequencesMustBeWholeOrSplit) {
  // Sequences of 32; 16 tokens a chip need 2 chips of a sequence axis.
  expect_one(reading::small_transformer(1), one_chip(16), "parallelism.batch_tokens", "sequence axis of 2");
  EXPECT_TRUE(problems(reading::small_transformer(1), reading::strategy({{"sequence", 2}}, 32, 3)).empty());
}

TEST(Errors, UnknownAxisNamesTheNearest) {
  expect_one(reading::mlp_stack(1, 64, 256), reading::strategy({{"tensr", 2}}, 64, 3), "parallelism.mesh",
             "did you mean 'tensor'");
}

TEST(Errors, EachRangeIsChecked) {
  struct Case {
    std::string key;
    std::function<void(ModelSpec&, Strategy&)> spoil;
  };
  const std::vector<Case> cases{
      {"model.layers", [](ModelSpec& m, Strategy&) { m.layers = 0; }},
      {"model.d_model", [](ModelSpec& m, Strategy&) { m.d_model = -1; }},
      {"model.d_ff", [](ModelSpec& m, Strategy&) { m.d_ff = INT64_MAX; }},
      {"model.vocabulary", [](ModelSpec& m, Strategy&) { m.vocabulary = -5; }},
      {"model.heads", [](ModelSpec& m, Strategy&) { m.heads = 0; }},
      {"model.kv_heads", [](ModelSpec& m, Strategy&) { m.kv_heads = 3; }},
      {"model.head_dim", [](ModelSpec& m, Strategy&) { m.head_dim = 0; }},
      {"model.sequence", [](ModelSpec& m, Strategy&) { m.sequence = 0; }},
      {"parallelism.batch_tokens", [](ModelSpec&, Strategy& s) { s.batch_tokens = 0; }},
      {"parallelism.microbatches", [](ModelSpec&, Strategy& s) { s.microbatches = 0; }},
      {"parallelism.zero", [](ModelSpec&, Strategy& s) { s.zero = 4; }},
      {"parallelism.prefetch", [](ModelSpec&, Strategy& s) { s.prefetch = -1; }},
      {"parallelism.bucket", [](ModelSpec&, Strategy& s) { s.bucket = 0; }},
      {"parallelism.tensor_overlap_chunks", [](ModelSpec&, Strategy& s) { s.tensor_overlap_chunks = 0; }},
      {"parallelism.weight_bytes", [](ModelSpec&, Strategy& s) { s.weight_bytes = 0; }},
      {"parallelism.master_bytes", [](ModelSpec&, Strategy& s) { s.master_bytes = -4; }},
      {"parallelism.mesh.data",
       [](ModelSpec&, Strategy& s) {
         s.mesh = {{"data", 0}};
       }},
      {"parallelism.mesh.fsdp",
       [](ModelSpec&, Strategy& s) {
         s.mesh = {{"fsdp", 2}, {"fsdp", 2}};
       }},
      {"parallelism.dtype", [](ModelSpec&, Strategy& s) { s.dtype = "fp5"; }},
      {"parallelism.checkpoints_per_layer", [](ModelSpec&, Strategy& s) { s.checkpoints = Checkpoints::per_layer; }},
      {"model",
       [](ModelSpec& m, Strategy&) {
         m.d_ff = 1LL << 40;
         m.d_model = 1LL << 40;
       }},
  };
  for (const Case& c : cases) {
    ModelSpec model = reading::small_transformer(1);
    Strategy s = one_chip();
    c.spoil(model, s);
    const std::vector<Problem> found = problems(model, s);
    ASSERT_EQ(found.size(), 1U) << c.key;
    EXPECT_EQ(found[0].key, c.key);
  }
}

TEST(Errors, CheckpointsPerLayerNameTheMost) {
  Strategy s = one_chip();
  s.checkpoints = Checkpoints::per_layer;
  s.checkpoints_per_layer = 3;
  // The backward of the reduced stack reads In and Tmp.
  expect_one(reading::mlp_stack(1, 64, 256), s, "parallelism.checkpoints_per_layer", "1 to 2");
}

TEST(Errors, SeveralAtOnce) {
  ModelSpec model = reading::small_transformer(0);
  Strategy s = one_chip();
  s.zero = 7;
  EXPECT_EQ(problems(model, s).size(), 2U);
}

TEST(Errors, StepsOfMonthsAndBillionsOfVisitsAreRefused) {
  ModelSpec huge = reading::mlp_stack(1000, 1 << 20, 1 << 22);
  expect_one(huge, one_chip(1LL << 30), "model", "106 days");
  Strategy s = one_chip(1 << 20);
  s.microbatches = 1 << 19;
  expect_one(reading::mlp_stack(1000, 64, 256), s, "parallelism.microbatches", "visits");
}

}  // namespace
}  // namespace stepsim
