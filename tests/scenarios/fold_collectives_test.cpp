// fold_collectives_test.cpp: collectives that no schedule asks for, laid on classes and on every chip: all-to-all,
// exchanges, trees, gathers and single sends by the cluster's routes, across axes, through shared NICs and host memory,
// while slow chips make members arrive at different times. Every op at the same picosecond.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/scenarios/fold_compare.h"
#include "tests/topology/chips.h"

namespace stepsim::testing {
namespace {

/// Members whose roles are equal share one.
class PatternWriter {
 public:
  PatternWriter(std::uint32_t members, std::uint32_t ports) {
    pattern_.members = members;
    pattern_.ports = ports;
    role_of_.assign(members, 0);
    port_.assign(std::size_t{members} * ports, Port{.to = no_member});
  }

  void role(std::uint32_t member, const std::vector<std::vector<Run>>& lanes, const std::vector<Need>& needs = {}) {
    Role role;
    role.needs = needs;
    std::string key;
    for (const std::vector<Run>& lane : lanes) {
      role.lanes.push_back({static_cast<std::uint32_t>(role.runs.size()), static_cast<std::uint32_t>(lane.size())});
      role.runs.insert(role.runs.end(), lane.begin(), lane.end());
      key += "|";
      for (const Run& run : lane) {
        for (const auto figure : {std::int64_t{run.port}, std::int64_t{run.count}, run.bytes,
                                  std::int64_t{run.first_need}, std::int64_t{run.needs}}) {
          key += std::to_string(figure) + ",";
        }
      }
    }
    for (const Need& need : needs) key += ";" + std::to_string(need.port) + "," + std::to_string(need.base);
    const auto [known, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(pattern_.roles.size()));
    if (is_new) pattern_.roles.push_back(role);
    role_of_[member] = known->second;
  }

  void port(std::uint32_t member, std::uint32_t port, std::uint32_t to, std::uint32_t to_port) {
    port_[std::size_t{member} * pattern_.ports + port] = {.to = to, .to_port = to_port};
  }

  TransferPattern take(bool eager) {
    pattern_.eager = eager;
    pattern_.role_of = [roles = role_of_](std::uint32_t member) { return roles[member]; };
    pattern_.port = [ports = port_, each = pattern_.ports](std::uint32_t member, std::uint32_t port) {
      return ports[std::size_t{member} * each + port];
    };
    return pattern_;
  }

