// Degraded links and links that are down. Detours by hand; that they are shortest is held against a graph search.
#include <gmock/gmock.h>

#include <algorithm>

#include "chips.h"
#include "topology/link_graph.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LinkFault down(std::vector<int> at, const std::string& port) {
  LinkFault fault{std::move(at), port};
  fault.down = true;
  return fault;
}

LinkFault share(std::vector<int> at, const std::string& port, std::uint32_t part, std::uint32_t of) {
  LinkFault fault{std::move(at), port};
  fault.part = part;
  fault.of = of;
  return fault;
}

LinkFault both(LinkFault fault) {
  fault.both_directions = true;
  return fault;
}

ClusterSpec with(ClusterSpec spec, std::vector<LinkFault> faults) {
  spec.link_faults = std::move(faults);
  return spec;
}

std::vector<std::vector<int>> through(const Cluster& cluster, const Detour& detour) {
  std::vector<std::vector<int>> chips;
  for (const ChipId chip : detour.through) chips.push_back(cluster.coordinates(chip));
  return chips;
}

using Path = std::vector<std::vector<int>>;

// --- detours

// A hop of a long ring is replaced by three round it: y+ x+ y-, since x+ is down and x- would take seven.
TEST(Detours, GoRoundByTheNextAxis) {
  const Cluster cluster = build(with(torus(v5p(), {8, 8, 8}), {down({2, 3, 4}, "x+")}));
  ASSERT_THAT(cluster.detours(), SizeIs(1));
  const Detour detour = cluster.detours()[0];
  EXPECT_EQ(cluster.coordinates(detour.from), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(cluster.coordinates(detour.to), (std::vector<int>{3, 3, 4}));
  EXPECT_EQ(detour.port, "x+");
  EXPECT_EQ(through(cluster, detour), (Path{{2, 4, 4}, {3, 4, 4}}));
}

// On a ring of 4 the other way round takes three hops as well: x- comes before y+.
TEST(Detours, TiesGoByPorts) {
  const Cluster cluster = build(with(torus(v5p(), {4, 4, 4}), {down({0, 0, 0}, "x+"), down({0, 0, 0}, "z+")}));
  ASSERT_THAT(cluster.detours(), SizeIs(2));
  EXPECT_EQ(through(cluster, cluster.detours()[0]), (Path{{3, 0, 0}, {2, 0, 0}}));
  // z+: x+ is down, so the path begins x-: x- z+ x+ is the first of three hops.
  EXPECT_EQ(through(cluster, cluster.detours()[1]), (Path{{3, 0, 0}, {3, 0, 1}}));
}

TEST(Detours, AtTheCornersOfAnOpenMesh) {
  const Cluster cluster = build(with(torus(v5e(), {4, 4}), {down({0, 0}, "x+"), down({3, 3}, "y-")}));
  EXPECT_EQ(through(cluster, cluster.detours()[0]), (Path{{0, 1}, {1, 1}}));
  EXPECT_EQ(through(cluster, cluster.detours()[1]), (Path{{2, 3}, {2, 2}}));
}

TEST(Detours, AvoidOtherLinksThatAreDown) {
  const Cluster cluster = build(with(torus(v5e(), {4, 4}), {down({0, 0}, "x+"), down({0, 1}, "x+")}));
  EXPECT_EQ(through(cluster, cluster.detours()[0]), (Path{{0, 1}, {0, 2}, {1, 2}, {1, 1}}));
  EXPECT_EQ(through(cluster, cluster.detours()[1]), (Path{{0, 2}, {1, 2}}));
}

TEST(Detours, TheSecondCableOfARingOfTwo) {
  ClusterSpec spec = torus(v5p(), {2, 1, 1});
  spec.wraps = {true, false, false};
  const Cluster cluster = build(with(spec, {both(down({0, 0, 0}, "x+"))}));
  ASSERT_THAT(cluster.detours(), SizeIs(2)) << "the link back is x- of the other chip";
  EXPECT_THAT(cluster.detours()[0].through, IsEmpty());
  EXPECT_EQ(cluster.along(0, 0, 1), cluster.along(0, 0, -1));
  EXPECT_EQ(cluster.along(1, 0, 1), cluster.along(1, 0, -1));
}

TEST(Detours, StayInsideTheSlice) {
  const Cluster cluster = build(with(torus(v5p(), {4, 4, 4}, 2), {down({1, 0, 0, 0}, "x+")}));
  ASSERT_THAT(cluster.detours(), SizeIs(1));
  EXPECT_EQ(cluster.detours()[0].from, 64U);
  EXPECT_EQ(through(cluster, cluster.detours()[0]), (Path{{1, 3, 0, 0}, {1, 2, 0, 0}}));
  EXPECT_EQ(cluster.along(0, 1, 1), build(torus(v5p(), {4, 4, 4}, 2)).along(0, 1, 1)) << "the other slice is whole";
}

bool crosses_down(const Cluster& cluster, const std::vector<LinkId>& links) {
  return std::any_of(links.begin(), links.end(), [&](LinkId link) { return cluster.link(link).down; });
}

std::vector<ClusterSpec> damaged() {
  ClusterSpec mixed = torus(v5p(), {3, 4, 5});
  mixed.wraps = {true, false, true};
  return {with(torus(v5p(), {4, 4, 4}), {both(down({0, 0, 0}, "x+")), down({1, 2, 3}, "z-"), down({2, 2, 2}, "y+")}),
          with(torus(v5e(), {4, 3}), {both(down({0, 0}, "x+")), down({2, 1}, "y+"), down({2, 1}, "x-")}),
          with(mixed, {down({0, 0, 0}, "x+"), down({0, 0, 0}, "x-"), both(down({1, 1, 1}, "y+")),
                       both(down({1, 1, 4}, "z+")), share({2, 2, 2}, "z+", 1, 2)})};
}

TEST(Detours, AlongIsItsHopsOneByOneAndCrossesNoLinkThatIsDown) {
  for (const ClusterSpec& spec : damaged()) {
    const Cluster cluster = build(spec);
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      for (int axis = 0; axis < static_cast<int>(cluster.axes().size()); ++axis) {
        for (const int direction : {1, -1}) {
          const HardwareAxis& hardware = cluster.axes()[static_cast<std::size_t>(axis)];
          const int place = cluster.coordinates(chip)[static_cast<std::size_t>(axis)];
          if (!hardware.wraps && (place + 2 * direction < 0 || place + 2 * direction >= hardware.extent)) continue;
          const ChipId next = cluster.step(chip, axis, direction);
          std::vector<LinkId> hops = cluster.along(chip, axis, direction);
          cluster.along(next, axis, direction, hops);
          const std::vector<LinkId> way = cluster.along(chip, axis, 2 * direction);
          ASSERT_EQ(way, hops);
          ASSERT_FALSE(crosses_down(cluster, way));
          ASSERT_TRUE(connects(cluster, way, chip, cluster.step(chip, axis, 2 * direction)));
        }
      }
    }
  }
}

