// What is kept in memory: activations and checkpoints against the book's figures, ZeRO divisions, and balances.
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::mlp_stack;
using reading::play_memory;
using reading::resident;

/// Activation bytes that one more layer keeps between its forward and its backward, on one chip.
Bytes kept_per_layer(ModelSpec model, std::int64_t tokens, Checkpoints checkpoints, int per_layer) {
  model.vocabulary = 0;
  Strategy s = reading::strategy({}, tokens, 0);
  s.checkpoints = checkpoints;
  s.checkpoints_per_layer = per_layer;
  const auto level = [&](std::int64_t layers) {
    model.layers = layers;
    const StepPlan p = plan(model, s, reading::flop_counter());
    return play_memory(p, reading::first_backward(p)).at("activations").end;
  };
  return level(3) - level(2);
}

TEST(Checkpoints, EverythingIsTwentyTensorsOfD) {
  // Book, "Transformer math": about 20 arrays [B, D] a layer; 4M tokens, 64 layers, D 8192, F = 4 D: 84 TB.
  ModelSpec model = reading::llama(1, 8192, 4 * 8192, 64, 64, 128, 0);
  model.sequence = 4000;
  EXPECT_EQ(64 * kept_per_layer(model, 4'000'000, Checkpoints::none, 0), 83'886'080'000'000);
  // And with one checkpoint per layer 4.2 TB.
  EXPECT_EQ(64 * kept_per_layer(model, 4'000'000, Checkpoints::full, 0), 4'194'304'000'000);
  EXPECT_EQ(64 * kept_per_layer(model, 4'000'000, Checkpoints::per_layer, 1), 4'194'304'000'000);
}

TEST(Checkpoints, Llama70BWithTwoAndFourPerLayer) {
  // Book, "Training LLaMA 3 on TPUs": 4M tokens; its editions have 4 (20.97 TB) and 2 (10.49 TB) arrays [B, D].
  ModelSpec model = reading::llama_70b();
  model.sequence = 4000;
  EXPECT_EQ(80 * kept_per_layer(model, 4'000'000, Checkpoints::per_layer, 4), 20'971'520'000'000);
  EXPECT_EQ(80 * kept_per_layer(model, 4'000'000, Checkpoints::per_layer, 2), 10'485'760'000'000);
}

TEST(Checkpoints, AfterTheThreeMatmulsOf13B) {
  // Book, "How to parallelize a transformer for training", questions 2 and 3: 2 B (D + 2 F) L bytes.
  ModelSpec model = mlp_stack(1, 5120, 13824);
  model.gated = true;
  for (const Checkpoints rule : {Checkpoints::per_layer, Checkpoints::none}) {
    EXPECT_EQ(40 * kept_per_layer(model, 16'000'000, rule, 3), 41'943'040'000'000);
    EXPECT_EQ(40 * kept_per_layer(model, 3'000'000, rule, 3), 7'864'320'000'000);
  }
}

TEST(Checkpoints, RecomputationCostsEightInsteadOfSix) {
  // Book, "Transformer math": 8 P T FLOP with one checkpoint per layer.
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  const auto flops = [&] { return plan(mlp_stack(3, 64, 256), s, reading::flop_counter()).executed_flops; };
  const double plain = flops();
  s.checkpoints = Checkpoints::full;
  EXPECT_EQ(flops(), plain * 8 / 6);
  // With In kept, the backward lacks Tmp only: one of two matmuls is played again.
  s.checkpoints = Checkpoints::per_layer;
  s.checkpoints_per_layer = 1;
  EXPECT_EQ(flops(), plain * 7 / 6);
  s.checkpoints_per_layer = 2;
  EXPECT_EQ(flops(), plain);
}

TEST(Checkpoints, RecomputeIsItsOwnPhaseAndGathersOnce) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  s.checkpoints = Checkpoints::full;
  const StepPlan p = plan(mlp_stack(3, 64, 256), s, reading::flop_counter());
  EXPECT_EQ(reading::work(p, "recompute"), reading::work(p, "forward"));
  EXPECT_EQ(reading::issued(p, "all-gather", "fsdp").count, 2 * 2 * 3);
}

