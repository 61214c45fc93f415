// symmetry_test.cpp: classes of chips and links, held against the definition on many clusters and kinds of traffic, and
// their number against what symmetry there is.
#include "topology/symmetry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "chips.h"

namespace stepsim::testing {
namespace {

using ::testing::IsEmpty;

using Chips = std::vector<bool>;
using At = std::vector<int>;  // coordinates

Traffic quiet(const Cluster& cluster) {
  return {std::vector<std::uint32_t>(cluster.chips(), 0), {}, {}};
}

/// Who of them all, by coordinates.
Chips those(const Cluster& cluster, const std::function<bool(const At&)>& is) {
  Chips chips;
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) chips.push_back(is(cluster.coordinates(chip)));
  return chips;
}

/// `hops` along an axis by everyone who has a neighbour there.
Move move(const Cluster& cluster, int axis, int hops) {
  const HardwareAxis own = cluster.axes()[static_cast<std::size_t>(axis)];
  if (own.wraps || own.direct) return {axis, hops, {}};
  return {axis, hops, those(cluster, [&](const At& at) {
            const int there = at[static_cast<std::size_t>(axis)] + hops;
            return there >= 0 && there < own.extent;
          })};
}

/// One step both ways along these axes.
Traffic neighbours(const Cluster& cluster, const std::vector<int>& axes, int hops = 1) {
  Traffic traffic = quiet(cluster);
  for (const int axis : axes) {
    if (cluster.axes()[static_cast<std::size_t>(axis)].extent <= hops) continue;
    traffic.moves.push_back(move(cluster, axis, hops));
    traffic.moves.push_back(move(cluster, axis, -hops));
  }
  return traffic;
}

std::vector<int> all_axes(const Cluster& cluster) {
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(cluster.axes().size()); ++axis) axes.push_back(axis);
  return axes;
}

Traffic neighbours(const Cluster& cluster) {
  return neighbours(cluster, all_axes(cluster));
}

/// Everyone to everyone; a kind is a distance in coordinates, round every axis: "rank + k" on a mesh.
Traffic all_to_all(const Cluster& cluster) {
  Traffic traffic = quiet(cluster);
  for (std::uint32_t kind = 1; kind < cluster.chips(); ++kind) {
    const At by = cluster.coordinates(kind);
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      At at = cluster.coordinates(chip);
      for (std::size_t a = 0; a < at.size(); ++a) at[a] = (at[a] + by[a]) % cluster.axes()[a].extent;
      traffic.sends.push_back({chip, cluster.chip_at(at), 0, kind});
    }
  }
  return traffic;
}

/// A few chips to a few others across the axes, both ways.
Traffic across(const Cluster& cluster, std::uint32_t every) {
  Traffic traffic = quiet(cluster);
  for (ChipId chip = 0; chip < cluster.chips(); chip += every) {
    const ChipId to = (chip * 5 + 3) % cluster.chips();
    if (to != chip) traffic.sends.push_back({chip, to, 0, chip % 2});
  }
  return traffic;
}

Traffic both(Traffic a, const Traffic& b) {
  a.moves.insert(a.moves.end(), b.moves.begin(), b.moves.end());
  a.sends.insert(a.sends.end(), b.sends.begin(), b.sends.end());
  return a;
}

Traffic with_slow(const Cluster& cluster, Traffic traffic, const At& at) {
  traffic.colours[cluster.chip_at(at)] = 1;
  return traffic;
}

