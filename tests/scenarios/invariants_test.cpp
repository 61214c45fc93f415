// invariants_test.cpp: laws that hold for every scenario, on random small ones (40 seeds): time and bytes are
// conserved, nothing beats the hardware, scaling the links scales a step that only communicates, same input same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "scenarios/run.h"
#include "tests/scenarios/random_scenario.h"

namespace stepsim {
namespace {

using testing::random_scenario;

class RandomScenario : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  const Scenario scenario = random_scenario(GetParam());
};

TEST_P(RandomScenario, BreakdownSumsToTheStepExactly) {
  const RunResult result = run(scenario);
  std::uint64_t chips = 0;
  for (const ClassBreakdown& one : result.breakdown) {
    Picoseconds sum;
    for (const BreakdownPart& part : one.parts) sum += part.time;
    EXPECT_EQ(sum, result.step_time);
    chips += one.chips;
  }
  EXPECT_EQ(chips, result.assembly.cluster->chips());
}

TEST_P(RandomScenario, CriticalPathCoversTheStepWithoutGaps) {
  const RunResult result = run(scenario);
  Picoseconds now = result.timeline.window_start();
  for (const PathPiece& piece : result.critical_path) {
    EXPECT_EQ(piece.start, now);
    EXPECT_GT(piece.end, piece.start);
    EXPECT_LE(piece.contention, piece.end - piece.start);
    now = piece.end;
  }
  EXPECT_EQ(now, result.timeline.window_end());
}

/// Bytes that all members send in a step, by law: each member of an all-gather or reduce-scatter of V bytes over N
/// members receives N - 1 shards of ceil(V / N), twice that for an all-reduce, whatever the algorithm or shape (book,
/// "Sharding"; Patarasuk & Yuan 2009).
std::int64_t known_volume(const Assembly& assembly, const Strategy& strategy) {
  std::int64_t volume = 0;
  for (const CollectiveRequest& request : assembly.plan.collectives) {
    std::int64_t members = 1;
    for (const int axis : axis_indices(strategy, request.axes)) {
      members *= strategy.mesh[static_cast<std::size_t>(axis)].extent;
    }
    const std::int64_t shard = (request.bytes + members - 1) / members;
    const std::int64_t rounds = request.kind == CollectiveKind::all_reduce ? 2 : 1;
    volume += request.uses * rounds * (members - 1) * shard * assembly.cluster->chips();
  }
  return volume;
}

struct Sent {
  std::int64_t bytes = 0;
  std::int64_t over_links = 0;  // a transfer counts once per link of its route
};

/// What the plans of one step's collectives send, summed over all members.
Sent planned(const Assembly& assembly) {
  Sent sent;
  const StepProgram& program = assembly.plan.program;
  for (const Op& op : program.programs.front().ops) {
    if (op.kind != OpKind::collective) continue;
    const Collective& collective = program.collectives[op.collective];
    const Communicator& family = program.communicators[collective.communicator];
    for (ClassId who = 0; who < program.program_of.size(); ++who) {
      const TransferPlan& plan = program.plans[collective.plan(family.group_of[who])];
      const auto chips = static_cast<std::int64_t>(program.chips_of[who]);
      for (const Run& run : plan.roles[plan.role_of[family.rank_of[who]]].runs) {
        const RouteId route = program.route_tables[collective.routes][who * plan.ports + run.port];
        sent.bytes += run.bytes * run.count * chips;
        for (const Hop& hop : assembly.network.hops(route)) {
          sent.over_links += run.bytes * run.count * hop.count * assembly.links[hop.link].links;
        }
      }
    }
  }
  return sent;
}

TEST_P(RandomScenario, BytesOverLinksAreTheKnownVolume) {
  Scenario one = scenario;
  one.run.exact_steps = 6;  // the last but one is steady; gathers of updated weights may follow a step's end
  const RunResult result = run(one);
  const Sent sent = planned(result.assembly);
  EXPECT_EQ(sent.bytes, known_volume(result.assembly, scenario.strategy));
  if (!result.timeline.periodic) GTEST_SKIP() << "contention makes steps differ in turn";
  std::int64_t carried = 0;
  for (LinkId link = 0; link < result.assembly.links.size(); ++link) {
    const auto& totals = result.timeline.links_at_end;
    carried += (totals[4][link].bytes - totals[3][link].bytes) * result.assembly.links[link].links;
  }
  EXPECT_EQ(carried, sent.over_links);
}

TEST_P(RandomScenario, NoStepBeatsPeakFlopsOrLinks) {
  const RunResult result = run(scenario);
  const double step = to_seconds(result.step_time);
  EXPECT_GE(step, result.assembly.plan.executed_flops / scenario.cluster.chip.flops.at("bf16"));
  EXPECT_LE(result.mfu, 1.0);
  for (const LinkClassUse& use : result.links) {
    EXPECT_LE(use.busiest, 1.0);
    EXPECT_LE(static_cast<double>(use.bytes), use.capacity * step * static_cast<double>(use.links) * (1 + 1e-9));
  }
}

TEST_P(RandomScenario, SameInputSameTimesWhateverTheOrderWithinAPhase) {
  Scenario shuffled = scenario;
  shuffled.run.shuffle_seed = GetParam() + 1;
  const Timeline a = run(scenario).timeline;
  const Timeline b = run(shuffled).timeline;
  ASSERT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.step_end, b.step_end);
  ASSERT_EQ(a.times.size(), b.times.size());
  for (std::uint32_t s = 0; s < a.steps - a.first_kept; ++s) {
    const auto same = [](const OpTimes& x, const OpTimes& y) { return x.start == y.start && x.end == y.end; };
    EXPECT_TRUE(std::equal(a.times[s].begin(), a.times[s].end(), b.times[s].begin(), b.times[s].end(), same));
  }
  for (std::size_t i = 0; i < a.peak.size(); ++i) EXPECT_EQ(a.peak[i].by_part, b.peak[i].by_part);
}

