// fold_random_test.cpp: folded = every chip on random small clusters, strategies, placements and faults. A seed names its
// case; what is drawn is printed when it fails.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/scenarios/fold_results.h"
#include "tests/scenarios/random_scenario.h"

namespace stepsim::testing {
namespace {

/// Closed, open and odd tori, slices with even and uneven hosts, hosts with devices.
ClusterSpec random_cluster(Draw& draw) {
  ClusterSpec cluster = small_cluster(draw);
  if (cluster.kind == "pcie") {
    cluster.devices = draw.of<int>({4, 6, 8});
    cluster.devices_per_switch = {cluster.devices - 3, 2, 1};
    if (draw.below(2) == 0) cluster.devices_per_switch = {cluster.devices / 2, cluster.devices / 2};
    cluster.root_complexes = draw.of<int>({1, 2});
    return cluster;
  }
  cluster.shape = draw.of<std::vector<int>>(
      {{4, 4, 1}, {8, 1, 1}, {2, 2, 3}, {3, 4, 1}, {5, 2, 2}, {6, 4, 1}, {4, 2, 4}, {2, 8, 1}, {4, 4, 4}, {3, 3, 4}});
  cluster.slices = std::accumulate(cluster.shape.begin(), cluster.shape.end(), 0) < 8 ? draw.of<int>({1, 2, 3, 4}) : 1;
  for (int axis = 0; axis < 3; ++axis) cluster.wraps.push_back(draw.below(3) > 0);
  return cluster;
}

std::vector<int> any_chip(Draw& draw, const Cluster& cluster) {
  return cluster.coordinates(static_cast<ChipId>(draw.below(cluster.chips())));
}

bool can_be_built(const ClusterSpec& spec) {
  try {
    build(spec);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Up to three faults; those that the cluster cannot have (past an open end, cut off) are left out again.
void add_faults(Draw& draw, ClusterSpec& spec) {
  const Cluster cluster = build(spec);
  const std::vector<std::string> ports =
      spec.kind == "pcie" ? std::vector<std::string>{"pcie up", "pcie down"}
                          : std::vector<std::string>{"x+", "x-", "y+", "y-", "z+", "dcn up", "pcie down"};
  for (std::int64_t i = draw.below(4); i > 0; --i) {
    ClusterSpec worse = spec;
    const std::vector<int> at = any_chip(draw, cluster);
    if (draw.below(2) == 0) {
      worse.chip_faults.push_back({at, draw.of<std::uint32_t>({11, 13, 20}), 10});
    } else {
      const bool down = draw.below(3) == 0;
      worse.link_faults.push_back({at, draw.of(ports), down || draw.below(2) == 0, 1, down ? 1U : 3U, down});
    }
    if (can_be_built(worse)) spec = worse;
  }
}

/// One of the ways to lay the mesh, as the scenario writes it down.
std::vector<std::vector<std::string>> any_placement(Draw& draw, const Cluster& cluster, const Strategy& strategy) {
  const std::vector<Placement> all = placements(cluster, strategy.mesh, 200);
  std::vector<std::vector<std::string>> terms;
  for (const std::vector<AxisDigit>& digits : draw.of(all).digits) {
    terms.emplace_back();
    for (const AxisDigit& digit : digits) {
      terms.back().push_back(cluster.axes()[static_cast<std::size_t>(digit.hardware_axis)].name + ":" +
                             std::to_string(digit.extent) + "@" + std::to_string(digit.stride));
    }
  }
  return terms;
}

Scenario any_scenario(std::uint64_t seed) {
  Draw draw(seed);
  Scenario scenario = random_scenario(seed + 1'000'000);
  scenario.cluster = random_cluster(draw);
  const Cluster cluster = build(scenario.cluster);
  const auto chips = static_cast<int>(cluster.chips());
  do {
    scenario.strategy = small_strategy(draw, chips);
  } while (degrees(scenario.strategy).batch() * degrees(scenario.strategy).tensor != chips);
  if (draw.below(2) == 0) scenario.placement = any_placement(draw, cluster, scenario.strategy);
  if (draw.below(4) == 0) scenario.run.latency_model = LatencyModel::max;
  if (draw.below(4) == 0) scenario.run.shuffle_seed = seed;
  scenario.run.max_steps = 5;
  add_faults(draw, scenario.cluster);
  return scenario;
}

std::string described(const Scenario& scenario) {
  std::string text = scenario.cluster.kind + " of";
  for (const int extent : scenario.cluster.shape) text += " " + std::to_string(extent);
  for (const bool wraps : scenario.cluster.wraps) text += wraps ? " closed" : " open";
  text += ", slices " + std::to_string(scenario.cluster.slices) + ", mesh";
  for (const MeshAxis& axis : scenario.strategy.mesh) text += " " + axis.name + " " + std::to_string(axis.extent);
  for (const auto& terms : scenario.placement) {
    text += " [";
    for (const std::string& term : terms) text += " " + term;
    text += " ]";
  }
  return text + ", faults " + std::to_string(scenario.cluster.chip_faults.size()) + " + " +
         std::to_string(scenario.cluster.link_faults.size());
}

class RandomFold : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFold, IsEveryChipToThePicosecond) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    Scenario scenario = any_scenario(10 * GetParam() + i);
    SCOPED_TRACE("seed " + std::to_string(10 * GetParam() + i) + ": " + described(scenario));
    const RunResult folded = run(scenario);
    scenario.fold = false;
    const RunResult whole = run(scenario);
    const Assembly& assembly = folded.assembly;
    const Traffic happens = traffic(*assembly.cluster, assembly.communication);
    EXPECT_EQ(why_not_symmetric(*assembly.cluster, happens, *assembly.symmetry), "");
    EXPECT_EQ(different_results(folded, whole), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFold, ::testing::Range<std::uint64_t>(1, 16));
INSTANTIATE_TEST_SUITE_P(Long, RandomFold, ::testing::Range<std::uint64_t>(16, 216));

}  // namespace
}  // namespace stepsim::testing