/// Classes of chips when every transfer and every link is written down as a node: the coarsest there is.
Partition written_out(const Cluster& cluster, const Traffic& traffic) {
  struct Transfer {
    std::uint32_t kind;
    ChipId from, to;
    std::vector<LinkId> route;
  };
  std::vector<Transfer> all;
  std::uint32_t kinds = 0;
  for (const Move& move : traffic.moves) {
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      if (!move.by.empty() && !move.by[chip]) continue;
      all.push_back({kinds, chip, cluster.step(chip, move.axis, move.hops), cluster.along(chip, move.axis, move.hops)});
    }
    ++kinds;
  }
  for (const Send& send : traffic.sends) {
    all.push_back({kinds + send.kind, send.from, send.to, cluster.routes(send.from, send.to)[send.route].links});
  }
  const std::size_t first_link = cluster.chips() + all.size();
  const std::size_t nodes = first_link + cluster.links();
  std::vector<std::uint32_t> colours;
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::uint32_t> numbers;
  const auto add = [&](int what, std::int64_t a, std::int64_t b) {
    colours.push_back(numbers.try_emplace({what, a, b}, static_cast<std::uint32_t>(numbers.size())).first->second);
  };
  std::vector<LabelledEdges> edges(2, LabelledEdges(nodes, no_node));
  for (const std::uint32_t colour : traffic.colours) add(0, colour, 0);
  for (std::size_t t = 0; t < all.size(); ++t) {
    add(1, all[t].kind, static_cast<std::int64_t>(all[t].route.size()));
    edges.resize(std::max(edges.size(), 2 + all[t].route.size()), LabelledEdges(nodes, no_node));
    edges[0][cluster.chips() + t] = all[t].from;
    edges[1][cluster.chips() + t] = all[t].to;
    for (std::size_t hop = 0; hop < all[t].route.size(); ++hop) {
      edges[2 + hop][cluster.chips() + t] = static_cast<std::uint32_t>(first_link + all[t].route[hop]);
    }
  }
  for (LinkId link = 0; link < cluster.links(); ++link) {
    add(2, cluster.link(link).capacity, cluster.link(link).latency.count());
  }
  return refine(colours, edges);
}

void expect_sound(const Cluster& cluster, const Traffic& traffic) {
  const Symmetry symmetry(cluster, traffic);
  EXPECT_EQ(why_not_symmetric(cluster, traffic, symmetry), "");
  EXPECT_EQ(why_not_symmetric(cluster, traffic, Symmetry(cluster)), "") << "of every chip alone";
  std::vector<std::uint32_t> sizes(symmetry.classes(), 0);
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const std::uint32_t one = symmetry.class_of(chip);
    ASSERT_LT(one, symmetry.classes());
    if (sizes[one]++ == 0) {
      EXPECT_EQ(symmetry.first(one), chip);
    }
  }
  for (std::uint32_t one = 0; one < symmetry.classes(); ++one) EXPECT_EQ(symmetry.size(one), sizes[one]);
}

/// Like chips are alike in the coarsest partition too.
void expect_no_coarser_than_written_out(const Cluster& cluster, const Traffic& traffic) {
  const Symmetry symmetry(cluster, traffic);
  const Partition coarsest = written_out(cluster, traffic);
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const ChipId first = symmetry.first(symmetry.class_of(chip));
    EXPECT_EQ(coarsest.class_of[chip], coarsest.class_of[first]) << chip << " and " << first;
  }
}

std::uint32_t classes(const Cluster& cluster, const Traffic& traffic) {
  expect_sound(cluster, traffic);
  return Symmetry(cluster, traffic).classes();
}

ClusterSpec shaped(std::vector<int> shape, std::vector<bool> wraps, int slices = 1) {
  ClusterSpec spec = torus(v5p(), std::move(shape), slices);
  spec.wraps = std::move(wraps);
  return spec;
}

ClusterSpec host(std::vector<int> per_switch, int roots, bool peer_to_peer) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip = v5p();
  for (const int devices : per_switch) spec.devices += devices;
  spec.devices_per_switch = std::move(per_switch);
  spec.root_complexes = roots;
  spec.peer_to_peer = peer_to_peer;
  spec.host_memory_rate = 80'000'000'000;
  spec.root_complex_rate = 30'000'000'000;
  spec.staging_latency = microsecond;
  return spec;
}

LinkFault degraded(At at, const std::string& port, bool both_directions = false) {
  return {std::move(at), port, both_directions, 1, 2, false};
}

LinkFault down(At at, const std::string& port) {
  return {std::move(at), port, true, 1, 1, true};
}

ClusterSpec with(ClusterSpec spec, std::vector<LinkFault> faults) {
  spec.link_faults = std::move(faults);
  return spec;
}

// Every cluster below with every traffic below.

struct NamedCluster {
  std::string name;
  ClusterSpec spec;
};

void PrintTo(const NamedCluster& cluster, std::ostream* out) {
  *out << cluster.name;
}

