// Twisted tori: the lattice they are, their distances, cuts and cables.
//
// Sums of distances from one chip to all (Camarero, Martinez & Beivide 2013, arXiv 1311.2019, average distances of the
// face-centred and body-centred cubic lattice graphs, even K; by hand for K = 4 below):
//   K x K x 2K     K^2 (7 K^2 - 2) / 4          K x 2K x 2K     K^2 (35 K^2 - 8) / 8
// By hand, K x 2K x 2K: of a displacement with |a|, |b|, |c| <= K (each chip shows up twice), s = |a| + |b| + |c|, the
// other representative is K - |a|, ...: distance min(s, 3K - s). K = 4: of the 512 displacements there are 1, 6, 18, 38,
// 63, 84, 92 with s = 0 ... 6 and the same again from 12 down, so 1, 6, 18, 38, 63, 84, 46 chips at distances 0 ... 6:
// a sum of 6 + 36 + 114 + 252 + 420 + 276 = 1104.
#include "topology/twist.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "chips.h"
#include "topology/link_graph.h"
#include "topology/mesh.h"
#include "topology/torus_shape.h"

namespace stepsim::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::SizeIs;

ClusterSpec twisted(const ChipSpec& chip, std::vector<int> shape, int slices = 1) {
  ClusterSpec spec = torus(chip, std::move(shape), slices);
  spec.twisted = true;
  return spec;
}

ChipId at(const Cluster& cluster, std::vector<int> coordinates) {
  return cluster.chip_at(coordinates);
}

// Cloud TPU docs (v4): 4x4x8, 4x8x8, 8x8x16, 12x12x24 can be twisted; cubes and 16x16x24 cannot.
TEST(Twist, OnlyExtentsOfKAndTwiceK) {
  const std::vector<int> none;
  EXPECT_THAT(twists_of({4, 4, 8}), Optional(Eq(Twists{{0, 0, 4}, {0, 0, 4}, none})));
  EXPECT_THAT(twists_of({4, 8, 8}), Optional(Eq(Twists{{0, 4, 4}, none, none})));
  EXPECT_THAT(twists_of({8, 4, 4}), Optional(Eq(Twists{none, {4, 0, 0}, {4, 0, 0}})));
  EXPECT_TRUE(twists_of({12, 12, 24}));
  EXPECT_TRUE(twists_of({16, 8, 16}));
  for (const std::vector<int>& shape :
       std::vector<std::vector<int>>{{4, 4, 4}, {16, 16, 24}, {4, 8, 12}, {4, 4, 12}, {4, 8, 16}, {1, 1, 2}, {4, 8}}) {
    EXPECT_FALSE(twists_of(shape)) << shape.size() << " from " << shape[0];
  }
}

TEST(Twist, WhatCannotBeTwistedIsAnInputError) {
  EXPECT_THAT(problem_keys([] { build(twisted(v4(), {4, 4, 4})); }), ElementsAre("cluster.twisted"));
  EXPECT_THAT(problem_text([] {
                build(twisted(v4(), {4, 4, 4}));
              }),
              AllOf(HasSubstr("K x K x 2K"), HasSubstr("4x4x4")));
  EXPECT_THAT(problem_keys([] {
                build(twisted(v4(), {2, 2, 4}));
              }),
              ElementsAre("cluster.twisted"))
      << "below a cube nothing wraps";
  EXPECT_THAT(problem_text([] { build(twisted(v4(), {2, 2, 4})); }), HasSubstr("open: x, y, z"));
  EXPECT_THAT(problem_keys([] { build(twisted(v5e(), {8, 16})); }), ElementsAre("cluster.twisted", "cluster.twisted"));
  ClusterSpec open = twisted(v4(), {4, 4, 8});
  open.wraps = {true, true, false};
  EXPECT_THAT(problem_text([&] { build(open); }), HasSubstr("open: z"));
  open.slices = 0;
  EXPECT_THAT(problem_keys([&] { build(open); }), ElementsAre("cluster.slices", "cluster.twisted"));
}

struct Case {
  std::vector<int> shape;
  int distances;  // from a chip to all
  int farthest;
  double cut;  // links one way
};

std::vector<Case> cases() {
  return {{{4, 4, 8}, 440, 6, 4 * 16},       {{8, 8, 16}, 64 * 446 / 4, 12, 4 * 64},
          {{4, 8, 8}, 1104, 6, 8 * 16},      {{8, 4, 4}, 440, 6, 4 * 16},
          {{8, 4, 8}, 1104, 6, 8 * 16},      {{8, 16, 16}, 64 * 2232 / 8, 12, 8 * 64},
          {{12, 12, 24}, 36216, 18, 4 * 144}};
}

