// The full transformer: what its ops cost, its collectives, split sequences, tied embeddings, chunked overlap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::issued;
using reading::small_transformer;
using testing::ElementsAre;

/// Work of the one op with this label in layer 0, microbatch 0.
std::int64_t work_of(const StepPlan& p, const std::string& wanted, std::int32_t layer = 0) {
  for (const Op& op : reading::program(p).ops) {
    if (op.tag.layer == layer && reading::label(p, op) == wanted) return op.work.count();
  }
  ADD_FAILURE() << "no op " << wanted;
  return -1;
}

std::vector<std::string> compute_labels(const StepPlan& p, std::int32_t layer) {
  std::vector<std::string> labels;
  for (const Op& op : reading::program(p).ops) {
    if (op.kind == OpKind::compute && op.tag.layer == layer && reading::phase(p, op) != "optimizer") {
      labels.push_back(reading::label(p, op));
    }
  }
  return labels;
}

TEST(Transformer, OpsOfALayer) {
  const StepPlan p = plan(small_transformer(2), reading::strategy({}, 64, 0), reading::flop_counter());
  EXPECT_THAT(compute_labels(p, 1),
              ElementsAre("attention.norm", "attention.qkv", "attention.scores", "attention.out", "attention.residual",
                          "mlp.norm", "mlp.gate", "mlp.in", "mlp.activation", "mlp.out", "mlp.residual",
                          // backward
                          "mlp.out dW", "mlp.out dX", "mlp.activation dX", "mlp.in dW", "mlp.gate dW", "mlp.in dX",
                          "mlp.gate dX", "mlp.norm dX", "attention.out dW", "attention.out dX", "attention.scores dX",
                          "attention.qkv dW", "attention.qkv dX", "attention.norm dX"));
  EXPECT_THAT(compute_labels(p, -1), ElementsAre("embedding", "head.norm", "head.logits", "head.loss", "head.logits dW",
                                                 "head.logits dX", "head.norm dX", "embedding dW"));
}

TEST(Transformer, PhasesComeFirstInTheNameTable) {
  const StepPlan p = plan(small_transformer(1), reading::strategy({}, 64, 0), reading::flop_counter());
  EXPECT_EQ(std::vector<std::string>(p.program.names.begin(), p.program.names.begin() + 6),
            (std::vector<std::string>{"", "forward", "backward_input", "backward_weight", "recompute", "optimizer"}));
  EXPECT_EQ(p.program.streams, std::vector<std::string>{"compute"});
  EXPECT_EQ(p.program.compute_stream, std::vector<bool>{true});
}

TEST(Transformer, ForwardFlop) {
  // A third of 6 P T plus attention (book, "Transformer math"), on 2 x 2 chips.
  const ModelSpec model = small_transformer(3);
  const StepPlan p = plan(model, reading::strategy({{"fsdp", 2}, {"tensor", 2}}, 128, 3), reading::flop_counter());
  const TrainingFlops flops = training_flops(model);
  // To a picosecond per op, as durations are rounded up.
  EXPECT_NEAR(static_cast<double>(reading::work(p, "forward")),
              (flops.matmul_per_token + flops.attention_per_token) / 3 * 128 / 4, 40);
}

TEST(Transformer, CausalHalvesTheScores) {
  ModelSpec model = small_transformer(1);
  const Strategy s = reading::strategy({}, 64, 0);
  // 4 T S N H: scores and values, two matmuls.
  EXPECT_EQ(work_of(plan(model, s, reading::flop_counter()), "attention.scores"), 4 * 64 * 32 * 64 / 2);
  model.attention = Attention::full;
  EXPECT_EQ(work_of(plan(model, s, reading::flop_counter()), "attention.scores"), 4 * 64 * 32 * 64);
  EXPECT_EQ(work_of(plan(model, s, reading::flop_counter()), "attention.scores dX"), 10 * 64 * 32 * 64);
}

TEST(Transformer, ElementwiseOpsMoveBytes) {
  // 64 tokens, D 64, F 256, bf16, over 2 chips of tensor: arrays [T, D / 2] and [T, F / 2].
  const StepPlan p = plan(small_transformer(1), reading::strategy({{"tensor", 2}}, 64, 0), reading::byte_counter());
  const std::int64_t narrow = 2 * 64 * 64 / 2;
  const std::int64_t wide = 2 * 64 * 256 / 2;
  EXPECT_EQ(work_of(p, "mlp.norm"), 2 * narrow);
  EXPECT_EQ(work_of(p, "mlp.residual"), 3 * narrow);
  EXPECT_EQ(work_of(p, "mlp.activation"), 3 * wide);
  EXPECT_EQ(work_of(p, "mlp.norm dX"), 4 * narrow);
  EXPECT_EQ(work_of(p, "embedding", -1), 2 * narrow);
  EXPECT_EQ(work_of(p, "head.loss", -1), 3 * 2 * 64 * 128 / 2);
  // Q, A: 4 heads of 8; K, V: one head of 8 each.
  EXPECT_EQ(work_of(p, "attention.scores"), 2 * 64 * (2 * 4 * 8 + 2 * 8));
}

