// validation_test.cpp: measured collectives against what the catalog's systems predict: all rows of the table from 64 KiB
// up (sources in the table, row by row; what was calibrated is said in each system's file).
#include <gtest/gtest.h>

#include <cmath>

#include "scenarios/catalog.h"
#include "scenarios/measured.h"
#include "scenarios/system.h"
#include "scenarios/yaml_tree.h"

namespace stepsim {
namespace {

/// The rows that are judged. Thousands of ranks take minutes: they are among the Long ones.
std::vector<MeasuredRow> rows(bool large) {
  const std::string file = std::string(STEPSIM_SOURCE_DIR) + "/tests/scenarios/data/collectives_measured.csv";
  std::vector<MeasuredRow> all;
  for (const MeasuredRow& row : read_measured(read_text(file), file)) {
    const bool judged = row.bytes == 0 || row.bytes >= 64 * 1024;
    if (judged && (row.ranks > 1024) == large) all.push_back(row);
  }
  return all;
}

void expect_within_aims(const std::vector<Comparison>& compared, std::size_t at_least) {
  const ComparisonSummary summary = summarize(compared);
  EXPECT_GE(summary.run, at_least);
  EXPECT_LE(summary.median, 0.10);
  EXPECT_LE(summary.worst, 0.25);
  for (const Comparison& one : compared) {
    if (one.skipped.empty()) {
      EXPECT_LE(std::abs(one.error), 0.25) << one.row.id << " on " << one.system << ": " << one.predicted << " s";
    }
  }
}

TEST(Validation, MeasuredCollectivesAreMet) {
  expect_within_aims(compare_with_measured(rows(false), default_catalog()), 120);
}

class Validation : public ::testing::TestWithParam<std::string> {};
TEST_P(Validation, OfThousandsOfRanksIsMet) {
  expect_within_aims(compare_with_measured(rows(true), default_catalog(), GetParam()), 9);
}
INSTANTIATE_TEST_SUITE_P(Long, Validation, ::testing::Values("h100-scan"));

// Two sources (NVIDIA/nccl-tests issue 178; microsoft/vidur profiles of paired A100): 195 to 208 GB/s of bus bandwidth in
// a pair, 20 to 24 GB/s as soon as the ring leaves it. Nothing in the system is calibrated; NCCL's rate of 240 GB/s is what
// twelve links give before any protocol.
TEST(Validation, LeavingAnNVLinkPairCostsATenth) {
  const auto bus_rate = [](const std::vector<std::string>& set) {
    const Scenario scenario = load_system("a100-pairs", set, default_catalog());
    return CollectiveRun(scenario, {CollectiveKind::all_reduce, {}, "ring"}).play(Bytes{1} << 30).bus_rate;
  };
  const double pair = bus_rate({"cluster.devices_per_switch=[2]"});
  const double four = bus_rate({});
  EXPECT_NEAR(pair, 200e9, 0.25 * 200e9);
  EXPECT_GE(four, 20e9);
  EXPECT_LE(four, 24.1e9);
  EXPECT_GE(pair / four, 195.0 / 24);
}

}  // namespace
}  // namespace stepsim