TEST(Checkpoints, TensorInputMayBeGatheredAgain) {
  // Kept per layer over Y = 4 chips: gathered In and Tmp / 4; or In / 4 and Tmp / 4 when it is gathered again.
  Strategy s = reading::strategy({{"tensor", 4}}, 512, 3);
  const auto kept = [&] {
    const auto level = [&](std::int64_t layers) {
      const StepPlan p = plan(mlp_stack(layers, 64, 256), s, reading::flop_counter());
      return play_memory(p, reading::first_backward(p)).at("activations").end;
    };
    return level(3) - level(2);
  };
  EXPECT_EQ(kept(), 2 * 512 * (64 + 256 / 4));
  s.regather_tensor_input = true;
  EXPECT_EQ(kept(), 2 * 512 * (64 / 4 + 256 / 4));
}

TEST(StateMemory, AdamKeepsTenBytesPerParameter) {
  // Book, "How to parallelize a transformer for training", question 2: 13B parameters, bf16 and fp32 moments: 130 GB.
  ModelSpec model = reading::llama(40, 5120, 13824, 40, 40, 128, 32000);
  model.elementwise = false;
  const StateMemory memory = state_memory(model, reading::strategy({}, 4096, 0));
  EXPECT_EQ(memory.parameters + memory.optimizer, 10 * 13'015'449'600);
  EXPECT_NEAR(static_cast<double>(memory.parameters + memory.optimizer), 1.3e11, 0.01 * 1.3e11);
}

TEST(StateMemory, EachStageDividesOneThingMore) {
  const ModelSpec model = mlp_stack(3, 64, 256);
  const Bytes parameters = 3 * 2 * 64 * 256;
  for (int zero = 0; zero <= 3; ++zero) {
    const Strategy s = reading::strategy({{"data", 2}, {"fsdp", 4}, {"sequence", 2}, {"tensor", 2}}, 512, zero);
    const StateMemory memory = state_memory(model, s);
    EXPECT_EQ(memory.optimizer, parameters * 8 / 2 / (zero >= 1 ? 8 : 1));
    EXPECT_EQ(memory.gradients, parameters * 2 / 2 / (zero >= 2 ? 8 : 1));
    EXPECT_EQ(memory.parameters, parameters * 2 / 2 / (zero >= 3 ? 8 : 1));
    const StepPlan p = plan(model, s, reading::flop_counter());
    EXPECT_EQ(resident(p, "parameters"), memory.parameters);
    EXPECT_EQ(resident(p, "optimizer"), memory.optimizer);
    // ZeRO-1 holds full gradients until they are reduced; at the end of the backward nothing but shards.
    const Bytes highest = play_memory(p).at("gradients").highest;
    if (zero != 1) {
      EXPECT_EQ(highest, memory.gradients);
    } else {
      EXPECT_LE(highest, memory.gradients);
    }
  }
}

TEST(StateMemory, ZeroOneKeepsFullGradientsOverMicrobatches) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 1);
  s.microbatches = 2;
  const ModelSpec model = mlp_stack(3, 64, 256);
  const StepPlan p = plan(model, s, reading::flop_counter());
  // All units whole, and the shard of the first one reduced.
  EXPECT_EQ(play_memory(p).at("gradients").highest, (3 * 2 + 0.25) * 2 * 64 * 256);
}

TEST(StateMemory, ShardsArePadded) {
  const StateMemory memory = state_memory(mlp_stack(1, 3, 5), reading::strategy({{"fsdp", 4}}, 4, 3));
  EXPECT_EQ(memory.parameters, 2 * 4 * 2);  // two matrices of 15 over 4 chips: 4 each, bf16
}

TEST(Gathered, PrefetchHoldsOneLayerMore) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 512, 3);
  const auto highest = [&] {
    return play_memory(plan(mlp_stack(5, 64, 256), s, reading::flop_counter())).at("gathered").highest;
  };
  constexpr Bytes matrix = 2 * 64 * 256;
  s.prefetch = 0;
  EXPECT_EQ(highest(), matrix);
  s.prefetch = 1;
  EXPECT_EQ(highest(), 4 * matrix);
  s.prefetch = 2;
  EXPECT_EQ(highest(), 6 * matrix);
  s.reshard_after_forward = false;
  EXPECT_EQ(highest(), 10 * matrix);
}