std::vector<NamedCluster> clusters() {
  const std::vector<int> cube{4, 4, 4};
  std::vector<NamedCluster> all{
      {"ring_of_8", shaped({8, 1, 1}, {true, false, false})},
      {"ring_of_7", shaped({7, 1, 1}, {true, false, false})},
      {"line_of_6", shaped({6, 1, 1}, {false, false, false})},
      {"pair", shaped({2, 1, 1}, {false, false, false})},
      {"pair_with_two_cables", shaped({2, 1, 1}, {true, false, false})},
      {"closed_4x4", torus(v5p(), {4, 4, 4})},
      {"closed_5x3", shaped({5, 3, 1}, {true, true, false})},
      {"closed_2x6", shaped({2, 6, 1}, {true, true, false})},
      {"open_2x4x4", torus(v5p(), {2, 4, 4})},
      {"open_3x5", shaped({3, 5, 1}, {false, false, false})},
      {"open_by_closed_4x6", shaped({4, 6, 1}, {false, true, false})},
      {"closed_open_closed_4x3x4", shaped({4, 3, 4}, {true, false, true})},
      {"slices_2_of_2x2x4", torus(v5p(), {2, 2, 4}, 2)},
      {"slices_3_of_2x2x2", torus(v5p(), {2, 2, 2}, 3)},
      {"uneven_hosts_2_of_3x3", shaped({3, 3, 1}, {true, true, false}, 2)},
      {"uneven_hosts_4_of_5x2", shaped({5, 2, 1}, {false, true, false}, 4)},
      {"host_of_4", host({4}, 1, true)},
      {"host_of_2_2", host({2, 2}, 1, true)},
      {"host_of_2_2_two_roots", host({2, 2}, 2, true)},
      {"host_of_3_1_staged", host({3, 1}, 1, false)},
      {"host_of_ports_staged", host({1, 1, 1, 1}, 1, false)},
      {"host_of_4_4_two_roots_staged", host({4, 4}, 2, false)},
      {"ring_of_8_degraded", with(shaped({8, 1, 1}, {true, false, false}), {degraded({3, 0, 0}, "x+")})},
      {"ring_of_8_cut", with(shaped({8, 1, 1}, {true, false, false}), {down({3, 0, 0}, "x+")})},
      {"closed_4x4x4_degraded", with(torus(v5p(), cube), {degraded({1, 2, 3}, "y-")})},
      {"closed_4x4x4_two_degraded",
       with(torus(v5p(), cube), {degraded({0, 0, 0}, "x+"), degraded({2, 2, 0}, "z+", true)})},
      {"closed_4x4x4_cable_down", with(torus(v5p(), cube), {down({1, 1, 1}, "z+")})},
      {"closed_4x4x4_two_down", with(torus(v5p(), cube), {down({0, 0, 0}, "x+"), down({0, 1, 0}, "x+")})},
      {"open_4x6_cable_down", with(shaped({4, 6, 1}, {false, true, false}), {down({1, 2, 0}, "x+")})},
      {"slices_with_slow_nic", with(torus(v5p(), {2, 2, 4}, 2), {degraded({1, 0, 0, 2}, "dcn up")})},
      {"slices_with_slow_pcie", with(torus(v5p(), {2, 2, 4}, 3), {degraded({0, 1, 0, 1}, "pcie down")})},
      {"slices_with_cable_down", with(torus(v5p(), {2, 2, 4}, 2), {down({0, 1, 0, 1}, "z+")})},
      {"rails_2x3_slow_nic", with(nodes_of(4, {2, 3}, 4), {degraded({1, 0, 2}, "nic up")})},
      {"rails_2x3_slow_leaf", with(nodes_of(2, {2, 3}, 2), {degraded({1, 0, 1}, "leaf down")})},
  };
  for (NamedNodes& one : networks_of_nodes()) all.push_back({one.name, one.spec});
  return all;
}

struct NamedTraffic {
  std::string name;
  Traffic (*on)(const Cluster&);
};

