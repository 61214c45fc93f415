// Pipelines on a cluster: where messages do not meet, every action of every rank starts and ends as on the abstract clock
// (arXiv 2401.10241's timing rule, schedules/pipeline/clock.h), which is held against published times elsewhere.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/run.h"
#include "schedules/action_costs.h"
#include "schedules/pipeline/clock.h"
#include "schedules/shapes.h"
#include "schedules/stages.h"
#include "tests/scenarios/fold_matrix.h"

namespace stepsim {
namespace {

using testing::FoldCase;

/// Layers of nothing but matmuls, with activations that are small beside the weights.
FoldCase stack(int p, int layers, int m, const std::string& pipeline, const std::string& more = "zero: 0") {
  const std::string ranks = std::to_string(p);
  return {"pipeline",
          "{system: tpu-v5p, slice: v5p-4x4x" + ranks + "}",
          "{mesh: {data: 16, pipeline: " + ranks +
              "}, placement: {data: [x, y], pipeline: z}, batch: " + std::to_string(16 * m) +
              " Ki tokens, microbatches: " + std::to_string(m) + ", " + more + ", pipeline: {" + pipeline + "}}",
          0,
          {"model={base: book-mlp, layers: " + std::to_string(layers) + ", d_model: 64, d_ff: 65536}"}};
}

/// Start of the first and end of the last compute op of the first step before the optimizer, per rank of the pipeline.
std::map<std::uint32_t, PlayedAction> spans(const Assembly& assembly, const Timeline& timeline) {
  std::map<std::uint32_t, PlayedAction> all;
  const StepProgram& program = assembly.plan.program;
  for (ClassId who = 0; who < timeline.classes; ++who) {
    PlayedAction& span = all.try_emplace(program.program_of[who], PlayedAction{INT64_MAX, 0}).first->second;
    const Program& own = program.run_by(who);
    for (OpId id = 0; id < own.ops.size(); ++id) {
      if (own.ops[id].kind != OpKind::compute || program.names[own.ops[id].tag.phase] == "optimizer") continue;
      span.start = std::min(span.start, timeline.at(0, who, id).start.count());
      span.end = std::max(span.end, timeline.at(0, who, id).end.count());
    }
  }
  return all;
}

struct PlayedPipeline {
  std::string schedule;
  int p = 4;
  int v = 1;
  int m = 8;
};

class PipelineOnACluster : public ::testing::TestWithParam<PlayedPipeline> {};

TEST_P(PipelineOnACluster, PlaysAsTheAbstractClock) {
  const PlayedPipeline& one = GetParam();
  const std::string keys = "schedule: " + one.schedule + ", stages_per_rank: " + std::to_string(one.v);
  Scenario scenario = testing::scenario_of(stack(one.p, one.p * one.v * 2, one.m, keys));
  scenario.run.exact_steps = 1;
  const Assembly assembly = assemble(scenario);
  const Timeline timeline = simulate(assembly.plan.program, assembly.network, scenario.run);

  const PipelineSizes sizes = pipeline_sizes(scenario.model, scenario.strategy, scenario.cluster.chip);
  ActionCosts costs = sizes.costs;
  // One neighbour away: 1024 tokens x 64 x 2 bytes at 90 GB/s, and the link's latency.
  costs.send = streaming_time(1024 * 64 * 2, 90'000'000'000).count() + 1'000'000;
  // Nothing communicates inside these actions: the parts of a fused pair are played one after the other.
  const PlayedOrder played = play(assembly.plan.order, {costs, FusedPairs::serial});
  const auto found = spans(assembly, timeline);
  ASSERT_EQ(found.size(), played.ranks.size());
  for (const auto& [rank, span] : found) {
    EXPECT_EQ(span.start, played.ranks[rank].start) << "rank " << rank;
    EXPECT_EQ(span.end, played.ranks[rank].end) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, PipelineOnACluster,
    ::testing::Values(PlayedPipeline{"gpipe"}, PlayedPipeline{"1f1b"}, PlayedPipeline{"interleaved_1f1b", 4, 2},
                      PlayedPipeline{"looped_bfs", 4, 3, 6}, PlayedPipeline{"zb_h1"}, PlayedPipeline{"zb_h2"},
                      PlayedPipeline{"zb_2p"}, PlayedPipeline{"torch_interleaved_zb", 4, 2},
                      PlayedPipeline{"torch_zbv", 4, 2}, PlayedPipeline{"zbv", 4, 2}, PlayedPipeline{"v_half", 4, 2},
                      PlayedPipeline{"v_1f1b", 4, 2}, PlayedPipeline{"chimera", 4, 2}, PlayedPipeline{"dualpipe", 4, 2},
                      PlayedPipeline{"dualpipev", 4, 2}, PlayedPipeline{"megatron_interleaved_overlap", 4, 2}),
    [](const auto& info) { return "s" + info.param.schedule; });

Bytes message(const Scenario& scenario) {
  return tokens_per_chip(scenario.strategy) * scenario.model.d_model * scenario.strategy.activation_bytes;
}

/// Actions as blocks and op by op: the same times on every rank. A message that arrives in the middle of a block adds to its
/// peak, whenever in the block that is, so a block's peak may be higher by the messages that are there at once.
class PipelineBlocks : public ::testing::TestWithParam<std::string> {};

TEST_P(PipelineBlocks, AreTheirOps) {
  for (const char* model :
       {"model={base: book-mlp, layers: 16, d_model: 1024, d_ff: 4096}", "model={base: llama3-8b, layers: 16}",
        "model={base: llama3-8b, layers: 16, tied_embeddings: true}"}) {
    for (const char* more : {"zero: 0", "zero: 1, checkpoints: full", "zero: 0, checkpoints: 2 per layer"}) {
      SCOPED_TRACE(std::string(model) + " " + more);
      FoldCase one = stack(4, 16, 12, GetParam(), more);
      one.parallelism.insert(one.parallelism.size() - 1, ", sequence_length: 1024");
      one.more = {model};
      Scenario scenario = testing::scenario_of(one);
      const RunResult blocks = run(scenario);
      scenario.strategy.pipeline.blocks = false;
      const RunResult ops = run(scenario);
      EXPECT_EQ(blocks.step_time.count(), ops.step_time.count());
      ASSERT_EQ(blocks.timeline.peak.size(), ops.timeline.peak.size());
      for (ClassId who = 0; who < ops.timeline.classes; ++who) {
        EXPECT_GE(blocks.timeline.peak[who].bytes, ops.timeline.peak[who].bytes) << "class " << who;
        EXPECT_LE(blocks.timeline.peak[who].bytes, ops.timeline.peak[who].bytes + 2 * message(scenario))
            << "class " << who;
      }
      ASSERT_EQ(blocks.breakdown.size(), ops.breakdown.size());
      for (std::size_t i = 0; i < ops.breakdown.size(); ++i) {
        for (std::size_t part = 0; part < ops.breakdown[i].parts.size(); ++part) {
          EXPECT_EQ(blocks.breakdown[i].parts[part].name, ops.breakdown[i].parts[part].name);
          EXPECT_EQ(blocks.breakdown[i].parts[part].time, ops.breakdown[i].parts[part].time)
              << ops.breakdown[i].parts[part].name;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipelineBlocks,
                         ::testing::Values("schedule: 1f1b", "schedule: gpipe",
                                           "schedule: interleaved_1f1b, stages_per_rank: 2", "schedule: zb_h2",
                                           "schedule: zbv", "schedule: v_min", "schedule: dualpipev",
                                           "schedule: chimera", "schedule: looped_bfs, stages_per_rank: 4"));

/// Where a schedule's paired sends wait in a circle is said when the scenario is read, and only there: what is read plays to
/// its end.
TEST(PairedSends, AreRefusedExactlyWhereTheyDeadlock) {
  int refused = 0;
  int played = 0;
  for (const std::string& name : pipeline_families().names()) {
    for (const int m : {8, 16}) {
      SCOPED_TRACE(name + " " + std::to_string(m));
      Scenario scenario = testing::scenario_of(stack(4, 8, m, "schedule: 1f1b"));
      scenario.strategy.pipeline.schedule = name;
      scenario.strategy.pipeline.stages_per_rank = 0;
      if (stages_per_rank(scenario.strategy) == 1) scenario.strategy.pipeline.stages_per_rank = 2;
      if (pipeline_families().find(name)->stages_per_rank == 1) scenario.strategy.pipeline.stages_per_rank = 1;
      scenario.strategy.pipeline.sends = Sends::paired;
      scenario.run.exact_steps = 1;
      try {
        const Assembly assembly = assemble(scenario);
        EXPECT_NO_THROW((void)simulate(assembly.plan.program, assembly.network, scenario.run));
        ++played;
      } catch (const InputError& error) {
        EXPECT_EQ(error.problems().front().key, "parallelism.pipeline.sends") << error.what();
        EXPECT_NE(error.problems().front().message.find("paired: deadlock: rank"), std::string::npos);
        ++refused;
      }
    }
  }
  EXPECT_GT(played, 10);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace stepsim
