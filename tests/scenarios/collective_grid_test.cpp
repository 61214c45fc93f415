// collective_grid_test.cpp: every algorithm on every small cluster that it covers, held against what must be true of any:
// folded is every chip; no chip sends or receives more than its links carry; halves exchange no more than the bisection;
// no algorithm beats its own bound; "auto" is one of the fixed choices, and none of them is faster.
#include "tests/scenarios/collective_grid.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace stepsim::testing {
namespace {

using enum CollectiveKind;

const std::vector<CollectiveKind> kinds{all_gather, reduce_scatter, all_reduce, all_to_all, point_to_point,
                                        broadcast,  reduce,         gather,     scatter,    barrier};
const std::vector<Bytes> sizes{1, 64 << 10, 16 << 20};

/// Bytes/s over all links out of, and into, each chip.
struct Injection {
  std::vector<double> out;
  std::vector<double> in;
};

Injection injection(const Cluster& cluster) {
  Injection all{std::vector<double>(cluster.chips(), 0), std::vector<double>(cluster.chips(), 0)};
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    if (link.down || link.from == link.to) continue;
    if (link.from < cluster.chips()) all.out[link.from] += static_cast<double>(link.capacity);
    if (link.to < cluster.chips()) all.in[link.to] += static_cast<double>(link.capacity);
  }
  return all;
}

/// What leaves and what enters the root (rank 0, chip 0) and any other chip, for an array of V bytes: the least by which
/// everyone can know what it must, whatever the algorithm, sums in the network included.
struct Crossing {
  double root_out = 0;
  double root_in = 0;
  double other_out = 0;
  double other_in = 0;
};

Crossing crossing(CollectiveKind kind, double array, double n) {
  const double shard = array / n;
  switch (kind) {
    case all_gather:  // its own shard is news to others, all other shards are news to it
      return {shard, array - shard, shard, array - shard};
    case reduce_scatter:
      return {array - shard, shard, array - shard, shard};
    case all_reduce:  // what it has changes every sum, and every sum is news to it
      return {array, array, array, array};
    case all_to_all:
      return {shard * (n - 1) / n, shard * (n - 1) / n, shard * (n - 1) / n, shard * (n - 1) / n};
    case broadcast:
      return {array, 0, 0, array};
    case reduce:
      return {0, array, array, 0};
    case gather:
      return {0, array - shard, shard, 0};
    case scatter:
      return {array - shard, 0, 0, shard};
    case point_to_point:
      return {array, 0, 0, 0};
    case barrier:
      break;
  }
  return {};
}

double injection_bound(const Injection& links, CollectiveKind kind, double array) {
  const auto n = static_cast<double>(links.out.size());
  const Crossing least = crossing(kind, array, n);
  double bound = 0;
  for (std::size_t chip = 0; chip < links.out.size(); ++chip) {
    bound = std::max(bound, (chip == 0 ? least.root_out : least.other_out) / links.out[chip]);
    bound = std::max(bound, (chip == 0 ? least.root_in : least.other_in) / links.in[chip]);
  }
  return bound;
}

/// Patarasuk & Yuan 2009: where only chips add, each element takes n-1 sends to sum up and n-1 to hand out, from chip to
/// chip; all of them leave over the links of all chips. Not so where switches add ("in-network").
double sums_on_chips_bound(const Injection& links, double array) {
  double out = 0;
  for (const double one : links.out) out += one;
  return 2 * (static_cast<double>(links.out.size()) - 1) * array / out;
}

/// Chips of the smaller half of the cut that Cluster::bisection takes: parts of the outermost axis where there are nodes.
double smaller_half(const Cluster& cluster) {
  if (cluster.spec().kind != "nodes") return cluster.chips() / 2;
  for (const HardwareAxis& axis : cluster.axes()) {
    if (axis.extent > 1) return static_cast<double>(axis.extent / 2) * cluster.chips() / axis.extent;
  }
  return 0;
}

double bisection_bound(const Cluster& cluster, double array) {
  const double n = cluster.chips();
  const double half = smaller_half(cluster);
  return half * (n - half) * array / n / n / cluster.bisection();
}

/// Costs nothing and serves all; without it "auto" leaves out what no protocol of the system says it can ("in-network").
Protocol free_protocol(Bytes chunk) {
  Protocol free;
  free.name = "free";
  free.chunk = chunk;
  return free;
}

struct Asked {
  const Scenario* folded;
  const Scenario* every;
  const Cluster* cluster;
  CollectiveKind kind;
  std::string algorithm;
};

/// The results of one algorithm, by size; empty where it refuses.
std::vector<CollectiveResult> play_all(const Asked& asked) {
  std::vector<CollectiveResult> results;
  try {
    const CollectiveRun run(*asked.folded, {asked.kind, {}, asked.algorithm});
    for (const Bytes bytes : sizes) results.push_back(run.play(bytes));
  } catch (const InputError&) {
    EXPECT_TRUE(results.empty()) << "refuses at once or never";
    return {};
  }
  return results;
}

void hold_against_every_chip(const Asked& asked, const std::vector<CollectiveResult>& folded) {
  const CollectiveRun run(*asked.every, {asked.kind, {}, asked.algorithm});
  for (const CollectiveResult& one : folded) {
    const CollectiveResult every = run.play(one.bytes);
    EXPECT_EQ(every.time, one.time) << one.bytes << " bytes";
    EXPECT_EQ(every.fullest_share, one.fullest_share) << one.bytes << " bytes";
    EXPECT_LE(one.transfers, every.transfers);
  }
}