// A breadth-first search over the links that are up knows the least number of links of every detour and route.
TEST(Detours, AreShortest) {
  for (const ClusterSpec& spec : damaged()) {
    const Cluster cluster = build(spec);
    const LinkGraph graph = link_graph(cluster);
    EXPECT_FALSE(cluster.detours().empty());
    for (const Detour& detour : cluster.detours()) {
      EXPECT_EQ(static_cast<int>(detour.through.size()) + 1, graph.distances(detour.from)[detour.to]);
    }
    for (ChipId from = 0; from < cluster.chips(); ++from) {
      const std::vector<int> distances = graph.distances(from);
      for (ChipId to = 0; to < cluster.chips(); ++to) {
        const std::vector<WeightedRoute> routes = cluster.routes(from, to);
        ASSERT_FALSE(routes.empty());
        for (const WeightedRoute& route : routes) {
          ASSERT_EQ(static_cast<int>(route.links.size()), distances[to]);
          ASSERT_TRUE(connects(cluster, route.links, from, to));
          ASSERT_FALSE(crosses_down(cluster, route.links));
        }
      }
    }
  }
}

TEST(Detours, RoutesThatAreClearStay) {
  const ClusterSpec healthy = torus(v5e(), {4, 4});
  const ClusterSpec spec = with(healthy, {down({0, 0}, "x+")});
  const ChipId diagonal = 5;
  ASSERT_THAT(build(healthy).routes(0, diagonal), SizeIs(2));
  ASSERT_THAT(build(spec).routes(0, diagonal), SizeIs(1));
  EXPECT_EQ(build(spec).routes(0, diagonal)[0].links, build(healthy).routes(0, diagonal)[1].links) << "y, then x";
  EXPECT_THAT(build(spec).routes(0, 4)[0].links, SizeIs(3)) << "straight along x: round the link";
}

// --- cut off

