// collective_run_test.cpp: `stepsim collective` in numbers from elsewhere: closed forms of rings, nccl-tests' factors.
#include "scenarios/collective_run.h"

#include <gtest/gtest.h>

#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

// A closed ring of 8 v5p chips: 90 GB/s one way, 1 us a hop.
Scenario ring_of_8() {
  return load_text(
      "cluster: {system: tpu-v5p, shape: [8, 1, 1], wraps: [true, false, false]}\n"
      "model: book-mlp\n"
      "parallelism: {mesh: {fsdp: 4, tensor: 2}, batch: 64Ki tokens, placement: {fsdp: 'x:4@2', tensor: 'x:2'}}\n");
}

constexpr Bytes whole = 8 * 1'440'000;  // a shard takes 16 us one way, 8 us as two halves

TEST(CollectiveRun, AllReduceOnARingTakesTwiceSevenSteps) {
  const Scenario scenario = ring_of_8();
  const CollectiveRun run(scenario, {CollectiveKind::all_reduce, {}, ""});
  EXPECT_EQ(run.members(), 8U);
  EXPECT_EQ(run.groups(), 1U);
  const CollectiveResult result = run.play(whole);
  // Patarasuk & Yuan 2009, both ways at once: 2 (N-1) (latency + V / 2 N w).
  EXPECT_EQ(result.time, Picoseconds(14 * (1'000'000 + 8'000'000)));
  EXPECT_NEAR(result.bound, 126e-6, 1e-15);
  EXPECT_NEAR(result.algorithm_rate, static_cast<double>(whole) / 126e-6, 1);
  EXPECT_NEAR(result.bus_rate / result.algorithm_rate, 2.0 * 7 / 8, 1e-12);  // nccl-tests, PERFORMANCE.md
  EXPECT_TRUE(result.fullest.starts_with("ici x")) << result.fullest;
  EXPECT_NEAR(result.fullest_share, 14 * 8.0 / 126, 1e-9);
}

TEST(CollectiveRun, AllToAllIsAQuarterOfTheGather) {
  const Scenario scenario = ring_of_8();
  const CollectiveResult result = CollectiveRun(scenario, {CollectiveKind::all_to_all, {}, ""}).play(whole / 8);
  // V / 8w with V = 8 buffers, and 3 hops (antipodes end earlier): 16 us + 3 us.
  EXPECT_NEAR(static_cast<double>(result.time.count()), 19e6, 8);
  EXPECT_NEAR(result.bus_rate / result.algorithm_rate, 7.0 / 8, 1e-12);
}

// Interleaved rings of 4, two links a step: both groups' flows share every link.
TEST(CollectiveRun, GroupsAlongAnAxisPlayAtOnce) {
  const Scenario scenario = ring_of_8();
  const CollectiveRun run(scenario, {CollectiveKind::all_gather, {"fsdp"}, ""});
  EXPECT_EQ(run.members(), 4U);
  EXPECT_EQ(run.groups(), 2U);
  // Three steps of 2 us and half a shard of V/4 at half the rate.
  const Bytes bytes = 4 * 720'000;
  EXPECT_EQ(run.play(bytes).time, Picoseconds(3 * (2'000'000 + 8'000'000)));
}

TEST(CollectiveRun, UnknownAxesAlgorithmsAndKindsAreAnswered) {
  const Scenario scenario = ring_of_8();
  EXPECT_THROW(CollectiveRun(scenario, {CollectiveKind::all_reduce, {"pipeline"}, ""}), InputError);
  EXPECT_THROW(CollectiveRun(scenario, {CollectiveKind::all_reduce, {}, "trees"}).play(1), InputError);
  EXPECT_THROW(CollectiveRun(scenario, {CollectiveKind::all_reduce, {}, "direct"}).play(1), InputError);
  EXPECT_THROW(CollectiveRun(scenario, {CollectiveKind::point_to_point, {}, ""}).play(1), InputError);
}

TEST(CollectiveRun, FoldedIsEveryChip) {
  Scenario scenario = ring_of_8();
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    for (const std::vector<std::string>& axes : {std::vector<std::string>{}, {"fsdp"}, {"tensor"}}) {
      scenario.fold = true;
      const CollectiveResult folded = CollectiveRun(scenario, {kind, axes, ""}).play(whole);
      scenario.fold = false;
      const CollectiveResult every = CollectiveRun(scenario, {kind, axes, ""}).play(whole);
      EXPECT_EQ(folded.time, every.time);
      EXPECT_EQ(folded.fullest_share, every.fullest_share);
    }
  }
}

// The same for algorithms that leave the axes: moves by words, or sends listed one by one.
TEST(CollectiveRun, FoldedIsEveryChipOffTheAxesToo) {
  Scenario scenario = ring_of_8();
  const std::vector<std::pair<CollectiveKind, std::string>> choices{{CollectiveKind::all_reduce, "tree"},
                                                                    {CollectiveKind::all_reduce, "one-shot"},
                                                                    {CollectiveKind::all_reduce, "two-shot"},
                                                                    {CollectiveKind::all_gather, "recursive-doubling"},
                                                                    {CollectiveKind::all_reduce, "recursive-halving"},
                                                                    {CollectiveKind::all_gather, "bruck"},
                                                                    {CollectiveKind::all_to_all, "bruck"}};
  for (const auto& [kind, algorithm] : choices) {
    for (const std::vector<std::string>& axes : {std::vector<std::string>{}, {"fsdp"}, {"tensor"}}) {
      scenario.fold = true;
      const CollectiveResult folded = CollectiveRun(scenario, {kind, axes, algorithm}).play(whole);
      scenario.fold = false;
      const CollectiveResult every = CollectiveRun(scenario, {kind, axes, algorithm}).play(whole);
      EXPECT_EQ(folded.time, every.time) << algorithm;
      EXPECT_GE(to_seconds(folded.time) * (1 + 1e-9), folded.bound) << algorithm;
    }
  }
}

}  // namespace
}  // namespace stepsim