// By graph search over the links.
TEST(Twist, DistancesAndDiameter) {
  for (const Case& one : cases()) {
    const Cluster cluster = build(twisted(v5p(), one.shape));
    const LinkGraph graph = link_graph(cluster);
    for (const ChipId from : {ChipId{0}, cluster.chips() / 3, cluster.chips() - 1}) {
      const std::vector<int> distances = graph.distances(from);
      EXPECT_EQ(std::accumulate(distances.begin(), distances.end(), 0), one.distances) << shape_text(one.shape);
      EXPECT_EQ(*std::max_element(distances.begin(), distances.end()), one.farthest) << shape_text(one.shape);
    }
    EXPECT_EQ(cluster.diameter(), one.farthest);
  }
}

// Twice the narrowest cut of the regular torus: 2 planes of K x 2K or 2K x 2K chips against 2 of K x K or K x 2K.
TEST(Twist, BisectionIsTwiceThatOfTheRegularTorus) {
  for (const Case& one : cases()) {
    const double cut = build(twisted(v5p(), one.shape)).bisection();
    EXPECT_DOUBLE_EQ(cut, one.cut * 90e9) << shape_text(one.shape);
    EXPECT_DOUBLE_EQ(cut, 2 * build(torus(v5p(), one.shape)).bisection());
  }
}

// Counted: links one way out of the half of the slice with the lower coordinates along an axis.
TEST(Twist, NoHalfAlongAnAxisHasANarrowerCut) {
  for (const Case& one : cases()) {
    const Cluster cluster = build(twisted(v5p(), one.shape));
    double narrowest = 0;
    for (int axis = 0; axis < 3; ++axis) {
      int links = 0;
      for (LinkId id = 0; id < cluster.links(); ++id) {
        const GraphLink link = cluster.link(id);
        const auto low = [&](VertexId chip) { return cluster.coordinates(chip)[axis] < one.shape[axis] / 2; };
        links += low(link.from) && !low(link.to) ? 1 : 0;
      }
      narrowest = narrowest == 0 ? links : std::min<double>(narrowest, links);
    }
    EXPECT_EQ(narrowest, one.cut) << shape_text(one.shape);
  }
}

TEST(Twist, CablesLeadToAnotherRow) {
  const Cluster cluster = build(twisted(v4(), {4, 4, 8}));
  EXPECT_EQ(cluster.step(at(cluster, {3, 1, 2}), 0, 1), at(cluster, {0, 1, 6}));
  EXPECT_EQ(cluster.step(at(cluster, {0, 1, 2}), 0, -1), at(cluster, {3, 1, 6}));
  EXPECT_EQ(cluster.step(at(cluster, {1, 3, 7}), 1, 2), at(cluster, {1, 1, 3}));
  EXPECT_EQ(cluster.step(at(cluster, {1, 2, 7}), 2, 2), at(cluster, {1, 2, 1})) << "the long axis is a plain ring";
  EXPECT_EQ(cluster.step(at(cluster, {1, 2, 3}), 0, 8), at(cluster, {1, 2, 3})) << "twice round x";
  const Cluster other = build(twisted(v4(), {4, 8, 8}));
  EXPECT_EQ(other.step(at(other, {3, 1, 7}), 0, 1), at(other, {0, 5, 3}));
  EXPECT_EQ(other.step(at(other, {0, 7, 0}), 1, 1), at(other, {0, 0, 0}));
}

TEST(Twist, AlongFollowsTheCablesAndEveryChipHasSix) {
  for (const Cluster& cluster : {build(twisted(v4(), {4, 4, 8})), build(twisted(v4(), {8, 4, 8}, 2))}) {
    const int first = cluster.axes().size() == 4 ? 1 : 0;
    std::vector<int> in(cluster.chips(), 0);
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      for (int axis = first; axis < first + 3; ++axis) {
        for (const int hops : {1, -1, 3, -5, 9}) {
          EXPECT_TRUE(connects(cluster, cluster.along(chip, axis, hops), chip, cluster.step(chip, axis, hops)));
        }
        EXPECT_EQ(cluster.step(cluster.step(chip, axis, 1), axis, -1), chip);
      }
    }
    for (LinkId id = 0; id < cluster.links(); ++id) {
      if (cluster.link(id).to < cluster.chips() && cluster.link(id).from < cluster.chips()) ++in[cluster.link(id).to];
    }
    EXPECT_THAT(in, ::testing::Each(6));
  }
}

