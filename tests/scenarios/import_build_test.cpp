// Imported nodes as clusters: every look-alike builds, its chips reach each other, and the narrowest pair of a bridged
// node is what limits it.
#include <gmock/gmock.h>

#include "import_text.h"
#include "scenarios/import_nccl.h"
#include "scenarios/import_smi.h"
#include "topology/cluster.h"

namespace stepsim::testing {
namespace {

Cluster built(const GraphSpec& graph) {
  ClusterSpec spec;
  spec.kind = "links";
  spec.chip.name = "gpu";
  spec.graph = graph;
  return build(spec);
}

std::int64_t narrowest(const Cluster& cluster, ChipId from, ChipId to) {
  std::int64_t least = INT64_MAX;
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  for (const LinkId link : routes.at(0).links) least = std::min(least, cluster.link(link).capacity);
  return least;
}

void expect_joined(const Cluster& cluster, const std::string& name) {
  for (ChipId from = 0; from < cluster.chips(); ++from) {
    for (ChipId to = 0; to < cluster.chips(); ++to) {
      if (from == to) continue;
      const std::vector<LinkId> way = cluster.routes(from, to).at(0).links;
      ASSERT_FALSE(way.empty()) << name;
      EXPECT_EQ(cluster.link(way.front()).from, from) << name;
      EXPECT_EQ(cluster.link(way.back()).to, to) << name;
    }
  }
}

TEST(ImportedNodes, AllBuildAndAreJoined) {
  for (const auto& file : files_in("nccl_topologies", ".xml")) {
    const GraphSpec graph = import_nccl_topology(text_of(file), file.string());
    const Cluster cluster = built(graph);
    EXPECT_EQ(static_cast<int>(cluster.chips()), kinds_of(graph)[VertexKind::chip]) << file;
    expect_joined(cluster, file.string());
  }
  for (const auto& file : files_in("smi_matrices", ".txt")) {
    const int nvlink = file.stem() == "dgx-1v" || file.stem() == "dgx-2" ? 2
                       : file.stem() == "hgx-h100"                       ? 4
                       : file.stem() == "gb200-tray"                     ? 5
                                                                         : 3;
    const GraphSpec graph = import_nvidia_smi(text_of(file), file.string(), {4, nvlink, 22'000'000'000});
    expect_joined(built(graph), file.string());
  }
}

// Q35 of the field: pairs joined by NVLink, all else by PCIe and the sockets' link. 4 x 12 GB/s in a pair; between
// pairs of one socket PCIe generation 3 (12), between sockets of Cascade Lake 10.
TEST(ImportedNodes, BridgedPairsAreNarrowBetweenPairs) {
  const auto file = scenario_tests() / "nccl_topologies" / "two-sockets-nvlink-pairs.xml";
  const Cluster cluster = built(import_nccl_topology(text_of(file), "pairs"));
  EXPECT_EQ(narrowest(cluster, 0, 1), 48'000'000'000);
  EXPECT_EQ(narrowest(cluster, 1, 2), 10'000'000'000);
}

TEST(ImportedNodes, TwoSourcesOfOneNodeAgree) {
  const auto xml = scenario_tests() / "nccl_topologies" / "hgx-h100.xml";
  const auto matrix = scenario_tests() / "smi_matrices" / "hgx-h100.txt";
  const Cluster a = built(import_nccl_topology(text_of(xml), "xml"));
  const Cluster b = built(import_nvidia_smi(text_of(matrix), "matrix", {5, 4, 22'000'000'000}));
  ASSERT_EQ(a.chips(), b.chips());
  for (ChipId to = 1; to < a.chips(); ++to) EXPECT_EQ(narrowest(a, 0, to), narrowest(b, 0, to));
  EXPECT_DOUBLE_EQ(a.bisection(), b.bisection());
}

}  // namespace
}  // namespace stepsim::testing