TEST(Faults, AChipThatNothingLeadsToIsAnError) {
  const ClusterSpec out = with(torus(v5e(), {4, 4}), {down({0, 0}, "x+"), down({0, 0}, "y+")});
  EXPECT_THAT(problem_keys([&] { build(out); }), ElementsAre("faults.links.0", "faults.links.1"));
  EXPECT_THAT(problem_text([&] { build(out); }), HasSubstr("chip 0,0 cannot reach chip 1,0"));
  const ClusterSpec line = with(torus(v5e(), {1, 4}), {both(down({0, 1}, "y+"))});
  EXPECT_THAT(problem_keys([&] { build(line); }), ElementsAre("faults.cables.0")) << "once, not per direction";
  const ClusterSpec in =
      with(torus(v5e(), {4, 4}), {share({3, 3}, "x-", 1, 2), down({1, 0}, "x-"), down({0, 1}, "y-")});
  EXPECT_THAT(problem_keys([&] { build(in); }), ElementsAre("faults.links.1", "faults.links.2"));
}

// --- degraded links

TEST(Faults, AShareOfTheCapacityRoundedDown) {
  ClusterSpec spec = torus(v5e(), {4, 4});
  const auto capacity = [&](std::uint32_t part, std::uint32_t of) {
    const Cluster cluster = build(with(spec, {share({1, 2}, "y-", part, of)}));
    EXPECT_THAT(cluster.detours(), IsEmpty());
    EXPECT_EQ(cluster.faulty_links(), cluster.along(cluster.chip_at(std::vector<int>{1, 2}), 1, -1));
    return cluster.link(cluster.faulty_links().at(0)).capacity;
  };
  EXPECT_EQ(capacity(1, 2), 22'500'000'000);
  EXPECT_EQ(capacity(1, 7), 6'428'571'428) << "45e9 / 7 = 6428571428.57...";
  EXPECT_EQ(capacity(1, 1), 45'000'000'000);
  EXPECT_EQ(capacity(1, 4'000'000'000), 11);
  spec.chip.link_rate = 3;
  EXPECT_EQ(capacity(1, 100), 1) << "at least 1";
  spec.chip.link_rate = 300'000'000'000'000;
  EXPECT_EQ(capacity(4'294'967'290, 4'294'967'291), 299'999'999'930'150) << "3e14 x (1 - 1/4294967291), no overflow";
}

TEST(Faults, NothingElseChanges) {
  const Cluster healthy = build(torus(v5p(), {4, 4, 4}, 2));
  const Cluster cluster =
      build(with(torus(v5p(), {4, 4, 4}, 2), {share({0, 0, 0, 0}, "z+", 1, 2), down({0, 1, 1, 1}, "x-")}));
  ASSERT_EQ(cluster.links(), healthy.links());
  ASSERT_THAT(cluster.faulty_links(), SizeIs(2));
  const Network network = cluster.network();
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink was = healthy.link(id);
    const GraphLink is = cluster.link(id);
    const bool faulty = id == cluster.faulty_links()[0] || id == cluster.faulty_links()[1];
    EXPECT_EQ(is.kind, was.kind);
    EXPECT_EQ(is.latency, was.latency);
    EXPECT_EQ(is.down, is.kind == "ici x-" && faulty);
    EXPECT_EQ(is.capacity, is.down ? 1 : faulty ? was.capacity / 2 : was.capacity);
    EXPECT_EQ(network.capacity(id), is.capacity);
  }
  EXPECT_DOUBLE_EQ(cluster.bisection(), healthy.bisection());
  EXPECT_EQ(cluster.diameter(), healthy.diameter());
}

TEST(Faults, OfANicAllChipsOfTheHostFeel) {
  const Cluster cluster = build(
      with(torus(v5p(), {4, 4, 4}, 2), {share({0, 1, 1, 0}, "dcn up", 1, 5), share({1, 0, 0, 0}, "pcie down", 1, 2)}));
  EXPECT_EQ(cluster.link(cluster.along(0, 0, 1)[1]).capacity, 5'000'000'000) << "chip 0 is on the same 2x2x1";
  EXPECT_EQ(cluster.link(cluster.along(1, 0, 1)[1]).capacity, 25'000'000'000) << "the next plane is not";
  EXPECT_EQ(cluster.link(cluster.along(0, 0, 1)[3]).capacity, 8'000'000'000);
  EXPECT_EQ(cluster.link(cluster.along(64, 0, 1)[0]).capacity, 16'000'000'000) << "only downward";
}

TEST(Faults, OfACableBothDirectionsFeel) {
  const Cluster cluster = build(with(
      torus(v5p(), {4, 4, 4}, 2), {both(share({0, 3, 0, 0}, "x+", 1, 2)), both(share({0, 0, 0, 0}, "dcn up", 1, 5))}));
  ASSERT_THAT(cluster.faulty_links(), SizeIs(4));
  EXPECT_EQ(cluster.link(cluster.along(48, 1, 1)[0]).capacity, 45'000'000'000);
  EXPECT_EQ(cluster.link(cluster.along(0, 1, -1)[0]).capacity, 45'000'000'000) << "round the end and back";
  EXPECT_EQ(cluster.link(cluster.along(64, 0, 1)[2]).capacity, 5'000'000'000) << "into the host";
}

TEST(Faults, OfADevice) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.pcie_rate = 32'000'000'000;
  spec.devices = 4;
  spec.devices_per_switch = {2, 2};
  const Cluster cluster = build(with(spec, {share({2}, "pcie up", 1, 4), both(share({1}, "pcie down", 1, 2))}));
  EXPECT_EQ(cluster.link(cluster.routes(2, 3)[0].links[0]).capacity, 8'000'000'000);
  EXPECT_EQ(cluster.link(cluster.routes(3, 2)[0].links[1]).capacity, 32'000'000'000);
  EXPECT_EQ(cluster.link(cluster.routes(1, 0)[0].links[0]).capacity, 16'000'000'000);
  EXPECT_EQ(cluster.link(cluster.routes(0, 1)[0].links[1]).capacity, 16'000'000'000);
  EXPECT_THAT(cluster.faulty_links(), SizeIs(3));
  EXPECT_THAT(problem_text([&] { build(with(spec, {share({2}, "x+", 1, 4)})); }), HasSubstr("pcie up, pcie down"));
  EXPECT_THAT(problem_keys([&] { build(with(spec, {down({2}, "pcie up")})); }), ElementsAre("faults.links.0.down"));
}

// --- mistakes

TEST(Faults, MistakesNameTheirKeys) {
  const ClusterSpec slice = torus(v5e(), {4, 4});
  const auto keys = [&](std::vector<LinkFault> faults) { return problem_keys([&] { build(with(slice, faults)); }); };
  EXPECT_THAT(keys({share({0}, "x+", 1, 2)}), ElementsAre("faults.links.0.at"));
  EXPECT_THAT(keys({share({0, 4}, "x+", 1, 2)}), ElementsAre("faults.links.0.at"));
  EXPECT_THAT(keys({share({-1, 0}, "x+", 1, 2)}), ElementsAre("faults.links.0.at"));
  EXPECT_THAT(keys({share({0, 0}, "z+", 1, 2)}), ElementsAre("faults.links.0.port"));
  EXPECT_THAT(keys({share({0, 0}, "dcn up", 1, 2)}), ElementsAre("faults.links.0.port")) << "one slice has no NICs";
  EXPECT_THAT(keys({share({0, 0}, "x-", 1, 2)}), ElementsAre("faults.links.0.port")) << "an open end";
  EXPECT_THAT(keys({share({0, 0}, "x+", 0, 2)}), ElementsAre("faults.links.0"));
  EXPECT_THAT(keys({share({0, 0}, "x+", 3, 2)}), ElementsAre("faults.links.0"));
  EXPECT_THAT(keys({share({0, 0}, "x+", 1, 2), both(share({1, 0}, "x-", 1, 2))}), ElementsAre("faults.cables.0"))
      << "the same link from its other end";
  EXPECT_THAT(keys({both(down({9, 9}, "x+")), share({0, 0}, "q", 1, 2), share({7, 0}, "q", 1, 2)}),
              ElementsAre("faults.cables.0.at", "faults.links.0.port", "faults.links.1.at", "faults.links.1.port"));
  ClusterSpec slices = torus(v5p(), {4, 4, 4}, 2);
  EXPECT_THAT(problem_keys([&] {
                build(with(slices, {down({0, 0, 0, 0}, "dcn up")}));
              }),
              ElementsAre("faults.links.0.down"));
}

TEST(Faults, OfChipsAreChecked) {
  ClusterSpec spec = torus(v5e(), {4, 4});
  spec.chip_faults = {{{0, 1}, 11, 10}, {{3, 3}, 10, 9}};
  EXPECT_EQ(build(spec).spec().chip_faults[1].than, 9U);
  spec.chip_faults = {{{0, 1}, 11, 10}, {{0, 1}, 11, 10}, {{0, 4}, 2, 1}, {{1, 1}, 9, 10}, {{2, 2}, 1, 0}};
  EXPECT_THAT(problem_keys([&] { build(spec); }),
              ElementsAre("faults.chips.1.at", "faults.chips.2.at", "faults.chips.3", "faults.chips.4"));
}

}  // namespace
}  // namespace stepsim::testing