std::vector<NamedTraffic> kinds_of_traffic() {
  return {
      {"none", quiet},
      {"neighbours", [](const Cluster& c) { return neighbours(c); }},
      {"one_way",
       [](const Cluster& c) {
         return Traffic{quiet(c).colours, {move(c, 0, 1)}, {}};
       }},
      {"two_hops", [](const Cluster& c) { return both(neighbours(c, {0}, 2), neighbours(c, {all_axes(c).back()})); }},
      {"two_hops_by_some",
       [](const Cluster& c) {
         Traffic traffic = neighbours(c);
         Move some = c.axes()[0].extent > 2 ? move(c, 0, 2) : move(c, 0, 1);
         const Chips even = those(c, [](const At& at) { return (at[0] / 2 + at.back()) % 2 == 0; });
         some.by.resize(c.chips(), some.by.empty());
         for (ChipId chip = 0; chip < c.chips(); ++chip) some.by[chip] = some.by[chip] && even[chip];
         traffic.moves.push_back(some);
         return traffic;
       }},
      {"all_to_all", all_to_all},
      {"across_by_some", [](const Cluster& c) { return both(across(c, 3), neighbours(c, {0})); }},
      {"across_by_all", [](const Cluster& c) { return across(c, 1); }},
      {"slow_chip", [](const Cluster& c) { return with_slow(c, neighbours(c), c.coordinates(c.chips() / 2)); }},
      {"slow_chip_in_all_to_all",
       [](const Cluster& c) { return with_slow(c, all_to_all(c), c.coordinates(c.chips() / 2)); }},
  };
}

class EveryCluster : public ::testing::TestWithParam<NamedCluster> {};

TEST_P(EveryCluster, HasSoundClassesForEveryTraffic) {
  const Cluster cluster = build(GetParam().spec);
  for (const NamedTraffic& traffic : kinds_of_traffic()) {
    SCOPED_TRACE(traffic.name);
    expect_sound(cluster, traffic.on(cluster));
  }
}

TEST_P(EveryCluster, HasNoCoarserClassesThanWithEverythingWrittenOut) {
  const Cluster cluster = build(GetParam().spec);
  for (const NamedTraffic& traffic : kinds_of_traffic()) {
    const bool large = cluster.chips() > 40 && traffic.name.find("all_to_all") != std::string::npos;
    if (large) continue;  // millions of nodes
    SCOPED_TRACE(traffic.name);
    expect_no_coarser_than_written_out(cluster, traffic.on(cluster));
  }
}

INSTANTIATE_TEST_SUITE_P(Symmetry, EveryCluster, ::testing::ValuesIn(clusters()),
                         [](const auto& info) { return info.param.name; });

// How many classes.

TEST(SymmetryClasses, AClosedTorusIsOne) {
  for (const std::vector<int>& shape : {std::vector<int>{4, 4, 4}, {8, 4, 12}, {16, 4, 4}}) {
    const Cluster cluster = build(torus(v5p(), shape));
    EXPECT_EQ(classes(cluster, neighbours(cluster)), 1U);
  }
  const Cluster small = build(torus(v5p(), {4, 4, 4}));
  EXPECT_EQ(classes(small, all_to_all(small)), 1U) << "all-to-all by distance is the same from every chip";
}

TEST(SymmetryClasses, AnOpenLineIsOnePerPlace) {
  const Cluster line = build(shaped({7, 1, 1}, {false, false, false}));
  EXPECT_EQ(classes(line, neighbours(line)), 7U);
  const Cluster half = build(torus(v5e(), {8, 16}));  // x is open
  EXPECT_EQ(classes(half, neighbours(half)), 8U);
  EXPECT_EQ(classes(half, neighbours(half, {1})), 1U) << "if only the closed axis is used";
  const Cluster open = build(torus(v5e(), {8, 8}));
  EXPECT_EQ(classes(open, neighbours(open)), 64U);
  EXPECT_EQ(classes(open, neighbours(open, {0})), 8U);
}

TEST(SymmetryClasses, ASlowChipTellsApartAsFarAsTransfersReach) {
  const Cluster cube = build(torus(v5p(), {8, 8, 8}));
  const At at{3, 0, 5};
  EXPECT_EQ(classes(cube, with_slow(cube, quiet(cube), at)), 2U);
  EXPECT_EQ(classes(cube, with_slow(cube, neighbours(cube, {0}), at)), 8U + 1U) << "its x line, and the rest";
  EXPECT_EQ(classes(cube, with_slow(cube, neighbours(cube, {1, 2}), at)), 64U + 1U) << "its plane, and the rest";
  EXPECT_EQ(classes(cube, with_slow(cube, neighbours(cube), at)), 512U);
}

TEST(SymmetryClasses, TwoLikeSlowChipsCanBeAlike) {
  const Cluster cube = build(torus(v5p(), {8, 8, 8}));
  const Traffic opposite = with_slow(cube, with_slow(cube, neighbours(cube), {0, 0, 0}), {4, 4, 4});
  EXPECT_EQ(classes(cube, opposite), 256U) << "moving by (4, 4, 4) changes nothing";
}

