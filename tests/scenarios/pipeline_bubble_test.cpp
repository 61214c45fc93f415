// Bubbles of pipelines on a cluster, where messages are small, against closed forms: Narayanan et al., arXiv 2104.04473,
// section 2.2 (GPipe and 1F1B (p - 1) / m of the ideal time, interleaved a v-th of it), Qi et al., arXiv 2401.10241, section
// 2.3 (ZB-H1: (p - 1) (F + I - W)), Sun et al., arXiv 2406.03488 (Seq1F1B: a k-th of 1F1B's). The stack is matmuls alone, so
// F = I = W.
#include <gtest/gtest.h>

#include "scenarios/run.h"
#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

struct Bubble {
  std::string name;
  std::string keys;  // of parallelism.pipeline
  int stages_per_rank = 1;
  double parts = 1;     // into which the schedule cuts the bubble of 1F1B
  double of_parts = 1;  // of the bubble of 1F1B that is left: (F + I - W) / (F + I + W)
};

class PipelineBubble : public ::testing::TestWithParam<std::tuple<Bubble, int, int>> {};

/// Layers of 64 x 65536 on fast links: what a message takes is a hundred-thousandth of what a stage computes.
RunResult run_stack(const Bubble& one, int p, int m) {
  return run(load_text("cluster: {system: h100-superpod, switch_rate: 100 TB/s, gpus: " + std::to_string(p) +
                       ", nics: " + std::to_string(p) + "}\n" +
                       "model: {base: book-mlp, layers: " + std::to_string(p * one.stages_per_rank) +
                       ", d_model: 64, d_ff: 65536}\n" + "parallelism: {mesh: {pipeline: " + std::to_string(p) +
                       "}, zero: 0, sequence_length: 1024, batch: " + std::to_string(64 * m) +
                       " Ki tokens, microbatches: " + std::to_string(m) + ", pipeline: {stages_per_rank: " +
                       std::to_string(one.stages_per_rank) + ", " + one.keys + "}}\n" + "allow_oom: true\n"));
}

TEST_P(PipelineBubble, IsTheClosedForm) {
  const auto& [one, p, m] = GetParam();
  const RunResult result = run_stack(one, p, m);
  const double of_ideal = (p - 1.0) / m / one.parts * one.of_parts;
  const double share = of_ideal / (1 + of_ideal);
  std::uint64_t chips = 0;
  for (const ClassBreakdown& rank : result.breakdown) {
    chips += rank.chips;
    Picoseconds bubble;
    for (const BreakdownPart& part : rank.parts) {
      if (part.name.starts_with("bubble.")) bubble += part.time;
    }
    EXPECT_NEAR(to_seconds(bubble) / to_seconds(result.step_time), share, 0.001 * share) << "class " << rank.who;
  }
  EXPECT_EQ(chips, static_cast<std::uint64_t>(p));
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, PipelineBubble,
    ::testing::Combine(::testing::Values(Bubble{"gpipe", "schedule: gpipe"}, Bubble{"f1b1", "schedule: 1f1b"},
                                         Bubble{"interleaved2", "schedule: interleaved_1f1b", 2, 2},
                                         Bubble{"interleaved4", "schedule: interleaved_1f1b", 4, 4},
                                         Bubble{"looped_bfs", "schedule: looped_bfs", 2, 2},
                                         Bubble{"seq1f1b", "schedule: seq1f1b, segments: 4", 1, 4},
                                         Bubble{"zb_h1", "schedule: zb_h1", 1, 1, 1.0 / 3},
                                         Bubble{"torch_zb1p", "schedule: torch_interleaved_zb", 2, 2, 1.0 / 3}),
                       ::testing::Values(4, 8), ::testing::Values(8, 32)),
    [](const auto& info) {
      return std::get<0>(info.param).name + "_p" + std::to_string(std::get<1>(info.param)) + "_m" +
             std::to_string(std::get<2>(info.param));
    });

}  // namespace
}  // namespace stepsim
