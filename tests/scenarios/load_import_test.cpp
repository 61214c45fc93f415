// Clusters from files of other tools, as scenarios name them.
#include <gmock/gmock.h>
#include <unistd.h>

#include "import_text.h"
#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "topology/cluster.h"

namespace stepsim::testing {
namespace {

/// A scenario of GPUs on a node, written beside the files it names.
class OnANode {
 public:
  explicit OnANode(const std::string& cluster, int gpus = 4) {
    std::ofstream(path()) << "name: node\ncluster:\n  chip: a100\n"
                          << cluster << "model: book-mlp\nparallelism:\n  mesh: {fsdp: " << gpus
                          << "}\n  batch: 64Ki tokens\nallow_oom: true\n";
  }
  ~OnANode() { std::filesystem::remove(path()); }
  OnANode(const OnANode&) = delete;
  OnANode& operator=(const OnANode&) = delete;
  OnANode(OnANode&&) = delete;
  OnANode& operator=(OnANode&&) = delete;

  [[nodiscard]] std::string path() const {
    return (std::filesystem::temp_directory_path() / ("stepsim_node_" + std::to_string(getpid()) + ".yaml")).string();
  }
};

std::string tests(const std::string& file) {
  return (scenario_tests() / file).string();
}

std::string refusal(const OnANode& scenario) {
  try {
    load(scenario.path(), {}, default_catalog());
  } catch (const InputError& error) {
    return as_lines(error);
  }
  return "taken";
}

TEST(LoadImport, NcclTopology) {
  const OnANode scenario("  kind: nccl_topology\n  file: " + tests("nccl_topologies/pcie-box.xml") + "\n");
  const Scenario loaded = load(scenario.path(), {}, default_catalog());
  EXPECT_EQ(loaded.cluster.kind, "links");
  EXPECT_EQ(build(loaded.cluster).chips(), 4U);
  EXPECT_THAT(loaded.cluster.graph.notes, ::testing::Contains("system: latencies are not in the file, 0 assumed"));
}

TEST(LoadImport, NvidiaSmi) {
  const OnANode scenario("  kind: nvidia_smi\n  file: " + tests("smi_matrices/a100-direct.txt") +
                         "\n  pcie_gen: 4\n  nvlink_gen: 3\n  socket_rate: 22 GB/s\n");
  EXPECT_EQ(build(load(scenario.path(), {}, default_catalog()).cluster).chips(), 4U);
}

TEST(LoadImport, WhatIsMissingStandsAtItsKey) {
  const OnANode rates("  kind: nvidia_smi\n  file: " + tests("smi_matrices/a100-direct.txt") + "\n  pcie_gen: 4\n");
  EXPECT_THAT(refusal(rates), ::testing::AllOf(::testing::HasSubstr("cluster.nvlink_gen: missing: the matrix has NV#"),
                                               ::testing::HasSubstr("cluster.socket_rate: missing")));
  const OnANode file("  kind: nccl_topology\n  file: no-such.xml\n");
  EXPECT_THAT(refusal(file), ::testing::HasSubstr("cluster.file: "));
  EXPECT_THAT(refusal(file), ::testing::HasSubstr("no-such.xml: cannot be read"));
  const OnANode broken("  kind: nccl_topology\n  file: " + tests("nccl_topologies/broken/09-count-missing.xml") + "\n");
  EXPECT_THAT(refusal(broken), ::testing::HasSubstr("4:2 <nvlink> without count\n"));
}

}  // namespace
}  // namespace stepsim::testing