 private:
  TransferPattern pattern_;
  std::vector<std::uint32_t> role_of_;
  std::vector<Port> port_;
  std::map<std::string, std::uint32_t> known_;
};

constexpr Bytes message = 1'000'003;

Run once(std::uint32_t port, Bytes bytes = message) {
  return {.port = port, .count = 1, .bytes = bytes};
}

/// Everyone to everyone, the next first, on two lanes.
TransferPattern all_to_all(std::uint32_t members) {
  PatternWriter writer(members, members - 1);
  std::vector<std::vector<Run>> lanes(2);
  for (std::uint32_t p = 0; p + 1 < members; ++p) lanes[p % 2].push_back(once(p, message + p % 3));
  for (std::uint32_t member = 0; member < members; ++member) {
    writer.role(member, lanes);
    for (std::uint32_t p = 0; p + 1 < members; ++p) writer.port(member, p, (member + p + 1) % members, p);
  }
  return writer.take(false);
}

/// Everyone to everyone at once, whether the receiver is there or not.
TransferPattern eager_all_to_all(std::uint32_t members) {
  PatternWriter writer(members, members - 1);
  std::vector<std::vector<Run>> lanes;
  for (std::uint32_t p = 0; p + 1 < members; ++p) lanes.push_back({once(p)});
  for (std::uint32_t member = 0; member < members; ++member) {
    writer.role(member, lanes);
    for (std::uint32_t p = 0; p + 1 < members; ++p) writer.port(member, p, (member + p + 1) % members, p);
  }
  return writer.take(true);
}

/// Partners answer each other three times: message i + 1 waits for the partner's message i. One may be left over.
TransferPattern exchanges(std::uint32_t members) {
  PatternWriter writer(members, 1);
  const std::uint32_t far = members / 2;
  for (std::uint32_t member = 0; member < 2 * far; ++member) {
    writer.role(member, {{{.port = 0, .count = 3, .bytes = message, .first_need = 0, .needs = 1}}}, {{0, 0, 1}});
    writer.port(member, 0, (member + far) % (2 * far), 0);
  }
  if (members % 2 == 1) writer.role(members - 1, {{}});
  return writer.take(false);
}

/// Everyone to rank 5 r + 3 (or the next rank where that is no permutation): along no axis.
TransferPattern shift_across(std::uint32_t members) {
  const bool permutes = std::gcd(members, 5U) == 1;
  PatternWriter writer(members, 1);
  for (std::uint32_t member = 0; member < members; ++member) {
    writer.role(member, {{{.port = 0, .count = 2, .bytes = message}}});
    writer.port(member, 0, permutes ? (5 * member + 3) % members : (member + 1) % members, 0);
  }
  return writer.take(false);
}

/// Everyone to the next, the same way; only how much tells members apart.
TransferPattern unequal_messages(std::uint32_t members) {
  PatternWriter writer(members, 1);
  for (std::uint32_t member = 0; member < members; ++member) {
    writer.role(member, {{once(0, message * (1 + member % 3))}});
    writer.port(member, 0, (member + 1) % members, 0);
  }
  return writer.take(false);
}

/// From rank 0 down a binary tree.
TransferPattern tree(std::uint32_t members) {
  PatternWriter writer(members, 2);
  for (std::uint32_t member = 0; member < members; ++member) {
    std::vector<std::vector<Run>> lanes;
    for (std::uint32_t child = 0; child < 2 && 2 * member + child + 1 < members; ++child) {
      lanes.push_back({{.port = child, .count = 4, .bytes = message, .first_need = 0, .needs = member == 0 ? 0U : 1U}});
      writer.port(member, child, 2 * member + child + 1, 0);
    }
    writer.role(member, lanes, member == 0 ? std::vector<Need>{} : std::vector<Need>{{0, 1, 1}});
  }
  return writer.take(false);
}

/// All to rank 0, which answers the last of them when it has heard from all. Each is counted on a port of its own.
TransferPattern gather(std::uint32_t members) {
  PatternWriter writer(members, members);
  std::vector<Need> from_all;
  for (std::uint32_t member = 1; member < members; ++member) {
    writer.role(member, {{once(0)}});
    writer.port(member, 0, 0, member);
    from_all.push_back({member, 1, 0});
  }
  writer.role(0, {{{.port = 0, .count = 1, .bytes = message, .first_need = 0, .needs = members - 1}}}, from_all);
  writer.port(0, 0, members - 1, 0);
  return writer.take(true);
}

/// Rank 0 to the last rank and the second to the last but one, with everyone else in the group idle.
TransferPattern two_sends(std::uint32_t members) {
  PatternWriter writer(members, 1);
  for (std::uint32_t member = 0; member < members; ++member) writer.role(member, {{}});
  for (std::uint32_t member = 0; member < 2 && 2 * member + 1 < members; ++member) {
    writer.role(member, {{once(0, 7 * message)}});
    writer.port(member, 0, members - 1 - member, 0);
  }
  return writer.take(true);
}

struct NamedPattern {
  std::string name;
  TransferPattern (*of)(std::uint32_t members);
};

struct NamedCluster {
  std::string name;
  ClusterSpec spec;
};

void PrintTo(const NamedCluster& cluster, std::ostream* out) {
  *out << cluster.name;
}

ChipSpec chip() {
  ChipSpec chip;
  chip.name = "test chip";
  chip.axes = 3;
  chip.pod = {16, 16, 16};
  chip.host_shape = {2, 2, 1};
  chip.wrap = WrapRule::cubes;
  chip.link_rate = 33'333'333'331;
  chip.link_latency = Picoseconds(1'000'000);
  chip.pcie_rate = 16'000'000'000;
  chip.pcie_latency = Picoseconds(700'000);
  chip.dcn_rate_per_chip = 6'250'000'000;
  chip.dcn_latency = Picoseconds(10'000'000);
  return chip;
}

ClusterSpec torus(std::vector<int> shape, std::vector<bool> wraps, int slices = 1) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip = chip();
  spec.shape = std::move(shape);
  spec.wraps = std::move(wraps);
  spec.slices = slices;
  return spec;
}

ClusterSpec host(std::vector<int> per_switch, int roots, bool peer_to_peer) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip = chip();
  spec.devices = std::accumulate(per_switch.begin(), per_switch.end(), 0);
  spec.devices_per_switch = std::move(per_switch);
  spec.root_complexes = roots;
  spec.peer_to_peer = peer_to_peer;
  spec.host_memory_rate = 80'000'000'000;
  spec.root_complex_rate = 30'000'000'000;
  spec.staging_latency = Picoseconds(2'000'000);
  return spec;
}

ClusterSpec with_slow(ClusterSpec spec, std::vector<std::vector<int>> chips) {
  for (std::vector<int>& at : chips) spec.chip_faults.push_back({std::move(at), 13, 10});
  return spec;
}

ClusterSpec with_fault(ClusterSpec spec, std::vector<int> at, const std::string& port, bool down) {
  spec.link_faults.push_back({std::move(at), port, down, 1, down ? 1U : 3U, down});
  return spec;
}

std::vector<NamedCluster> hosts_and_slices() {
  const ClusterSpec closed = torus({4, 4, 1}, {true, true, false});
  const ClusterSpec cube = torus({4, 2, 2}, {true, false, true});
  const ClusterSpec slices = torus({2, 2, 2}, {false, false, false}, 3);
  const ClusterSpec uneven = torus({3, 3, 1}, {true, false, false}, 2);
  return {
      {"ring_of_8", torus({8, 1, 1}, {true, false, false})},
      {"ring_of_9_one_slow", with_slow(torus({9, 1, 1}, {true, false, false}), {{4, 0, 0}})},
      {"line_of_5", torus({5, 1, 1}, {false, false, false})},
      {"closed_4x4", closed},
      {"closed_4x4_one_slow", with_slow(closed, {{1, 2, 0}})},
      {"closed_4x4_two_slow", with_slow(closed, {{0, 0, 0}, {2, 2, 0}})},
      {"closed_4x4_slow_row", with_slow(closed, {{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {1, 3, 0}})},
      {"closed_4x4_degraded", with_fault(closed, {1, 2, 0}, "y+", false)},
      {"closed_4x4_cable_down", with_fault(closed, {3, 1, 0}, "x+", true)},
      {"mixed_4x2x2", cube},
      {"mixed_4x2x2_cable_down_and_slow", with_slow(with_fault(cube, {1, 0, 1}, "y+", true), {{3, 1, 0}})},
      {"open_3x5", torus({3, 5, 1}, {false, false, false})},
      {"slices", slices},
      {"slices_one_slow", with_slow(slices, {{1, 0, 1, 1}})},
      {"slices_slow_nic", with_fault(slices, {2, 0, 0, 1}, "dcn up", false)},
      {"uneven_hosts", uneven},
      {"uneven_hosts_two_slow", with_slow(uneven, {{0, 2, 2, 0}, {1, 0, 0, 0}})},
      {"host_of_4", host({4}, 1, true)},
      {"host_of_4_4", host({4, 4}, 2, true)},
      {"host_of_3_1_one_slow", with_slow(host({3, 1}, 1, true), {{1}})},
      {"host_staged", host({1, 1, 1, 1}, 1, false)},
      {"host_staged_two_roots", host({3, 2, 1}, 2, false)},
      {"host_staged_slow_slot", with_fault(with_slow(host({2, 2}, 2, false), {{3}}), {0}, "pcie down", false)},
  };
}

std::vector<NamedCluster> clusters() {
  std::vector<NamedCluster> all = hosts_and_slices();
  for (NamedNodes& one : networks_of_nodes()) all.push_back({one.name, one.spec});
  all.push_back({"rails_2x3_one_slow", with_slow(nodes_of(4, {2, 3}, 4), {{1, 0, 2}})});
  return all;
}

std::vector<NamedPattern> patterns() {
  return {{"all_to_all", all_to_all},
          {"eager_all_to_all", eager_all_to_all},
          {"exchanges", exchanges},
          {"shift_across", shift_across},
          {"unequal_messages", unequal_messages},
          {"tree", tree},
          {"gather", gather},
          {"two_sends", two_sends}};
}

GroupAxis whole(const Cluster& cluster, int axis) {
  const HardwareAxis& own = cluster.axes()[static_cast<std::size_t>(axis)];
  return {axis, own.extent, 1, own.wraps || own.direct};
}

/// Groups of all chips, and of the lines along each axis.
Communication families(const Cluster& cluster) {
  Communication all;
  std::vector<GroupAxis> axes;
  for (int axis = 0; axis < static_cast<int>(cluster.axes().size()); ++axis) {
    if (cluster.axes()[static_cast<std::size_t>(axis)].extent > 1) axes.push_back(whole(cluster, axis));
  }
  all.families.push_back({"all", Groups(cluster.axes(), axes)});
  for (const GroupAxis& axis : axes) {
    all.families.push_back(
        {cluster.axes()[static_cast<std::size_t>(axis.hardware_axis)].name, Groups(cluster.axes(), {axis})});
  }
  return all;
}

void add(Communication& all, std::size_t family, TransferPattern pattern) {
  std::vector<std::vector<bool>> used = ports_in_use(pattern);
  all.pattern_of.push_back(all.patterns.size());
  all.patterns.push_back({family, std::move(pattern), std::move(used)});
}

/// An all-reduce along a family's axes, by the algorithm that schedules use.
TransferPattern all_reduce(const Communication& all, std::size_t family) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_reduce;
  spec.shape = all.families[family].groups.shape();
  spec.bytes = 12 * message;
  return collective_algorithms().at("algorithm", spec.algorithm).pattern(spec);
}

/// Compute, then all collectives at once, each on its own stream and released by a compute op of its own; a step ends
/// when the last compute op, which waits for them all, does.
StepProgram program(std::size_t collectives) {
  StepProgram all;
  Program& own = all.programs.emplace_back();
  const StreamId computing = all.stream("compute", true);
  std::vector<Dependency> joined;
  for (std::uint32_t i = 0; i < collectives; ++i) {
    Op compute;
    compute.kind = OpKind::compute;
    compute.stream = computing;
    compute.work = Picoseconds(40'000'001 - 9'000'000 * (i % 3));
    Op collective;
    collective.kind = OpKind::collective;
    collective.stream = all.stream("collective " + std::to_string(i), false);
    collective.collective = i;
    const OpId before = own.add(compute);
    joined.push_back({own.add(collective, {{before}})});
  }
  Op last;
  last.kind = OpKind::compute;
  last.stream = computing;
  last.work = Picoseconds(5'000'000);
  own.add(last, joined);
  return all;
}

struct Laid {
  StepProgram program;
  Network network;
  std::vector<LinkClass> links;
  Timeline timeline;
};

Laid play(const Cluster& cluster, const Communication& all, const Symmetry& symmetry) {
  const std::vector<CollectiveRequest> requests(all.pattern_of.size());
  Laid laid{program(requests.size()), {}, {}, {}};
  laid.links = lay_out(cluster, all, requests, symmetry, laid.program, laid.network);
  check(laid.program, laid.network);
  RunOptions options;
  options.exact_steps = 3;
  laid.timeline = simulate(laid.program, laid.network, options);
  return laid;
}

void expect_same(const Cluster& cluster, const Communication& all) {
  const Traffic happens = traffic(cluster, all);
  const Symmetry symmetry(cluster, happens);
  EXPECT_EQ(why_not_symmetric(cluster, happens, symmetry), "");
  const Laid folded = play(cluster, all, symmetry);
  const Laid whole = play(cluster, all, Symmetry(cluster));
  EXPECT_EQ(different_play(symmetry, {folded.program, folded.timeline, folded.links},
                           {whole.program, whole.timeline, whole.links}),
            "");
}

class FoldCollectives : public ::testing::TestWithParam<NamedCluster> {
 protected:
  const Cluster cluster = build(GetParam().spec);
};

TEST_P(FoldCollectives, AmongAllChipsAloneAreExact) {
  for (const NamedPattern& pattern : patterns()) {
    SCOPED_TRACE(pattern.name);
    Communication all = families(cluster);
    add(all, 0, pattern.of(cluster.chips()));
    expect_same(cluster, all);
  }
}

TEST_P(FoldCollectives, AlongEachAxisAloneAreExact) {
  for (const NamedPattern& pattern : patterns()) {
    SCOPED_TRACE(pattern.name);
    Communication all = families(cluster);
    for (std::size_t family = 1; family < all.families.size(); ++family) {
      add(all, family, pattern.of(all.families[family].groups.members()));
    }
    expect_same(cluster, all);
  }
}

TEST_P(FoldCollectives, SharingLinksWithAnAllReduceAreExact) {
  for (const NamedPattern& pattern : patterns()) {
    SCOPED_TRACE(pattern.name);
    Communication all = families(cluster);
    for (std::size_t family = 0; family < all.families.size(); ++family) add(all, family, all_reduce(all, family));
    add(all, 0, pattern.of(cluster.chips()));
    add(all, 1, pattern.of(all.families[1].groups.members()));
    expect_same(cluster, all);
  }
}

TEST_P(FoldCollectives, AllTogetherAreExact) {
  Communication all = families(cluster);
  for (const NamedPattern& pattern : patterns()) add(all, 0, pattern.of(cluster.chips()));
  for (std::size_t family = 1; family < all.families.size(); ++family) {
    add(all, family, exchanges(all.families[family].groups.members()));
    add(all, family, all_reduce(all, family));
  }
  expect_same(cluster, all);
}

/// Algorithms that ship, with what each does; by the cluster's routes but for the hierarchical ones.
std::vector<CollectiveSpec> shipped() {
  using enum CollectiveKind;
  std::vector<CollectiveSpec> specs;
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    specs.push_back(
        {.kind = kind, .shape = {}, .bytes = 12 * message, .algorithm = "hierarchical", .chunk = 4 * message});
  }
  for (const std::string algorithm : {"flat", "binomial"}) {
    for (const CollectiveKind kind : {broadcast, reduce, CollectiveKind::gather, scatter}) {
      specs.push_back({.kind = kind, .shape = {}, .bytes = 3 * message, .algorithm = algorithm, .root = 1});
    }
  }
  specs.push_back({.kind = CollectiveKind::all_to_all, .shape = {}, .bytes = 12 * message, .algorithm = "pairwise"});
  specs.push_back({.kind = barrier, .shape = {}, .bytes = 0, .algorithm = "dissemination"});
  return specs;
}