/// Combinations of options on small models: every fifth of all, a number that shares no factor with the options.
std::vector<std::pair<ModelSpec, Strategy>> combinations() {
  ModelSpec tied = reading::small_transformer(2);
  tied.tied_embeddings = true;
  tied.gated = false;
  const std::vector<ModelSpec> models{mlp_stack(3, 64, 256), reading::small_transformer(2), tied};
  const std::vector<std::vector<MeshAxis>> meshes{
      {}, {{"data", 2}}, {{"fsdp", 2}, {"sequence", 2}}, {{"tensor", 4}}, {{"data", 2}, {"fsdp", 2}, {"tensor", 2}}};
  std::vector<std::pair<ModelSpec, Strategy>> all;
  for (const ModelSpec& model : models) {
    for (const auto& mesh : meshes) {
      for (int options = 0; options < 4 * 3 * 2 * 2 * 2; options += 5) {
        Strategy s = reading::strategy(mesh, 512, options % 4);
        s.checkpoints = static_cast<Checkpoints>(options / 4 % 3);
        s.checkpoints_per_layer = 2;
        s.microbatches = 1 + options / 12 % 2;
        s.regather_tensor_input = options / 24 % 2 == 1;
        s.tensor_overlap_chunks = 1 + 2 * (options / 48 % 2);
        s.prefetch = options % 3;
        s.reshard_after_forward = options % 5 != 0;
        s.separate_reduce_queue = options % 7 != 0;
        s.bucket = 1 << (options % 20);
        all.emplace_back(model, s);
      }
    }
  }
  return all;
}

TEST(Combinations, MemoryReturnsToWhatIsResident) {
  for (const auto& [model, s] : combinations()) {
    for (const auto& [part, level] : play_memory(plan(model, s, reading::flop_counter()))) {
      EXPECT_EQ(level.end, 0) << part;
      EXPECT_GE(level.lowest, 0) << part;
    }
  }
}

TEST(Combinations, CanBePlayed) {
  // Streams play ops in program order; if every dependency within a step points backwards too, the op of least id
  // that has not been played can always be.
  for (const auto& [model, s] : combinations()) {
    const StepPlan p = plan(model, s, reading::flop_counter());
    const Program& program = reading::program(p);
    std::int64_t enders = 0;
    for (OpId id = 0; id < program.ops.size(); ++id) {
      const Op& op = program.ops[id];
      enders += op.ends_step ? 1 : 0;
      for (std::uint32_t i = 0; i < op.dependencies; ++i) {
        const Dependency& dependency = program.dependencies.at(op.first_dependency + i);
        ASSERT_LT(dependency.op, dependency.steps_back == 0 ? id : program.ops.size());
      }
    }
    EXPECT_EQ(enders, 1);
  }
}

TEST(Combinations, FlopAreThoseOfTheModel) {
  // Recomputation aside: 6 per parameter and token, attention 14 / 12 of the model's count (scores computed again).
  for (const auto& [model, s] : combinations()) {
    const StepPlan p = plan(model, s, reading::flop_counter());
    const TrainingFlops flops = training_flops(model);
    double chips = 1;
    for (const MeshAxis& axis : s.mesh) chips *= axis.extent;
    double expected = (flops.matmul_per_token + flops.attention_per_token * 14 / 12) * 512 / chips;
    if (model.attention != Attention::none && chips == 4 && s.mesh.size() == 1) {
      // Tensor 4 over 2 heads of keys and values: each chip holds one, so K and V are projected twice.
      expected += 6.0 * static_cast<double>(model.layers) * 2 * 64 * 2 * 8 * 512 / chips;
    }
    if (s.checkpoints == Checkpoints::none) {
      EXPECT_NEAR(p.executed_flops, expected, 1e-9 * expected);
    } else {
      EXPECT_GE(p.executed_flops, expected * (1 - 1e-9));
    }
  }
}

}  // namespace
}  // namespace stepsim
