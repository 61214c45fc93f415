// partition_test.cpp: the coarsest equitable partition, against naive colour refinement: give every node the multiset of
// (label, direction, colour of the neighbour) as its next colour until no more colours appear (Weisfeiler & Leman 1968;
// Berkholz, Bonsma & Grohe 2013 call it 1-dimensional Weisfeiler-Leman).
#include "topology/partition.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

namespace stepsim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Colours = std::vector<std::uint32_t>;

struct Graph {
  Colours colours;
  std::vector<LabelledEdges> edges;
};

std::size_t count(const Colours& colours) {
  return std::set<std::uint32_t>(colours.begin(), colours.end()).size();
}

std::vector<LabelledEdges> one_label(const LabelledEdges& to) {
  return std::vector<LabelledEdges>(1, to);
}

/// One round: equal only if the colours and all neighbours' are. Numbers go by first appearance, so by lowest node.
Colours recoloured(const Graph& graph, const Colours& colours) {
  using Neighbour = std::tuple<std::size_t, int, std::uint32_t>;  // label, direction, colour
  std::vector<std::vector<Neighbour>> around(colours.size());
  for (std::size_t label = 0; label < graph.edges.size(); ++label) {
    for (std::uint32_t from = 0; from < colours.size(); ++from) {
      const std::uint32_t to = graph.edges[label][from];
      if (to == no_node) continue;
      around[from].emplace_back(label, 0, colours[to]);
      around[to].emplace_back(label, 1, colours[from]);
    }
  }
  std::map<std::pair<std::uint32_t, std::vector<Neighbour>>, std::uint32_t> known;
  Colours next;
  for (std::size_t node = 0; node < colours.size(); ++node) {
    std::sort(around[node].begin(), around[node].end());
    next.push_back(
        known.try_emplace({colours[node], around[node]}, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return next;
}

Colours naive(const Graph& graph) {
  Colours colours = recoloured({graph.colours, {}}, graph.colours);
  while (true) {
    const Colours next = recoloured(graph, colours);
    if (count(next) == count(colours)) return next;
    colours = next;
  }
}

/// What any partition must say about itself, and that this one is the coarsest that is equitable.
void expect_coarsest(const Graph& graph) {
  const Partition found = refine(graph.colours, graph.edges);
  EXPECT_EQ(why_not_equitable(found, graph.colours, graph.edges), "");
  EXPECT_EQ(found.class_of, naive(graph)) << "classes count in the order of their lowest nodes";
  ASSERT_EQ(found.size.size(), found.first.size());
  std::vector<std::uint32_t> sizes(found.classes(), 0);
  for (std::uint32_t node = 0; node < graph.colours.size(); ++node) {
    const std::uint32_t one = found.class_of[node];
    if (sizes[one]++ == 0) {
      EXPECT_EQ(found.first[one], node);
    }
  }
  EXPECT_EQ(found.size, sizes);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::vector<std::uint32_t> order(std::size_t n) {
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0U);
    for (std::size_t i = n; i > 1; --i) std::swap(all[i - 1], all[below(i)]);
    return all;
  }

 private:
  std::mt19937_64 random_;
};

/// Any edges at all; `kept` of 8 nodes have one of each label.
Graph any_graph(Draw& draw, std::size_t nodes, std::size_t labels, std::uint32_t colours, std::uint32_t kept) {
  Graph graph{Colours(nodes), std::vector<LabelledEdges>(labels, LabelledEdges(nodes, no_node))};
  for (std::uint32_t& colour : graph.colours) colour = draw.below(colours);
  for (LabelledEdges& label : graph.edges) {
    for (std::uint32_t& to : label) {
      if (draw.below(8) < kept) to = draw.below(nodes);
    }
  }
  return graph;
}

/// Copies of one graph beside each other under a random renaming: at least `copies` nodes to a class.
Graph copied(Draw& draw, const Graph& one, std::uint32_t copies) {
  const auto nodes = static_cast<std::uint32_t>(one.colours.size());
  const std::vector<std::uint32_t> name = draw.order(std::size_t{nodes} * copies);
  Graph all{Colours(name.size()), std::vector<LabelledEdges>(one.edges.size(), LabelledEdges(name.size(), no_node))};
  for (std::uint32_t node = 0; node < name.size(); ++node) {
    all.colours[name[node]] = one.colours[node % nodes];
    for (std::size_t label = 0; label < one.edges.size(); ++label) {
      const std::uint32_t to = one.edges[label][node % nodes];
      if (to != no_node) all.edges[label][name[node]] = name[node / nodes * nodes + to];
    }
  }
  return all;
}

/// A torus with a label for each axis; some nodes marked.
Graph marked_torus(Draw& draw, std::uint32_t x, std::uint32_t y, bool closed, std::uint32_t marks) {
  Graph graph{Colours(std::size_t{x} * y, 0), std::vector<LabelledEdges>(2, LabelledEdges(std::size_t{x} * y))};
  for (std::uint32_t node = 0; node < x * y; ++node) {
    const std::uint32_t i = node / y;
    const std::uint32_t j = node % y;
    graph.edges[0][node] = i + 1 < x || closed ? (i + 1) % x * y + j : no_node;
    graph.edges[1][node] = j + 1 < y || closed ? i * y + (j + 1) % y : no_node;
  }
  for (std::uint32_t m = 0; m < marks; ++m) graph.colours[draw.below(graph.colours.size())] = 1;
  return graph;
}

class RandomGraph : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGraph, IsSplitAsNaivelyRefined) {
  Draw draw(GetParam());
  for (int i = 0; i < 30; ++i) {
    const Graph graph = any_graph(draw, 1 + draw.below(40), draw.below(5), 1 + draw.below(4), draw.below(9));
    expect_coarsest(graph);
    expect_coarsest(copied(draw, graph, 2 + draw.below(3)));
    expect_coarsest(marked_torus(draw, 1 + draw.below(7), 1 + draw.below(7), draw.below(2) == 0, draw.below(3)));
  }
}

/// The same classes under other names, whatever the order of the work.
TEST_P(RandomGraph, IsSplitAlikeUnderOtherNames) {
  Draw draw(GetParam());
  const Graph one = copied(draw, any_graph(draw, 30, 3, 2, 6), 3);
  const std::vector<std::uint32_t> name = draw.order(one.colours.size());
  Graph other = one;
  for (std::uint32_t node = 0; node < name.size(); ++node) {
    other.colours[name[node]] = one.colours[node];
    for (std::size_t label = 0; label < one.edges.size(); ++label) {
      const std::uint32_t to = one.edges[label][node];
      other.edges[label][name[node]] = to == no_node ? no_node : name[to];
    }
  }
  const Partition a = refine(one.colours, one.edges);
  const Partition b = refine(other.colours, other.edges);
  EXPECT_EQ(a.classes(), b.classes());
  for (std::uint32_t node = 0; node < name.size(); ++node) {
    const std::uint32_t first = a.first[a.class_of[node]];
    EXPECT_EQ(b.class_of[name[node]], b.class_of[name[first]]);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, ::testing::Range<std::uint64_t>(1, 21));

TEST(Partition, OfNothingIsEmpty) {
  EXPECT_EQ(refine({}, {}).classes(), 0U);
  EXPECT_EQ(by_colour({}).classes(), 0U);
}

TEST(Partition, WithoutEdgesIsByColour) {
  const Partition found = refine({7, 3, 7, 0, 3}, {});
  EXPECT_THAT(found.class_of, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_THAT(found.first, ElementsAre(0, 1, 3));
  EXPECT_THAT(found.size, ElementsAre(2, 2, 1));
  EXPECT_EQ(by_colour({7, 3, 7, 0, 3}).class_of, found.class_of);
}

TEST(Partition, AnOpenLineOfOneDirectionTellsAllApart) {
  const LabelledEdges next{1, 2, 3, 4, no_node};
  EXPECT_EQ(refine(Colours(5, 0), one_label(next)).classes(), 5U);
}

/// Transfers both ways between neighbours: a line can be turned round, so ends are alike, and what lies equally deep.
TEST(Partition, AnOpenLineOfBothDirectionsIsItsOwnMirror) {
  // Nodes 0-5 are the line, 6-15 the transfers, with an edge to the sender and one to the receiver.
  Graph graph{Colours(16, 0), std::vector<LabelledEdges>(2, LabelledEdges(16, no_node))};
  for (std::uint32_t i = 0; i < 5; ++i) {
    graph.edges[0][6 + 2 * i] = i;
    graph.edges[1][6 + 2 * i] = i + 1;
    graph.edges[0][7 + 2 * i] = i + 1;
    graph.edges[1][7 + 2 * i] = i;
    graph.colours[6 + 2 * i] = graph.colours[7 + 2 * i] = 1;
  }
  const Partition found = refine(graph.colours, graph.edges);
  EXPECT_THAT(Colours(found.class_of.begin(), found.class_of.begin() + 6), ElementsAre(0, 1, 2, 2, 1, 0));
}

// The limit of colour refinement, in our favour or not: two triangles and a hexagon look alike from every node.
TEST(Partition, TwoTrianglesAndAHexagonAreAlike) {
  const LabelledEdges next{1, 2, 0, 4, 5, 3, 7, 8, 9, 10, 11, 6};
  EXPECT_EQ(refine(Colours(12, 0), one_label(next)).classes(), 1U);
}

TEST(Partition, ACoarserOrFinerOneIsJudged) {
  const std::vector<LabelledEdges> line{{1, 2, 3, no_node}};
  const Colours colours(4, 0);
  EXPECT_THAT(why_not_equitable(by_colour(colours), colours, line), Not(IsEmpty())) << "the ends differ";
  EXPECT_EQ(why_not_equitable(by_colour({0, 1, 2, 3}), colours, line), "") << "finer than needed is equitable";
  EXPECT_THAT(why_not_equitable(by_colour(colours), {0, 0, 0, 1}, {}), Not(IsEmpty())) << "does not refine the colours";
  EXPECT_THAT(why_not_equitable(by_colour({0, 0, 1, 1}), colours, line), Not(IsEmpty()))
      << "1 leads into the other class, 0 does not";
}

/// A ring of 8 with the exchanges 0-1, 3-4, 6-7 over one link each way, and 2-5 over three, of which one is that of 3-4.
class RingOfEight : public ::testing::Test {
 protected:
  struct Transfer {
    std::uint32_t from, to;
  };
  const std::vector<Transfer> transfers{{0, 1}, {1, 0}, {3, 4}, {4, 3}, {6, 7}, {7, 6}, {2, 5}, {5, 2}};
  static std::uint32_t partner(std::uint32_t chip) { return std::vector<std::uint32_t>{1, 0, 5, 4, 3, 2, 7, 6}[chip]; }
};

TEST_F(RingOfEight, IsOneClassIfOnlyPartnersCount) {
  LabelledEdges partners;
  for (std::uint32_t chip = 0; chip < 8; ++chip) partners.push_back(partner(chip));
  EXPECT_EQ(refine(Colours(8, 0), one_label(partners)).classes(), 1U) << "which would be wrong to fold by";
}

TEST_F(RingOfEight, IsThreeClassesByTransfersAndTheirLinks) {
  constexpr std::uint32_t up = 16;    // link from chip i to i + 1
  constexpr std::uint32_t down = 24;  // from i to i - 1
  Graph graph{Colours(32, 0), std::vector<LabelledEdges>(5, LabelledEdges(32, no_node))};
  for (std::uint32_t t = 0; t < 8; ++t) {
    const auto [from, to] = transfers[t];
    const std::uint32_t node = 8 + t;
    graph.colours[node] = 1;
    graph.edges[0][node] = from;
    graph.edges[1][node] = to;
    for (std::uint32_t hop = 0; hop < (to > from ? to - from : from - to); ++hop) {
      graph.edges[2 + hop][node] = to > from ? up + from + hop : down + from - hop;
    }
  }
  std::fill(graph.colours.begin() + up, graph.colours.end(), 2);
  expect_coarsest(graph);
  const Partition found = refine(graph.colours, graph.edges);
  EXPECT_THAT(Colours(found.class_of.begin(), found.class_of.begin() + 8), ElementsAre(0, 0, 1, 2, 2, 1, 0, 0));
}

TEST_F(RingOfEight, IsEightClassesByPortsAndWords) {
  std::map<int, LabelledEdges> words;  // links, negative: downward
  LabelledEdges up;
  LabelledEdges down;
  for (std::uint32_t chip = 0; chip < 8; ++chip) {
    up.push_back((chip + 1) % 8);
    down.push_back((chip + 7) % 8);
    const int word = static_cast<int>(partner(chip)) - static_cast<int>(chip);
    words.try_emplace(word, LabelledEdges(8, no_node)).first->second[chip] = partner(chip);
  }
  std::vector<LabelledEdges> edges{up, down};
  for (const auto& [word, to] : words) edges.push_back(to);
  EXPECT_EQ(refine(Colours(8, 0), edges).classes(), 8U);
}

// Every split of the ring leaves parts of two; a refinement that looked at all nodes for each would take 10^12 / 4
// looks here and not come back. That of O(E log V) takes about 4 x 10^7.
TEST(Partition, AMillionNodesRoundAMarkedOneAreQuick) {
  constexpr std::uint32_t nodes = 1'000'000;
  LabelledEdges next(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) next[node] = (node + 1) % nodes;
  Colours colours(nodes, 0);
  colours[nodes / 3] = 1;
  const Partition found = refine(colours, one_label(next));
  EXPECT_EQ(found.classes(), nodes);
}

}  // namespace
}  // namespace stepsim