TEST_P(FoldCollectives, ShippedAlgorithmsAreExact) {
  for (CollectiveSpec spec : shipped()) {
    SCOPED_TRACE(spec.algorithm + " " + to_string(spec.kind));
    Communication all = families(cluster);
    spec.shape = all.families[0].groups.shape();
    add(all, 0, collective_algorithms().at("algorithm", spec.algorithm).pattern(spec));
    expect_same(cluster, all);
  }
}

INSTANTIATE_TEST_SUITE_P(On, FoldCollectives, ::testing::ValuesIn(clusters()),
                         [](const auto& info) { return info.param.name; });

// On a ring all places look alike; what a rank does in a tree does not.
TEST(FoldRoles, TellRanksApart) {
  const Cluster cluster = build(torus({8, 1, 1}, {true, false, false}));
  Communication all = families(cluster);
  add(all, 0, tree(8));
  EXPECT_EQ(Symmetry(cluster, traffic(cluster, all)).classes(), 8U);
  Communication even = families(cluster);
  add(even, 0, all_to_all(8));
  EXPECT_EQ(Symmetry(cluster, traffic(cluster, even)).classes(), 1U) << "by distance, all ranks do the same";
}

// Staged through one host memory all devices are alike, but the root counts each of them on a port of its own.
TEST(FoldRoles, TellSendersApartThatTheReceiverDoes) {
  const Cluster cluster = build(host({1, 1, 1, 1}, 1, false));
  Communication all = families(cluster);
  add(all, 0, gather(4));
  EXPECT_EQ(Symmetry(cluster, traffic(cluster, all)).classes(), 4U);
}

// In nodes of GPUs on rails every member does the same along the same axes, and in pieces.
TEST(FoldRoles, HierarchiesOnRailsAreOneClass) {
  const Cluster cluster = build(nodes_of(4, {2, 3}, 4));
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    Communication all = families(cluster);
    const CollectiveSpec spec{.kind = kind,
                              .shape = all.families[0].groups.shape(),
                              .bytes = 24 * message,
                              .algorithm = "hierarchical",
                              .chunk = 2 * message};
    add(all, 0, collective_algorithms().at("algorithm", spec.algorithm).pattern(spec));
    EXPECT_EQ(Symmetry(cluster, traffic(cluster, all)).classes(), 1U) << to_string(kind);
  }
}

}  // namespace
}  // namespace stepsim::testing