TEST(SymmetryClasses, ADegradedLinkTellsApartAsFarAsTransfersReach) {
  const Cluster cube = build(with(torus(v5p(), {8, 8, 8}), {degraded({3, 0, 5}, "x+")}));
  EXPECT_EQ(classes(cube, neighbours(cube, {0})), 8U + 1U);
  EXPECT_EQ(classes(cube, neighbours(cube)), 512U);
}

TEST(SymmetryClasses, EveryOtherChipRoundARingIsOne) {
  const Cluster ring = build(shaped({8, 1, 1}, {true, false, false}));
  EXPECT_EQ(classes(ring, neighbours(ring, {0}, 2)), 1U);
}

// Two hops between x and x + 2 for x = 0, 1 of every four: the link 1 -> 2 is shared, 0 -> 1 and 2 -> 3 are not, so 0
// and 1 differ; what is turned round differs by the name of its port.
TEST(SymmetryClasses, StridedPairsShareLinksUnequally) {
  const Cluster ring = build(shaped({8, 1, 1}, {true, false, false}));
  Traffic traffic = quiet(ring);
  traffic.moves.push_back({0, 2, those(ring, [](const At& at) { return at[0] % 4 < 2; })});
  traffic.moves.push_back({0, -2, those(ring, [](const At& at) { return at[0] % 4 >= 2; })});
  EXPECT_EQ(classes(ring, traffic), 4U);
}

// The exchanges 0-1, 3-4, 6-7 and 2-5 on a ring of 8: one partner each, but 2-5 shares a link with 3-4. 0 and 6 (1 and 7)
// are alike; ports keep the others apart.
TEST(SymmetryClasses, OfTheRingOfEightExchangesAreFinerThanWrittenOut) {
  const Cluster ring = build(shaped({8, 1, 1}, {true, false, false}));
  Traffic traffic = quiet(ring);
  for (const auto& [a, b] : std::vector<std::pair<ChipId, ChipId>>{{0, 1}, {3, 4}, {6, 7}, {2, 5}}) {
    traffic.sends.push_back({a, b, 0, 0});
    traffic.sends.push_back({b, a, 0, 0});
  }
  expect_no_coarser_than_written_out(ring, traffic);
  const Symmetry symmetry(ring, traffic);
  EXPECT_EQ(why_not_symmetric(ring, traffic, symmetry), "");
  EXPECT_NE(symmetry.class_of(0), symmetry.class_of(2));
  EXPECT_NE(symmetry.class_of(0), symmetry.class_of(3));
  EXPECT_NE(symmetry.class_of(2), symmetry.class_of(3));
  EXPECT_LE(symmetry.classes(), 8U);
}

// A host of 2x2x1 has a chip whose neighbour up x is on the same host and one whose is not; but what shares a link is
// the same for both.
TEST(SymmetryClasses, SlicesOverTheNetworkAreOne) {
  const Cluster slices = build(torus(v5p(), {4, 4, 4}, 3));
  EXPECT_EQ(classes(slices, neighbours(slices, {0})), 1U);
  EXPECT_EQ(classes(slices, neighbours(slices)), 1U);
}

TEST(SymmetryClasses, UnevenHostsDifferByTheirChips) {
  const Cluster five = build(shaped({5, 2, 1}, {true, true, false}, 2));  // 2x2, 2x2, 1x2
  EXPECT_EQ(classes(five, neighbours(five, {0})), 2U);
  const Cluster nine = build(shaped({3, 3, 1}, {true, true, false}, 2));  // 2x2, 2x1, 1x2, 1x1
  EXPECT_EQ(classes(nine, neighbours(nine, {0})), 3U);
  EXPECT_EQ(classes(nine, neighbours(nine, {1})), 1U) << "if their NICs are not used";
}

