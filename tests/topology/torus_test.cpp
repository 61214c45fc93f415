// The ICI torus: links, diameter, bisection, ways along axes and between pairs.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "chips.h"
#include "topology/link_graph.h"
#include "topology/torus_shape.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ClusterSpec ring_of(int extent) {
  ClusterSpec spec = torus(v5p(), {extent, 1, 1});
  spec.wraps = {true, false, false};
  return spec;
}

ChipId at(const Cluster& cluster, const std::vector<int>& coordinates) {
  return cluster.chip_at(coordinates);
}

TEST(Torus, ChipsCountRowMajor) {
  const Cluster cluster = build(torus(v5p(), {4, 8, 12}));
  EXPECT_EQ(at(cluster, {0, 0, 1}), 1U);
  EXPECT_EQ(at(cluster, {0, 1, 0}), 12U);
  EXPECT_EQ(at(cluster, {1, 0, 0}), 96U);
  EXPECT_THAT(cluster.coordinates(383), ElementsAre(3, 7, 11));
  EXPECT_THROW(at(cluster, {0, 0, 12}), std::out_of_range);
  EXPECT_THROW(at(cluster, {0, 0}), std::out_of_range);
  EXPECT_THROW((void)cluster.coordinates(384), std::out_of_range);
}

// A torus chip has two links out per axis; the book: v5p has 6 links of 90 GB/s, 540 GB/s of egress.
TEST(Torus, EveryChipOfATorusHasTwoLinksPerAxis) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 8}));
  std::vector<std::int64_t> egress(cluster.chips(), 0);
  std::vector<std::int64_t> ingress(cluster.chips(), 0);
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    egress[link.from] += link.capacity;
    ingress[link.to] += link.capacity;
  }
  EXPECT_THAT(egress, ::testing::Each(540'000'000'000));
  EXPECT_THAT(ingress, ::testing::Each(540'000'000'000));
}

// A mesh of A x B has A (B-1) + B cables.
TEST(Torus, AnOpenMeshHasNoLinksPastItsEnds) {
  EXPECT_EQ(build(torus(v5e(), {4, 8})).links(), 2U * (4 * 7 + 8 * 3));
  EXPECT_EQ(build(torus(v5e(), {1, 1})).links(), 0U);
}

TEST(Torus, AWrappedAxisOfTwoHasTwoCables) {
  const Cluster cluster = build(ring_of(2));
  EXPECT_EQ(cluster.links(), 4U);
  EXPECT_NE(cluster.along(0, 0, 1), cluster.along(0, 0, -1));
  EXPECT_EQ(cluster.link(cluster.along(0, 0, 1).front()).to, 1U);
  EXPECT_EQ(cluster.link(cluster.along(0, 0, -1).front()).to, 1U);
}

// Longest way: half of each ring, all of each line (book: a torus halves the hops). The graph search agrees.
TEST(Torus, DiameterIsTheSumOfHalfRingsAndLines) {
  struct Row {
    ChipSpec chip;
    std::vector<int> shape;
    int hops;
  };
  for (const Row& row : std::vector<Row>{{v5p(), {4, 4, 4}, 6},
                                         {v5p(), {4, 8, 12}, 12},
                                         {v5p(), {2, 4, 4}, 7},
                                         {v5e(), {16, 16}, 16},
                                         {v5e(), {8, 16}, 15},
                                         {v5e(), {4, 4}, 6}}) {
    const Cluster cluster = build(torus(row.chip, row.shape));
    EXPECT_EQ(cluster.diameter(), row.hops) << shape_text(row.shape);
    const LinkGraph graph = link_graph(cluster);
    int farthest = 0;
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      const std::vector<int> distances = graph.distances(chip);
      farthest = std::max(farthest, *std::max_element(distances.begin(), distances.end()));
    }
    EXPECT_EQ(farthest, row.hops) << shape_text(row.shape);
  }
}

// Cloud TPU docs, bisection per pod (nominal link rates): v5e 1.6 TB/s, v6e 3.2 TB/s, v3 6.4 TB/s, v4 24 TB/s.
TEST(Torus, BisectionOfPodsAsInTheDocs) {
  const auto bisection = [](ChipSpec chip, std::vector<int> shape, std::int64_t link_rate) {
    chip.link_rate = link_rate;
    return build(torus(chip, std::move(shape))).bisection();
  };
  EXPECT_DOUBLE_EQ(bisection(v5e(), {16, 16}, 50'000'000'000), 1.6e12);
  EXPECT_DOUBLE_EQ(bisection(v6e(), {16, 16}, 100'000'000'000), 3.2e12);
  EXPECT_DOUBLE_EQ(bisection(v3(), {32, 32}, 100'000'000'000), 6.4e12);
  EXPECT_NEAR(bisection(v4(), {16, 16, 16}, 47'000'000'000), 24e12, 0.01 * 24e12);
}

// The narrowest cut: across the longest axis, or across an open one; by hand.
TEST(Torus, BisectionTakesTheNarrowestCut) {
  EXPECT_DOUBLE_EQ(build(torus(v5p(), {4, 8, 8})).bisection(), 2.0 * 4 * 8 * 90e9);
  EXPECT_DOUBLE_EQ(build(torus(v5e(), {8, 16})).bisection(), 2.0 * 8 * 45e9);
  EXPECT_DOUBLE_EQ(build(torus(v5e(), {8, 8})).bisection(), 8 * 45e9);
  EXPECT_DOUBLE_EQ(build(torus(v5e(), {1, 1})).bisection(), 0);
}

TEST(Torus, AlongGoesStraightAndRound) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}));
  const std::vector<LinkId> round = cluster.along(at(cluster, {1, 3, 2}), 1, 2);
  EXPECT_THAT(round, SizeIs(2));
  EXPECT_TRUE(connects(cluster, round, at(cluster, {1, 3, 2}), at(cluster, {1, 1, 2})));
  EXPECT_EQ(cluster.link(round[0]).kind, "ici y+");
  const std::vector<LinkId> down = cluster.along(at(cluster, {0, 0, 0}), 2, -1);
  EXPECT_TRUE(connects(cluster, down, at(cluster, {0, 0, 0}), at(cluster, {0, 0, 3})));
  EXPECT_EQ(cluster.link(down[0]).kind, "ici z-");
  EXPECT_THAT(cluster.along(0, 0, 0), IsEmpty());
}

TEST(Torus, AlongStopsAtOpenEnds) {
  const Cluster cluster = build(torus(v5e(), {4, 4}));
  EXPECT_THAT(cluster.along(at(cluster, {0, 0}), 0, 3), SizeIs(3));
  EXPECT_THROW((void)cluster.along(at(cluster, {0, 0}), 0, 4), std::out_of_range);
  EXPECT_THROW((void)cluster.along(at(cluster, {0, 0}), 0, -1), std::out_of_range);
  EXPECT_THROW((void)cluster.along(at(cluster, {0, 0}), 2, 1), std::out_of_range);
  EXPECT_THROW((void)cluster.along(16, 0, 1), std::out_of_range);
}

// Neighbour steps of all chips use every link once: what a ring on each axis relies on.
TEST(Torus, NeighbourStepsUseEveryLinkOnce) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 8}));
  std::set<LinkId> used;
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    for (int axis = 0; axis < 3; ++axis) {
      used.insert(cluster.along(chip, axis, 1).front());
      used.insert(cluster.along(chip, axis, -1).front());
    }
  }
  EXPECT_EQ(used.size(), cluster.links());
}

// "How To Scale Your Model", chapter 2, question 5: corner to corner of a 4x4 v5e is 6 hops over two ways at once.
TEST(Torus, CornerToCornerHasTwoDisjointRoutes) {
  const Cluster cluster = build(torus(v5e(), {4, 4}));
  const std::vector<WeightedRoute> routes = cluster.routes(at(cluster, {0, 0}), at(cluster, {3, 3}));
  ASSERT_THAT(routes, SizeIs(2));
  std::set<LinkId> links;
  for (const WeightedRoute& route : routes) {
    EXPECT_THAT(route.links, SizeIs(6));
    EXPECT_EQ(route.weight, 1);
    EXPECT_TRUE(connects(cluster, route.links, at(cluster, {0, 0}), at(cluster, {3, 3})));
    links.insert(route.links.begin(), route.links.end());
  }
  EXPECT_THAT(links, SizeIs(12)) << "no link is on both";
}

TEST(Torus, ThreeAxesGiveThreeDisjointRoutes) {
  const Cluster cluster = build(torus(v5p(), {8, 8, 8}));
  const std::vector<WeightedRoute> routes = cluster.routes(0, at(cluster, {1, 2, 7}));
  ASSERT_THAT(routes, SizeIs(3));
  std::set<LinkId> links;
  for (const WeightedRoute& route : routes) links.insert(route.links.begin(), route.links.end());
  EXPECT_THAT(links, SizeIs(3 * (1 + 2 + 1)));
}

TEST(Torus, AntipodeOfARingIsReachedBothWaysRound) {
  const Cluster even = build(ring_of(8));
  ASSERT_THAT(even.routes(1, 5), SizeIs(2));
  EXPECT_EQ(even.routes(1, 5)[0].links, even.along(1, 0, 4));
  EXPECT_EQ(even.routes(1, 5)[1].links, even.along(1, 0, -4));
  EXPECT_EQ(even.routes(1, 5)[0].weight, even.routes(1, 5)[1].weight);
  EXPECT_THAT(even.routes(1, 4), SizeIs(1));
  const Cluster odd = build(ring_of(7));
  for (ChipId to = 1; to < 7; ++to) EXPECT_THAT(odd.routes(0, to), SizeIs(1));
}

TEST(Torus, ARouteToItselfHasNoLinks) {
  const std::vector<WeightedRoute> routes = build(ring_of(4)).routes(2, 2);
  ASSERT_THAT(routes, SizeIs(1));
  EXPECT_THAT(routes[0].links, IsEmpty());
}

// Every route is as short as a search finds and leads where it should, on rings, lines and a mix.
TEST(Torus, RoutesAreShortest) {
  ClusterSpec mixed = torus(v5p(), {3, 4, 5});
  mixed.wraps = {true, false, true};
  for (const ClusterSpec& spec : {mixed, torus(v5e(), {4, 3}), torus(v5p(), {4, 4, 4})}) {
    const Cluster cluster = build(spec);
    const LinkGraph graph = link_graph(cluster);
    for (ChipId from = 0; from < cluster.chips(); ++from) {
      const std::vector<int> distances = graph.distances(from);
      for (ChipId to = 0; to < cluster.chips(); ++to) {
        std::set<std::vector<LinkId>> different;
        for (const WeightedRoute& route : cluster.routes(from, to)) {
          ASSERT_EQ(static_cast<int>(route.links.size()), distances[to]);
          ASSERT_TRUE(connects(cluster, route.links, from, to));
          ASSERT_TRUE(different.insert(route.links).second) << "a route twice";
        }
      }
    }
  }
}

TEST(Torus, NetworkHasTheLinksOfTheGraph) {
  const Cluster cluster = build(torus(v5e(), {4, 4}));
  const Network network = cluster.network();
  ASSERT_EQ(network.links(), cluster.links());
  EXPECT_EQ(network.routes(), 0U);
  for (LinkId link = 0; link < network.links(); ++link) {
    EXPECT_EQ(network.capacity(link), cluster.link(link).capacity);
    EXPECT_EQ(network.latency(link), cluster.link(link).latency);
  }
}

}  // namespace
}  // namespace stepsim::testing