TEST(Transformer, CollectivesPerLayer) {
  const StepPlan p =
      plan(small_transformer(3), reading::strategy({{"fsdp", 2}, {"tensor", 2}}, 128, 3), reading::flop_counter());
  // Attention and feed-forward each gather and scatter forward and backward; the head gathers in and scatters dIn.
  EXPECT_EQ(issued(p, "all-gather", "tensor").count, 3 * 4 + 1);
  EXPECT_EQ(issued(p, "reduce-scatter", "tensor").count, 3 * 4 + 1);
  EXPECT_EQ(issued(p, "all-gather", "tensor").bytes, (3 * 4 + 1) * 2 * 64 * 64);
  // Units: attention, mlp per layer twice, embedding once, head once (its forward and backward are one visit).
  EXPECT_EQ(issued(p, "all-gather", "fsdp").count, 3 * 2 * 2 + 2);
  EXPECT_EQ(issued(p, "reduce-scatter", "fsdp").count, 3 * 2 + 2);
  const Bytes all = 2 * parameters(small_transformer(3)).total / 2;
  EXPECT_EQ(issued(p, "reduce-scatter", "fsdp").bytes, all);
}

TEST(Transformer, SplitSequencesGatherKeysAndValues) {
  // 128 tokens over 2 x 4 chips: 16 each, sequences of 32 over 4 chips of the sequence axis.
  const Strategy s = reading::strategy({{"fsdp", 2}, {"sequence", 4}}, 128, 3);
  const StepPlan p = plan(small_transformer(3), s, reading::flop_counter());
  // The full array: 4 x 16 tokens, K and V, 2 heads of 8, bf16.
  EXPECT_EQ(issued(p, "all-gather attention KV", "sequence").count, 3);
  EXPECT_EQ(issued(p, "all-gather attention KV", "sequence").bytes, 3 * 4 * 16 * 2 * 2 * 8 * 2);
  EXPECT_EQ(issued(p, "reduce-scatter attention dKV", "sequence").bytes, 3 * 4 * 16 * 2 * 2 * 8 * 2);
  EXPECT_EQ(work_of(p, "attention.scores"), 4 * 16 * 32 * 64 / 2);
  // Whole sequences need none.
  const Strategy whole = reading::strategy({{"fsdp", 2}, {"sequence", 4}}, 256, 3);
  EXPECT_EQ(issued(plan(small_transformer(3), whole, reading::flop_counter()), "all-gather", "sequence").count, 0);
}

TEST(Transformer, TiedEmbeddingsAreReducedOnce) {
  ModelSpec model = small_transformer(3);
  model.tied_embeddings = true;
  Strategy s = reading::strategy({{"fsdp", 2}}, 128, 3);
  s.microbatches = 2;
  const StepPlan p = plan(model, s, reading::flop_counter());
  EXPECT_EQ(issued(p, "reduce-scatter embedding", "fsdp").count, 2);
  EXPECT_EQ(issued(p, "all-gather embedding", "fsdp").count, 2 * 2);  // lookup, and head
  EXPECT_EQ(issued(p, "reduce-scatter", "fsdp").bytes, 2 * 2 * parameters(model).total);
}

TEST(Transformer, ParametersArePartsOfTheWhole) {
  const ModelSpec model = small_transformer(3);
  EXPECT_EQ(state_memory(model, reading::strategy({}, 64, 0)).parameters, 2 * parameters(model).total);
  EXPECT_EQ(state_memory(model, reading::strategy({{"fsdp", 2}, {"tensor", 2}}, 64, 3)).parameters,
            2 * parameters(model).total / 4);
}

TEST(TensorOverlap, ChunksKeepFlopAndBytes) {
  Strategy s = reading::strategy({{"fsdp", 2}, {"tensor", 2}}, 128, 3);
  const StepPlan whole = plan(small_transformer(3), s, reading::flop_counter());
  s.tensor_overlap_chunks = 4;
  const StepPlan parts = plan(small_transformer(3), s, reading::flop_counter());
  EXPECT_EQ(parts.executed_flops, whole.executed_flops);
  EXPECT_EQ(parts.compute_time, whole.compute_time);
  for (const std::string kind : {"all-gather", "reduce-scatter"}) {
    EXPECT_EQ(issued(parts, kind, "tensor").bytes, issued(whole, kind, "tensor").bytes);
    EXPECT_EQ(issued(parts, kind, "tensor").count, 4 * issued(whole, kind, "tensor").count);
    EXPECT_EQ(issued(parts, kind, "fsdp").count, issued(whole, kind, "fsdp").count);
  }
}

TEST(TensorOverlap, PartsWaitForTheirOwnPart) {
  Strategy s = reading::strategy({{"tensor", 2}}, 128, 3);
  s.tensor_overlap_chunks = 2;
  const StepPlan p = plan(reading::mlp_stack(3, 64, 256), s, reading::flop_counter());
  // A part is the same tokens all the way, from the scatter of the layer before to this layer's scatter.
  EXPECT_THAT(reading::lines(p, 1, false),
              ElementsAre("all-gather mlp In [reduce-scatter mlp Out@0]",
                          "all-gather mlp In [reduce-scatter mlp Out@0]", "mlp.in [all-gather mlp In, adam mlp.in']",
                          "mlp.in [all-gather mlp In]", "mlp.out [mlp.in, adam mlp.out']", "mlp.out [mlp.in]",
                          "reduce-scatter mlp Out [mlp.out]", "reduce-scatter mlp Out [mlp.out]"));
  const auto& ops = reading::program(p).ops;
  std::vector<OpId> gathers;
  std::vector<OpId> parts;
  for (OpId id = 0; id < reading::first_backward(p); ++id) {
    if (ops[id].tag.layer != 1) continue;
    if (reading::label(p, ops[id]) == "all-gather mlp In") gathers.push_back(id);
    if (reading::label(p, ops[id]) == "mlp.in") parts.push_back(id);
  }
  ASSERT_EQ(parts.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(reading::program(p).dependencies[ops[parts[i]].first_dependency].op, gathers[i]);
  }
}

}  // namespace
}  // namespace stepsim
