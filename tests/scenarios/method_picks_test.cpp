// method_picks_test.cpp: the methods by which a run does its collectives. Expected: of all fixed choices none is faster by
// itself; what a run picks is what `stepsim collective` picks; costs stand in the step as the protocol says.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/catalog.h"
#include "scenarios/collective_run.h"

namespace stepsim::testing {
namespace {

RunResult run_with(const std::string& cluster, const std::string& parallelism, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"cluster=" + cluster, "parallelism=" + parallelism, "collectives=", "expect=",
                             "allow_oom=true", "model={base: book-mlp, layers: 2, d_model: 4096, d_ff: 16384}"});
  return run(load(STEPSIM_SOURCE_DIR "/scenarios/examples/mlp-v5p-4x4x4-dp.yaml", more, default_catalog()));
}

const std::string two_nodes =
    "{kind: nodes, chip: h100, gpus: 4, nodes: [2], switch_rate: 450 GB/s, nics: 4, nic_rate: 50 GB/s, nic_latency: 2 "
    "us, "
    "protocols: {LL: {launch: 5 us, network_hop: 2 us, share: 0.3}, Simple: {launch: 9 us, network_hop: 14 us}}}";
const std::string fsdp = "{mesh: {fsdp: 8}, batch_per_chip: 1024 tokens}";

std::vector<MethodUse> methods_of(const RunResult& result, const std::string& kind) {
  for (const CollectiveReport& one : result.collectives) {
    if (one.kind == kind) return one.methods;
  }
  return {};
}

TEST(MethodPicks, ArePickedAsASingleCollectiveIs) {
  const RunResult result = run_with(two_nodes, fsdp);
  Scenario scenario;  // the same cluster without a model, all GPUs one group
  scenario.cluster = result.assembly.cluster->spec();
  scenario.protocols =
      load(STEPSIM_SOURCE_DIR "/scenarios/examples/mlp-v5p-4x4x4-dp.yaml",
           {"cluster=" + two_nodes, "parallelism=" + fsdp, "collectives=", "expect=", "allow_oom=true"},
           default_catalog())
          .protocols;
  scenario.strategy.mesh = {{"fsdp", 8}};
  scenario.placement = {{"node", "device"}};
  for (const auto& [name, kind] : std::map<std::string, CollectiveKind>{
           {"all-gather", CollectiveKind::all_gather}, {"reduce-scatter", CollectiveKind::reduce_scatter}}) {
    const std::vector<MethodUse> uses = methods_of(result, name);
    ASSERT_FALSE(uses.empty()) << name;
    for (const MethodUse& use : uses) {
      const CollectiveResult best = CollectiveRun(scenario, {kind, {}, "auto"}).play(use.array);
      EXPECT_EQ(use.pick.method, best.method);
      ASSERT_GT(use.pick.tried.size(), 2U);
      EXPECT_EQ(use.pick.tried.front().time, best.time);
      for (const std::string& algorithm : collective_algorithms().names()) {
        try {
          EXPECT_LE(best.time, CollectiveRun(scenario, {kind, {}, algorithm}).play(use.array).time) << algorithm;
        } catch (const InputError&) {  // does not do it
        }
      }
    }
  }
}

TEST(MethodPicks, FollowWhatIsAskedFor) {
  for (const std::string algorithm : {"ring", "one-shot", "torus"}) {
    const RunResult result =
        run_with(two_nodes, fsdp, {"collectives.algorithm=" + algorithm, "collectives.protocol=LL"});
    for (const MethodUse& use : methods_of(result, "all-gather")) EXPECT_EQ(use.pick.method, algorithm + ", LL");
  }
}

TEST(MethodPicks, StayOnTheAxesOfATorus) {
  const RunResult result = run_with("{system: tpu-v5p, shape: [2, 2, 2]}", fsdp);
  for (const CollectiveReport& one : result.collectives) {
    ASSERT_EQ(one.methods.size(), 1U);
    EXPECT_EQ(one.methods[0].pick.method, "torus");
    EXPECT_TRUE(one.methods[0].pick.tried.empty()) << "there was no choice";
  }
}

// As placements, they are picked as if there were no faults.
TEST(MethodPicks, DoNotKnowOfFaults) {
  const RunResult healthy = run_with(two_nodes, fsdp);
  const RunResult faulty = run_with(two_nodes, fsdp, {"faults={links: [{at: [0, 1], port: nic up, capacity: 0.1}]}"});
  EXPECT_GT(faulty.step_time, healthy.step_time);
  EXPECT_EQ(*faulty.step_time_without_faults, healthy.step_time);
  const std::vector<MethodUse> a = methods_of(healthy, "all-gather");
  const std::vector<MethodUse> b = methods_of(faulty, "all-gather");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].pick.method, b[i].pick.method);
}

// Nothing hides a tensor collective: a launch that takes 10 us longer makes the step longer by 10 us for each.
TEST(MethodPicks, LaunchesStandInTheStep) {
  const std::string node = "{kind: nodes, chip: h100, gpus: 4, switch_rate: 450 GB/s, protocols: {one: {launch: ";
  const std::string tensor = "{mesh: {tensor: 4}, batch_per_chip: 1024 tokens}";
  const RunResult short_launch = run_with(node + "5 us}}}", tensor, {"collectives.algorithm=ring"});
  const RunResult long_launch = run_with(node + "15 us}}}", tensor, {"collectives.algorithm=ring"});
  std::uint32_t count = 0;
  Picoseconds exposed;
  for (const CollectiveReport& one : short_launch.collectives) {
    count += one.count;
    exposed = exposed + one.exposed;
  }
  for (const CollectiveReport& one : long_launch.collectives) exposed = exposed - one.exposed;
  ASSERT_GT(count, 4U);
  const Picoseconds longer = long_launch.step_time - short_launch.step_time;
  EXPECT_EQ(Picoseconds() - exposed, longer) << "it is exposed communication";
  EXPECT_LE(longer, Picoseconds(10'000'000) * count);
  EXPECT_GE(longer, Picoseconds(10'000'000) * (count - 1)) << "that of the last one may be hidden behind the optimizer";
}

}  // namespace
}  // namespace stepsim::testing
