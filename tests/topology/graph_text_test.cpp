// The graph as others see it: searches, Graphviz text, the summary.
#include <gmock/gmock.h>

#include "chips.h"
#include "topology/builders.h"
#include "topology/link_graph.h"
#include "topology/summary.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A diamond 0 -> {1, 2} -> 3 whose links were added in mixed order, and a vertex 4 that nothing reaches.
TEST(LinkGraph, ShortestPathOfLeastLinkIds) {
  const auto link = [](VertexId from, VertexId to) { return GraphLink{from, to, 1, Picoseconds(), ""}; };
  const LinkGraph graph(5, {link(2, 3), link(0, 2), link(1, 3), link(0, 1), link(3, 3)});
  EXPECT_THAT(graph.shortest_path(0, 3), ElementsAre(1, 0));
  EXPECT_THAT(graph.shortest_path(0, 0), IsEmpty());
  EXPECT_THAT(graph.distances(0), ElementsAre(0, 1, 1, 2, -1));
  EXPECT_THROW((void)graph.shortest_path(0, 4), std::logic_error);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// A mesh of 4 x 4 has 24 cables; a ring of 2 has two.
TEST(Dot, DrawsEachCableOnce) {
  const std::string text = to_dot(build(torus(v5e(), {4, 4})));
  EXPECT_THAT(text, HasSubstr("digraph"));
  EXPECT_THAT(text, HasSubstr("chip 3,2"));
  EXPECT_EQ(count(text, "->"), 24U);
  ClusterSpec ring = torus(v5p(), {2, 1, 1});
  ring.wraps = {true, true, true};
  EXPECT_EQ(count(to_dot(build(ring)), "->"), 2U);
}

TEST(Dot, DrawsHostsAndMemory) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.pcie_rate = 1'000'000'000;
  spec.devices = 2;
  spec.peer_to_peer = false;
  spec.host_memory_rate = 1'000'000'000;
  spec.root_complex_rate = 1'000'000'000;
  const std::string text = to_dot(build(spec));
  EXPECT_THAT(text, HasSubstr("host memory"));
  EXPECT_EQ(count(text, "->"), 2U + 1 + 1 + 1) << "two devices, a switch, a root complex, the memory's own";
}

// v5p-128: 64 chips, 128 cores, 16 hosts; 64 links each way on each axis.
TEST(Summary, OfANamedSlice) {
  const TopologySummary summary = summarize(build(torus(v5p(), slice_shape("v5p-128", v5p()))));
  EXPECT_EQ(summary.chips, 64U);
  EXPECT_EQ(summary.cores, 128);
  EXPECT_EQ(summary.hosts, 16);
  EXPECT_EQ(summary.diameter, 6);
  EXPECT_DOUBLE_EQ(summary.bisection, 2 * 16 * 90e9);
  ASSERT_THAT(summary.links, SizeIs(6));
  EXPECT_EQ(summary.links[0].kind, "ici x+");
  for (const LinkKind& kind : summary.links) {
    EXPECT_EQ(kind.count, 64U);
    EXPECT_EQ(kind.capacity, 90'000'000'000);
  }
}

TEST(Registry, ListsTheBuilders) {
  EXPECT_THAT(cluster_builders().names(),
              UnorderedElementsAre("torus", "pcie", "links", "pcie_tree", "nvlink", "nodes"));
}

}  // namespace
}  // namespace stepsim::testing