TEST(SymmetryClasses, OfAHostFollowItsSwitches) {
  const auto on = [](ClusterSpec spec) {
    const Cluster cluster = build(spec);
    return classes(cluster, neighbours(cluster));
  };
  EXPECT_EQ(on(host({4}, 1, true)), 1U);
  EXPECT_EQ(on(host({2, 2}, 1, true)), 2U) << "up within a switch and then across, or the other way about";
  EXPECT_EQ(on(host({3, 1}, 1, true)), 4U);
  EXPECT_EQ(on(host({1, 1, 1, 1}, 1, false)), 1U) << "all meet in host memory";
  EXPECT_EQ(on(host({4, 4}, 2, true)), 4U) << "a half turn of the ring changes nothing";
  EXPECT_EQ(on(host({4, 4}, 2, false)), 1U) << "all the way up and down from everywhere, each link shared by four";
}

TEST(SymmetryClasses, OfLinksCountThoseThatAreAlike) {
  const Cluster cube = build(torus(v5p(), {4, 4, 4}));
  const Symmetry symmetry(cube, neighbours(cube));
  const Symmetry::LinkClass up = symmetry.link_class(cube.along(0, 0, 1)[0]);
  EXPECT_EQ(up.links, 64U);
  EXPECT_EQ(symmetry.link_class(cube.along(21, 0, 1)[0]).key, up.key);
  EXPECT_NE(symmetry.link_class(cube.along(0, 0, -1)[0]).key, up.key);
  const Symmetry alone(cube);
  EXPECT_EQ(alone.link_class(cube.along(0, 0, 1)[0]).links, 1U);
  EXPECT_EQ(alone.classes(), 64U);
}

// A check that cannot fail proves nothing: classes made for other traffic, colours or clusters are found out.

TEST(WhyNotSymmetric, FindsASlowChip) {
  const Cluster cube = build(torus(v5p(), {4, 4, 4}));
  const Symmetry even(cube, neighbours(cube));
  EXPECT_THAT(why_not_symmetric(cube, with_slow(cube, neighbours(cube), {0, 1, 2}), even), Not(IsEmpty()));
}

TEST(WhyNotSymmetric, FindsAnEndThatDoesNotSend) {
  const Cluster line = build(shaped({6, 1, 1}, {false, false, false}));
  EXPECT_THAT(why_not_symmetric(line, neighbours(line), Symmetry(line, quiet(line))), Not(IsEmpty()));
}

TEST(WhyNotSymmetric, FindsChipsWithOtherPeers) {
  const Cluster cube = build(torus(v5p(), {8, 8, 8}));
  const Symmetry along_x(cube, with_slow(cube, neighbours(cube, {0}), {0, 0, 0}));
  EXPECT_THAT(why_not_symmetric(cube, with_slow(cube, neighbours(cube), {0, 0, 0}), along_x), Not(IsEmpty()));
}

TEST(WhyNotSymmetric, FindsOtherRoutes) {
  const Cluster ring = build(shaped({8, 1, 1}, {true, false, false}));
  const Symmetry one(ring, neighbours(ring));
  Traffic traffic = quiet(ring);  // everyone sends, to a partner of its own, over one link or three
  for (const auto& [a, b] : std::vector<std::pair<ChipId, ChipId>>{{0, 1}, {3, 4}, {6, 7}, {2, 5}}) {
    traffic.sends.push_back({a, b, 0, 0});
    traffic.sends.push_back({b, a, 0, 0});
  }
  EXPECT_THAT(why_not_symmetric(ring, traffic, one), Not(IsEmpty()));
}

TEST(WhyNotSymmetric, FindsADegradedLink) {
  const ClusterSpec spec = torus(v5p(), {4, 4, 4});
  const Cluster healthy = build(spec);
  const Cluster cluster = build(with(spec, {degraded({1, 1, 1}, "x+")}));
  const Symmetry one(healthy, neighbours(healthy));
  EXPECT_EQ(why_not_symmetric(healthy, neighbours(healthy), one), "");
  EXPECT_THAT(why_not_symmetric(cluster, neighbours(cluster), one), Not(IsEmpty()));
}

/// All send by the same ports, but some have a NIC to themselves and some share one.
TEST(WhyNotSymmetric, FindsLinksThatAreSharedUnequally) {
  ClusterSpec spec = shaped({3, 1, 1}, {true, false, false}, 2);
  spec.chip.host_shape = {2, 1, 1};
  const Cluster slices = build(spec);
  const Symmetry inside(slices, neighbours(slices, {1}));
  ASSERT_EQ(inside.classes(), 1U);
  EXPECT_THAT(why_not_symmetric(slices, neighbours(slices, {0}), inside), Not(IsEmpty()));
}

}  // namespace
}  // namespace stepsim::testing