/// The same links with twice the capacity and half the latency.
Network twice_as_fast(const Network& network) {
  Network fast;
  for (LinkId link = 0; link < network.links(); ++link) {
    fast.add_link(2 * network.capacity(link), Picoseconds(network.latency(link).count() / 2));
  }
  for (RouteId route = 0; route < network.routes(); ++route) {
    fast.add_route(network.hops(route), Picoseconds(network.route_latency(route).count() / 2));
  }
  return fast;
}

/// Transfers that can follow each other in a step: a picosecond of rounding for each.
std::int64_t longest_chain(const StepProgram& program) {
  std::int64_t sum = 0;
  for (const Op& op : program.programs.front().ops) {
    if (op.kind != OpKind::collective) continue;
    const TransferPlan& plan = program.plans[program.collectives[op.collective].plan(0)];
    for (const Run& run : plan.roles.front().runs) sum += run.count;
  }
  return sum;
}

TEST_P(RandomScenario, TwiceTheLinksHalveAStepThatOnlyCommunicates) {
  Scenario even = scenario;
  even.cluster.chip.link_latency = Picoseconds(scenario.cluster.chip.link_latency.count() / 2 * 2);
  Assembly assembly = assemble(even);
  for (Op& op : assembly.plan.program.programs.front().ops) op.work = Picoseconds(0);
  RunOptions options;
  options.exact_steps = 2;
  const Timeline slow = simulate(assembly.plan.program, assembly.network, options);
  const Timeline fast = simulate(assembly.plan.program, twice_as_fast(assembly.network), options);
  const std::int64_t rounding = 2 * longest_chain(assembly.plan.program) + 2;
  EXPECT_NEAR(static_cast<double>(slow.step_end.back().count()),
              2.0 * static_cast<double>(fast.step_end.back().count()), static_cast<double>(2 * rounding));
}

TEST_P(RandomScenario, MemoryReturnsToWhereItWas) {
  Scenario longer = scenario;
  longer.run.exact_steps = 4;
  Scenario shorter = scenario;
  shorter.run.exact_steps = 3;
  EXPECT_EQ(run(longer).memory.peak, run(shorter).memory.peak);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomScenario, ::testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace stepsim
