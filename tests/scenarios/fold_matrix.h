// fold_matrix.h: a step played twice, one chip of each class and every chip, and held equal: what the matrices of
// topologies x strategies x collectives x faults have in common.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/catalog.h"
#include "tests/scenarios/fold_results.h"

namespace stepsim::testing {

struct FoldCase {
  std::string name;
  std::string cluster;
  std::string parallelism;
  std::uint32_t classes = 0;
  std::vector<std::string> more = {};  // further overrides
};

inline void PrintTo(const FoldCase& one, std::ostream* out) {
  *out << one.name;
}

/// How to play the case again, on scenarios/examples/mlp-v5p-4x4x4-dp.yaml.
inline std::string overrides_of(const FoldCase& one) {
  std::string all = "--set 'cluster=" + one.cluster + "' --set 'parallelism=" + one.parallelism + "'";
  for (const std::string& more : one.more) all += " --set '" + more + "'";
  return all;
}

inline Scenario scenario_of(const FoldCase& one) {
  std::vector<std::string> overrides{
      "cluster=" + one.cluster, "parallelism=" + one.parallelism,
      "collectives=",           "expect=",
      "allow_oom=true",         "model={base: book-mlp, layers: 2, d_model: 1024, d_ff: 4096}"};
  overrides.insert(overrides.end(), one.more.begin(), one.more.end());
  return load(STEPSIM_SOURCE_DIR "/scenarios/examples/mlp-v5p-4x4x4-dp.yaml", overrides, default_catalog());
}

/// Another engine than AloneTimes for the share of contention: each group of chips played by itself as it stands.
inline void expect_contention_against_the_group_alone(const Scenario& scenario, const RunResult& folded,
                                                      const RunResult& whole) {
  const std::vector<PathPiece> path =
      critical_path(whole.assembly.plan.program, whole.assembly.network, whole.timeline, scenario.run);
  ASSERT_EQ(path.size(), folded.critical_path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_EQ(text(path[i].contention), text(folded.critical_path[i].contention)) << "piece " << i;
  }
}

/// Every op of every chip in every step starts, drains and ends at the same picosecond, and what is reported of them is
/// the same.
inline void expect_folded_is_every_chip(const FoldCase& one_case) {
  SCOPED_TRACE(overrides_of(one_case));
  Scenario one = scenario_of(one_case);
  const RunResult folded = run(one);
  one.fold = false;
  const RunResult whole = run(one);
  const Cluster& cluster = *folded.assembly.cluster;
  const Symmetry& symmetry = *folded.assembly.symmetry;
  EXPECT_EQ(whole.assembly.symmetry->classes(), cluster.chips());
  EXPECT_EQ(why_not_symmetric(cluster, traffic(cluster, folded.assembly.communication), symmetry), "");
  EXPECT_EQ(different_results(folded, whole), "");
  expect_contention_against_the_group_alone(one, folded, whole);
  if (one_case.classes > 0) {
    EXPECT_EQ(symmetry.classes(), one_case.classes);
  }
  ::testing::Test::RecordProperty("classes", static_cast<int>(symmetry.classes()));
  ::testing::Test::RecordProperty("chips", static_cast<int>(cluster.chips()));
}

inline std::string fold_case_name(const ::testing::TestParamInfo<FoldCase>& info) {
  return info.param.name;
}

inline const std::string llama =
    "model={base: llama3-8b, layers: 2, d_model: 1024, d_ff: 3584, heads: 16, kv_heads: 8, head_dim: 64, "
    "vocabulary: 2048, sequence: 256}";
inline const std::string max_latency = "simulation.latency_model=max";

inline std::string mesh(const std::string& axes, const std::string& more = "") {
  return "{mesh: {" + axes + "}, batch_per_chip: 1024 tokens" + (more.empty() ? "" : ", " + more) + "}";
}

inline std::string faults(const std::string& text) {
  return "faults={" + text + "}";
}

}  // namespace stepsim::testing
