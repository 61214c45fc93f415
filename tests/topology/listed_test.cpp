// Listed graphs. Expected routes and cuts by hand on small graphs.
#include <gmock/gmock.h>

#include "nodes.h"
#include "topology/graph_cut.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<LinkId> route(const Cluster& cluster, ChipId from, ChipId to) {
  return cluster.routes(from, to)[0].links;
}

TEST(Listed, ChipsCountAsListedAndLinksToo) {
  ClusterSpec spec = listed({"b"}, {"hub"}, {wire("a", "hub"), wire("hub", "b", 2 * giga)});
  spec.graph.vertices.push_back({VertexKind::chip, "a"});
  const Cluster cluster = build(spec);
  EXPECT_EQ(cluster.chips(), 2U);
  EXPECT_EQ(cluster.vertex(0).name, "b");
  EXPECT_EQ(cluster.vertex(1).name, "a");
  EXPECT_EQ(cluster.vertex(2).name, "hub");
  ASSERT_EQ(cluster.links(), 4U);
  EXPECT_THAT(route(cluster, 1, 0), ElementsAre(0, 2)) << "there is the even id, back the odd one";
  EXPECT_THAT(route(cluster, 0, 1), ElementsAre(3, 1));
  ASSERT_THAT(cluster.axes(), SizeIs(1));
  EXPECT_EQ(cluster.axes()[0].name, "device");
  EXPECT_EQ(cluster.axes()[0].extent, 2);
  EXPECT_TRUE(cluster.axes()[0].direct);
  EXPECT_FALSE(cluster.routes_are_words());
  EXPECT_EQ(cluster.along(0, 0, 1), route(cluster, 0, 1));
  EXPECT_EQ(cluster.along(0, 0, -1), route(cluster, 0, 1));
  EXPECT_EQ(cluster.diameter(), 2);
}

TEST(Listed, OneWayCablesCarryOneWay) {
  GraphCable there = wire("a", "b");
  there.both_ways = false;
  GraphCable back = wire("b", "a", 3 * giga);
  back.both_ways = false;
  const Cluster cluster = build(listed({"a", "b"}, {}, {there, back}));
  EXPECT_EQ(cluster.links(), 2U);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 1), 1e9);
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 1, 0), 3e9);
  EXPECT_DOUBLE_EQ(cluster.bisection(), 1e9) << "the worse direction";
}

// Three ways of two links: by s 1 GB/s, by t 2 GB/s, by u 2 GB/s. And one of three links, of 9 GB/s.
TEST(Listed, FewestLinksThenTheWidestThenTheFirst) {
  const Cluster cluster = build(listed({"a", "b"}, {"s", "t", "u", "v", "w"},
                                       {wire("a", "s"), wire("s", "b", 5 * giga), wire("a", "u", 2 * giga),
                                        wire("a", "t", 4 * giga), wire("t", "b", 2 * giga), wire("u", "b", 2 * giga),
                                        wire("a", "v", 9 * giga), wire("v", "w", 9 * giga), wire("w", "b", 9 * giga)}));
  EXPECT_THAT(route(cluster, 0, 1), ElementsAre(4, 10)) << "a-u-b: as wide as a-t-b, and a-u comes first";
}

// Of two parallel cables the wider one, though it is listed later.
TEST(Listed, ParallelCables) {
  const Cluster cluster = build(listed({"a", "b"}, {}, {wire("a", "b"), wire("a", "b", 2 * giga)}));
  EXPECT_THAT(route(cluster, 0, 1), ElementsAre(2));
}

// A line a-b-c and a longer way a-s-t-c round b.
TEST(Listed, ChipsDoNotForwardUnlessTheyRelay) {
  ClusterSpec spec = listed({"a", "b", "c"}, {"s", "t"},
                            {wire("a", "b"), wire("b", "c"), wire("a", "s"), wire("s", "t"), wire("t", "c")});
  EXPECT_THAT(route(build(spec), 0, 2), ElementsAre(4, 6, 8));
  spec.graph.chips_relay = true;
  EXPECT_THAT(route(build(spec), 0, 2), ElementsAre(0, 2));
}

// What a switch can carry in all: two transfers through it share 3 GB/s, and the wider core is preferred.
TEST(Listed, AVertexWithALinkToItself) {
  const Cluster cluster = build(listed({"a", "b"}, {"s", "t"},
                                       {wire("a", "s", 9 * giga), wire("s", "b", 9 * giga), wire("s", "s", 3 * giga),
                                        wire("a", "t", 4 * giga), wire("t", "b", 4 * giga)}));
  EXPECT_THAT(route(cluster, 0, 1), ElementsAre(5, 7)) << "4 GB/s by t, against 3 GB/s of the core of s";
  const Cluster one = build(listed({"a", "b"}, {"s"}, {wire("a", "s"), wire("s", "b"), wire("s", "s", giga / 4)}));
  EXPECT_THAT(route(one, 0, 1), ElementsAre(0, 4, 2));
  EXPECT_DOUBLE_EQ(rate_alone(one, 0, 1), 0.25e9);
  EXPECT_DOUBLE_EQ(one.bisection(), 0.25e9);
}

// Chips on a switch, a memory beside it, and a direct cable between the first two.
TEST(Listed, StagedGraphsGoThroughMemoryExceptFromChipToChip) {
  ClusterSpec spec = listed(
      {"a", "b", "c"}, {},
      {wire("a", "sw"), wire("b", "sw"), wire("c", "sw"), wire("sw", "mem"), wire("a", "b"), wire("mem", "mem", giga)});
  spec.graph.vertices.push_back({VertexKind::pcie_switch, "sw"});
  spec.graph.vertices.push_back({VertexKind::host_memory, "mem"});
  EXPECT_THAT(route(build(spec), 0, 2), ElementsAre(0, 5));
  spec.graph.staged = true;
  const Cluster cluster = build(spec);
  EXPECT_THAT(route(cluster, 0, 2), ElementsAre(0, 6, 10, 10, 7, 5)) << "memory twice";
  EXPECT_THAT(route(cluster, 0, 1), ElementsAre(8));
  EXPECT_DOUBLE_EQ(rate_alone(cluster, 0, 2), 0.5e9);
}