/// Halves of a shard differ by a byte. Where both ways of a ring share a link to a switch, its bound counts the larger one
/// twice: some picoseconds a step.
double own_slack(const Asked& asked) {
  return asked.algorithm == "torus" && asked.cluster->spec().kind == "nodes" ? 5e-5 : 0;
}

void hold_against_bounds(const Asked& asked, const std::vector<CollectiveResult>& results) {
  const Injection links = injection(*asked.cluster);
  for (const CollectiveResult& one : results) {
    const double time = to_seconds(one.time) * (1 + 1e-9) + 1e-12;
    const double array = static_cast<double>(one.bytes) * (asked.kind == all_to_all ? asked.cluster->chips() : 1);
    EXPECT_GE(time, injection_bound(links, asked.kind, array)) << one.bytes << " bytes";
    if (asked.kind == all_reduce && asked.algorithm != "in-network") {
      EXPECT_GE(time, sums_on_chips_bound(links, array)) << one.bytes << " bytes";
    }
    if (asked.kind == all_to_all) {
      EXPECT_GE(time, bisection_bound(*asked.cluster, array)) << one.bytes << " bytes";
    }
    EXPECT_GE(time * (1 + own_slack(asked)), one.bound) << one.bytes << " bytes, its own bound";
    EXPECT_LE(one.fullest_share, 1 + 1e-9) << "no link carries more than it can";
  }
}

void hold_auto_against_all(const Asked& asked, const std::map<std::string, std::vector<CollectiveResult>>& fixed) {
  const CollectiveRun run(*asked.folded, {asked.kind, {}, "auto"});
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    const CollectiveResult best = run.play(sizes[size]);
    const auto chosen = std::find_if(fixed.begin(), fixed.end(),
                                     [&](const auto& one) { return one.second[size].method == best.method; });
    ASSERT_NE(chosen, fixed.end()) << best.method;
    EXPECT_EQ(best.time, chosen->second[size].time);
    EXPECT_EQ(best.others.size() + 1, fixed.size());
    for (const auto& [name, results] : fixed) EXPECT_LE(best.time, results[size].time) << name << " is faster";
  }
}

/// Names of the algorithms that ran.
std::set<std::string> hold_all(const NamedNodes& named) {
  Scenario folded = bare_scenario(named.spec);
  folded.protocols = {free_protocol(folded.chunk)};
  Scenario every = folded;
  every.fold = false;
  const Cluster cluster = build(named.spec);
  std::set<std::string> ran;
  for (const CollectiveKind kind : kinds) {
    std::map<std::string, std::vector<CollectiveResult>> fixed;
    for (const std::string& name : collective_algorithms().names()) {
      SCOPED_TRACE(to_string(kind) + ", " + name);
      const Asked asked{&folded, &every, &cluster, kind, name};
      const std::vector<CollectiveResult> results = play_all(asked);
      if (results.empty()) continue;
      ran.insert(name);
      hold_against_every_chip(asked, results);
      hold_against_bounds(asked, results);
      fixed[name] = results;
    }
    if (kind == point_to_point && cluster.chips() != 2) continue;
    SCOPED_TRACE(to_string(kind) + ", auto");
    EXPECT_FALSE(fixed.empty());
    if (!fixed.empty()) hold_auto_against_all({&folded, &every, &cluster, kind, "auto"}, fixed);
  }
  return ran;
}

class CollectiveGrid : public ::testing::TestWithParam<NamedNodes> {};

TEST_P(CollectiveGrid, KeepsTheLaws) {
  EXPECT_GE(hold_all(GetParam()).size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Small, CollectiveGrid, ::testing::ValuesIn(small_clusters()),
                         [](const auto& tested) { return tested.param.name; });

// Closed forms are reached where all links are alike: eight GPUs at one switch.
TEST(CollectiveGrid, ReachesItsBoundsBehindOneSwitch) {
  const Scenario scenario = bare_scenario(nodes_of(8, {1}, 8));
  const std::vector<std::pair<std::string, CollectiveKind>> exact{{"torus", all_gather},
                                                                  {"ring", all_gather},
                                                                  {"ring", all_reduce},
                                                                  {"one-shot", all_gather},
                                                                  {"two-shot", all_reduce},
                                                                  {"recursive-doubling", all_gather},
                                                                  {"recursive-halving", all_reduce},
                                                                  {"bruck", all_gather},
                                                                  {"bruck", all_to_all},
                                                                  {"pairwise", all_to_all},
                                                                  {"direct", all_to_all},
                                                                  {"flat", broadcast},
                                                                  {"flat", gather},
                                                                  {"binomial", scatter},
                                                                  {"dissemination", barrier}};
  for (const auto& [name, kind] : exact) {
    const CollectiveResult one = CollectiveRun(scenario, {kind, {}, name}).play(16 << 20);
    EXPECT_NEAR(to_seconds(one.time) / one.bound, 1, 1e-4) << name << " " << to_string(kind);
  }
}

// A refusal keeps an algorithm from the grid; none may be kept from all of it.
TEST(CollectiveGrid, HasAPlaceForEveryAlgorithm) {
  const std::vector<std::string> names = collective_algorithms().names();
  std::set<std::string> ran;
  for (const NamedNodes& named : small_clusters()) {
    const Scenario scenario = bare_scenario(named.spec);
    for (const CollectiveKind kind : kinds) {
      for (const std::string& name : names) {
        try {
          if (!ran.contains(name) && CollectiveRun(scenario, {kind, {}, name}).play(1).time.count() > 0)
            ran.insert(name);
        } catch (const InputError&) {
        }
      }
    }
  }
  EXPECT_THAT(ran, ::testing::UnorderedElementsAreArray(names));
}

}  // namespace
}  // namespace stepsim::testing
