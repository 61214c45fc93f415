// straggler_test.cpp: one chip of 512 that computes 1.1 times as long, on a slice of 8x8x8.
//
// What the slow chip computes more is E. Its compute stream is serial, so no step is shorter than all that it computes:
// with C the compute of the others and T the step of the healthy slice, the step grows by at least E - (T - C). Where no
// two flows meet on a link, ends are maxima of sums of durations (a max-plus system: Baccelli, Cohen, Olsder & Quadrat,
// "Synchronization and Linearity", 1992); a cycle through k steps passes each op of the slow chip at most k times, so
// the step grows by at most E. Where flows share links no such law holds: members out of step can make parts of a
// collective meet that never met before. The cases here are those in which communication is hidden, or does not meet.
#include <gtest/gtest.h>

#include "scenarios/catalog.h"
#include "tests/scenarios/fold_results.h"

namespace stepsim::testing {
namespace {

const std::string slow_chip = "faults={chips: [{at: [3, 0, 5], slowdown: 1.1}]}";

struct Plan {
  std::string name;
  std::string parallelism;
  bool hidden = true;  // is most of the communication?
};

void PrintTo(const Plan& plan, std::ostream* out) {
  *out << plan.name;
}

class Straggler : public ::testing::TestWithParam<Plan> {
 protected:
  static Scenario scenario(const std::vector<std::string>& more) {
    std::vector<std::string> overrides{"cluster={system: tpu-v5p, shape: [8, 8, 8]}",
                                       "model={base: book-mlp, layers: 2, d_model: 1024, d_ff: 4096}",
                                       "parallelism=" + GetParam().parallelism, "collectives=", "expect="};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return load(STEPSIM_SOURCE_DIR "/scenarios/examples/mlp-v5p-4x4x4-dp.yaml", overrides, default_catalog());
  }
};

bool is_compute(const std::string& part) {
  return part == "forward" || part == "recompute" || part == "optimizer" || part.rfind("backward", 0) == 0;
}

/// Sum of the parts of a row of the breakdown.
template <class Which>
Picoseconds sum(const ClassBreakdown& row, Which which) {
  Picoseconds all;
  for (const BreakdownPart& part : row.parts) {
    if (which(part.name)) all += part.time;
  }
  return all;
}

Picoseconds computing(const ClassBreakdown& row) {
  return sum(row, is_compute);
}

Picoseconds waiting(const ClassBreakdown& row) {
  return sum(row, [](const std::string& part) { return part == "straggler"; });
}

/// The row of the slow chip: it computes longer than any other, so it is alone in it.
const ClassBreakdown& slow_row(const RunResult& result) {
  const ChipId slow = result.assembly.cluster->chip_at(std::vector<int>{3, 0, 5});
  for (const ClassBreakdown& row : result.breakdown) {
    if (result.assembly.symmetry->first(row.who) == slow) return row;
  }
  throw std::logic_error("no row of the slow chip");
}

/// Each compute op takes ceil(1.1 times its work).
Picoseconds more_of_the_slow_chip(const StepProgram& program) {
  Picoseconds more;
  for (const Op& op : program.programs.front().ops) {
    if (op.kind == OpKind::compute) more += Picoseconds((op.work.count() * 11 + 9) / 10 - op.work.count());
  }
  return more;
}

TEST_P(Straggler, IsPlayedExactlyWhenFolded) {
  Scenario one = scenario({slow_chip});
  const RunResult folded = run(one);
  one.fold = false;
  EXPECT_EQ(different_results(folded, run(one)), "");
  EXPECT_EQ(folded.assembly.symmetry->classes(), 512U) << "used on all axes, no two chips are alike";
}

TEST_P(Straggler, CostsNoMoreThanItComputesLonger) {
  const RunResult healthy = run(scenario({}));
  const RunResult slowed = run(scenario({slow_chip}));
  ASSERT_EQ(healthy.assembly.symmetry->classes(), 1U);
  const Picoseconds extra = slowed.step_time - healthy.step_time;
  const Picoseconds longer = more_of_the_slow_chip(slowed.assembly.plan.program);
  const Picoseconds exposed = healthy.step_time - healthy.assembly.plan.compute_time;
  EXPECT_GE(extra, Picoseconds(0));
  EXPECT_GE(extra, longer - exposed) << "its own compute alone takes that long";
  EXPECT_LE(extra, longer);
  // 10 % of the compute, and a picosecond for each op that is rounded up.
  EXPECT_NEAR(static_cast<double>(longer.count()),
              0.1 * static_cast<double>(healthy.assembly.plan.compute_time.count()),
              static_cast<double>(slowed.assembly.plan.program.programs.front().ops.size()));
}

TEST_P(Straggler, IsWaitedForByTheOthers) {
  const RunResult slowed = run(scenario({slow_chip}));
  const Picoseconds nominal = slowed.assembly.plan.compute_time;
  const ClassBreakdown& slow = slow_row(slowed);
  EXPECT_EQ(slow.chips, 1U);
  EXPECT_EQ(text(computing(slow)), text(nominal + more_of_the_slow_chip(slowed.assembly.plan.program)));
  std::uint64_t chips = 0;
  for (const ClassBreakdown& row : slowed.breakdown) {
    EXPECT_EQ(text(sum(row, [](const std::string&) { return true; })), text(slowed.step_time));
    chips += row.chips;
    if (&row == &slow) continue;
    EXPECT_EQ(text(computing(row)), text(nominal)) << "nobody else computes longer";
    if (!GetParam().hidden) continue;  // in lock-step the far chips get its data last, and it waits for them in turn
    EXPECT_GT(waiting(row), waiting(slow)) << "chip " << slowed.assembly.symmetry->first(row.who);
  }
  EXPECT_EQ(chips, 512U);
}

INSTANTIATE_TEST_SUITE_P(
    In8x8x8, Straggler,
    ::testing::Values(Plan{"dp", "{mesh: {data: 512}, zero: 0, batch_per_chip: 16384 tokens}"},
                      Plan{"fsdp", "{mesh: {fsdp: 512}, batch_per_chip: 16384 tokens}"},
                      Plan{"dp_tensor",
                           "{mesh: {data: 64, tensor: 8}, zero: 0, batch_per_chip: 1024 tokens, placement: "
                           "{data: [x, y], tensor: z}}",
                           false}),
    [](const auto& info) { return info.param.name; });

/// With all communication hidden, nothing but the slow chip's own compute decides: it waits for nobody, and the step is
/// just that.
TEST(StragglerWhereAllIsHidden, IsTheStep) {
  const Scenario one = load(
      STEPSIM_SOURCE_DIR "/scenarios/examples/mlp-v5p-4x4x4-dp.yaml",
      {"cluster={system: tpu-v5p, shape: [8, 8, 8]}", "model={base: book-mlp, layers: 2, d_model: 1024, d_ff: 4096}",
       "parallelism={mesh: {data: 512}, zero: 0, batch_per_chip: 16384 tokens}", "collectives=", "expect=", slow_chip},
      default_catalog());
  const RunResult slowed = run(one);
  const StepProgram& program = slowed.assembly.plan.program;
  EXPECT_EQ(text(slowed.step_time), text(slowed.assembly.plan.compute_time + more_of_the_slow_chip(program)));
  EXPECT_EQ(waiting(slow_row(slowed)), Picoseconds(0));
  for (const PathPiece& piece : slowed.critical_path) {
    EXPECT_EQ(slowed.assembly.symmetry->first(piece.who), slowed.assembly.cluster->chip_at(std::vector<int>{3, 0, 5}));
    EXPECT_EQ(program.run_by(piece.who).ops[piece.op].kind, OpKind::compute);
  }
}

}  // namespace
}  // namespace stepsim::testing