// By hand: a ring of four chips is cut by two cables at least; with the diagonals of 1/4 GB/s each split also cuts
// those. The dumb split {0,1},{2,3} would cut the fat cables 1-2 and 3-0; {0,3},{1,2} cuts the thin ones.
TEST(Listed, BisectionIsTheBestSplit) {
  const Cluster cluster = build(
      listed({"a", "b", "c", "d"}, {"s"},
             {wire("a", "b"), wire("b", "c", 7 * giga), wire("c", "d"), wire("d", "a", 7 * giga),
              wire("a", "s", giga / 4), wire("b", "s", giga / 4), wire("c", "s", giga / 4), wire("d", "s", giga / 4)}));
  EXPECT_DOUBLE_EQ(cluster.bisection(), 2.5e9);
}

// Three chips on a switch: one against two, by the one's cable.
TEST(Listed, BisectionOfOddNumbersAndOfOne) {
  EXPECT_DOUBLE_EQ(
      build(listed({"a", "b", "c"}, {"s"}, {wire("a", "s", 5), wire("b", "s", 3), wire("c", "s", 9)})).bisection(), 3);
  EXPECT_DOUBLE_EQ(build(listed({"a"}, {}, {})).bisection(), 0);
}

// Above 16 chips the halves are those in listed order: 9 chips of 1 GB/s each on two switches with 4 GB/s between.
TEST(Listed, BisectionOfManyIsByOrder) {
  std::vector<std::string> chips;
  std::vector<GraphCable> cables = {wire("left", "right", 4 * giga)};
  for (int i = 0; i < 18; ++i) {
    chips.push_back("c" + std::to_string(i));
    cables.push_back(wire(chips.back(), i < 9 ? "left" : "right"));
  }
  ASSERT_GT(chips.size(), most_chips_to_split);
  EXPECT_DOUBLE_EQ(build(listed(chips, {"left", "right"}, cables)).bisection(), 4e9);
}

TEST(Listed, BadGraphsNameTheKeys) {
  const auto keys = [](const ClusterSpec& spec) { return problem_keys([&] { build(spec); }); };
  EXPECT_THAT(keys(listed({"a", "b", "a"}, {"s", "b"}, {wire("a", "b")})),
              ElementsAre("cluster.vertices.chip.2", "cluster.vertices.network_switch.1"));
  EXPECT_THAT(keys(listed({}, {"s"}, {})), ElementsAre("cluster.vertices"));
  EXPECT_THAT(
      keys(listed({"a", "b"}, {}, {wire("a", "b", 0), wire("a", "c"), wire("d", "b", max_capacity + 1)})),
      ElementsAre("cluster.links.0.rate", "cluster.links.1.to", "cluster.links.2.from", "cluster.links.2.rate"));
  EXPECT_THAT(keys(listed({"a"}, {}, {wire("a", "a")})), ElementsAre("cluster.links.0.to"));
  EXPECT_THAT(problem_text([] {
                build(listed({"gpu0", "gpu1"}, {}, {wire("gpu0", "gpu2")}));
              }),
              HasSubstr("did you mean 'gpu"));
}

TEST(Listed, PairsWithoutARouteAreNamed) {
  const ClusterSpec spec = listed({"a", "b", "c"}, {}, {wire("a", "b"), wire("b", "c")});
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.links"));
  EXPECT_THAT(problem_text([&] { build(spec); }), HasSubstr("from 'a' to 'c'"));
  EXPECT_THAT(problem_text([&] { build(spec); }), HasSubstr("without leading through other chips"));
}

LinkFault fault(int chip, const std::string& port, bool both_directions = false) {
  return {{chip}, port, both_directions, 1, 2, false};
}

TEST(ListedFaults, PortsAreNamedByWhereTheyLead) {
  ClusterSpec spec = listed({"a", "b"}, {"s"}, {wire("a", "s"), wire("s", "b"), wire("b", "s", 3 * giga)});
  spec.link_faults = {fault(0, "s", true), fault(1, "from s"), fault(1, "s #2")};
  const Cluster cluster = build(spec);
  EXPECT_THAT(cluster.faulty_links(), ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(cluster.link(0).capacity, giga / 2);
  EXPECT_EQ(cluster.link(4).capacity, 3 * giga / 2);
  spec.link_faults = {fault(0, "b")};
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("faults.links.0.port"));
  spec.link_faults = {fault(0, "s #2")};
  EXPECT_THAT(problem_text([&] { build(spec); }), HasSubstr("chip [0] has no link s #2"));
}

// The direct cable down: by the switch; that down too: cut off.
TEST(ListedFaults, TransfersGoRoundALinkThatIsDown) {
  ClusterSpec spec = listed({"a", "b"}, {"s"}, {wire("a", "b"), wire("a", "s"), wire("s", "b")});
  EXPECT_THAT(route(build(spec), 0, 1), ElementsAre(0));
  spec.link_faults = {{{0}, "b", false, 1, 1, true}};
  EXPECT_THAT(route(build(spec), 0, 1), ElementsAre(2, 4));
  EXPECT_THAT(route(build(spec), 1, 0), ElementsAre(1)) << "one direction alone is down";
  spec.link_faults.push_back({{0}, "s", false, 1, 1, true});
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("faults.links.0.down"));
}

}  // namespace
}  // namespace stepsim::testing