TEST(Twist, RoutesAreShortestAndLoadAllLinksAlike) {
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{4, 4, 8}, {4, 8, 8}, {8, 4, 4}}) {
    const Cluster cluster = build(twisted(v4(), shape));
    const std::vector<int> distances = link_graph(cluster).distances(0);
    std::map<std::string, double> load;  // from one chip, by port: the same on every link of all chips
    for (ChipId to = 1; to < cluster.chips(); ++to) {
      const std::vector<WeightedRoute> routes = cluster.routes(0, to);
      for (const WeightedRoute& route : routes) {
        EXPECT_THAT(route.links, SizeIs(distances[to]));
        EXPECT_TRUE(connects(cluster, route.links, 0, to));
        for (const LinkId link : route.links) load[cluster.link(link).kind] += 1.0 / static_cast<double>(routes.size());
      }
    }
    const double each = std::accumulate(distances.begin(), distances.end(), 0.0) / 6;
    EXPECT_THAT(load, SizeIs(6));
    for (const auto& [port, hops] : load) EXPECT_NEAR(hops, each, 1e-9) << port;
  }
}

// The chip half way up the long axis of 4x4x8: four hops along z either way, or round x or y either way.
TEST(Twist, WaysRoundAShiftedAxisCountWhereTheyAreAsShort) {
  const std::vector<TwistAxis> axes{{4, true, {0, 0, 4}}, {4, true, {0, 0, 4}}, {8, true, {}}};
  EXPECT_THAT(shortest_steps(axes, {0, 0, 4}),
              ElementsAre(ElementsAre(4, 0, 0), ElementsAre(0, 4, 0), ElementsAre(0, 0, 4), ElementsAre(0, 0, -4),
                          ElementsAre(0, -4, 0), ElementsAre(-4, 0, 0)));
  EXPECT_THAT(shortest_steps(axes, {1, 0, 0}), ElementsAre(ElementsAre(1, 0, 0)));
  EXPECT_THAT(shortest_steps(axes, {3, 0, 4}), ElementsAre(ElementsAre(-1, 0, 0)));
  EXPECT_THAT(shortest_steps({{4, false, {}}, {4, true, {}}}, {-3, 2}),
              ElementsAre(ElementsAre(-3, 2), ElementsAre(-3, -2)));
}

// A detour stays in the slice and the slice stays connected.
TEST(Twist, ALinkDownIsGoneRound) {
  ClusterSpec spec = twisted(v4(), {4, 4, 8});
  LinkFault fault;
  fault.at = {3, 0, 0};
  fault.port = "x+";
  fault.down = true;
  spec.link_faults = {fault};
  const Cluster cluster = build(spec);
  const ChipId from = at(cluster, {3, 0, 0});
  const std::vector<LinkId> way = cluster.along(from, 0, 1);
  EXPECT_THAT(way, SizeIs(3));
  EXPECT_TRUE(connects(cluster, way, from, at(cluster, {0, 0, 4})));
}

TEST(Twist, GroupsKnowWhichShiftsStayInside) {
  const Cluster cluster = build(twisted(v4(), {4, 4, 8}));
  const auto digit = [](int axis, int extent, int stride = 1) { return AxisDigit{axis, extent, stride}; };
  const Mesh whole(cluster, {{"a", 128}}, {{{digit(0, 4), digit(1, 4), digit(2, 8)}}});
  EXPECT_THAT(whole.group_shape({0}), ElementsAre(GroupAxis{0, 4, 1, false, {0, 0, 4}},
                                                  GroupAxis{1, 4, 1, false, {0, 0, 4}}, GroupAxis{2, 8, 1, true, {}}));
  const Mesh planes(cluster, {{"a", 32}, {"b", 4}}, {{{digit(2, 8), digit(0, 4)}, {digit(1, 4)}}});
  EXPECT_THAT(planes.group_shape({0}), ElementsAre(GroupAxis{2, 8, 1, true, {}}, GroupAxis{0, 4, 1, false, {4, 0}}));
  EXPECT_THAT(planes.group_shape({1}), ElementsAre(GroupAxis{1, 4, 1, false, {}})) << "alone, a line";
  const Mesh halves(cluster, {{"a", 64}, {"b", 2}}, {{{digit(0, 4), digit(1, 4), digit(2, 4)}, {digit(2, 2, 4)}}});
  EXPECT_THAT(halves.group_shape({0}),
              ElementsAre(GroupAxis{0, 4, 1, false, {}}, GroupAxis{1, 4, 1, false, {}}, GroupAxis{2, 4, 1, false, {}}));
}

}  // namespace
}  // namespace stepsim::testing
