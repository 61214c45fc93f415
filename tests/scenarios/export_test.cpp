// What is written of a host reads back as the same host: over all look-alike files of both importers, and over the hosts
// of the catalog as far as the formats can say it (host by host what they cannot). What is lost is told.
#include <gmock/gmock.h>

#include <sstream>

#include "import_text.h"
#include "scenarios/catalog.h"
#include "scenarios/export_nccl.h"
#include "scenarios/export_smi.h"
#include "scenarios/host_tree.h"
#include "scenarios/import_nccl.h"
#include "scenarios/import_smi.h"
#include "scenarios/system.h"

namespace stepsim::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What an importer had to assume of the one text it need not of the other.
GraphSpec without_notes(GraphSpec graph) {
  graph.notes.clear();
  return graph;
}

TEST(ExportNccl, ReadsBackAsTheSameHost) {
  const std::vector<std::filesystem::path> files = files_in("nccl_topologies", ".xml");
  EXPECT_GE(files.size(), 13U);
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename());
    const GraphSpec first = import_nccl_topology(text_of(file), "first.xml");
    const ExportedHost written = export_nccl_topology(first);
    EXPECT_THAT(written.lost, IsEmpty());
    EXPECT_EQ(without_notes(import_nccl_topology(written.text, "second.xml")), without_notes(first)) << written.text;
  }
}

TEST(ExportSmi, ReadsBackAsTheSameHost) {
  const std::vector<std::filesystem::path> files = files_in("smi_matrices", ".txt");
  EXPECT_GE(files.size(), 12U);
  for (const std::filesystem::path& file : files) {
    int taken = 0;
    for (const int generation : {2, 4, 5}) {
      SCOPED_TRACE(file.filename().string() + " " + std::to_string(generation));
      const SmiRates rates{4, generation, 22'000'000'000};
      GraphSpec first;
      try {
        first = import_nvidia_smi(text_of(file), "first.txt", rates);
      } catch (const InputError&) {
        continue;  // more links than GPUs of this generation have
      }
      ++taken;
      const ExportedHost written = export_nvidia_smi(first);
      EXPECT_THAT(written.lost, ElementsAre("rates and latencies: left out"));
      EXPECT_EQ(without_notes(import_nvidia_smi(written.text, "second.txt", rates)), without_notes(first))
          << written.text;
    }
    EXPECT_GE(taken, 1) << file;
  }
}

GraphSpec host_of(const std::string& system) {
  return described_host(build(load_system(system, {}, default_catalog()).cluster), "--nccl-xml");
}

/// By kind and rate, all of PCIe alike: what the format calls it.
std::map<std::pair<std::string, double>, int> links_of(const GraphSpec& graph) {
  std::map<std::pair<std::string, double>, int> all;
  for (const auto& [kind, count] : cables_of(graph)) {
    const bool beside = kind.first == "nvlink" || kind.first == "socket";
    all[{beside ? kind.first : "pcie", kind.second}] += count;
  }
  return all;
}

/// Without their rates.
std::map<std::string, int> counts_of(const GraphSpec& graph) {
  std::map<std::string, int> counts;
  for (const auto& [kind, count] : links_of(graph)) counts[kind.first] += count;
  return counts;
}

// NCCL has no processor of 48 or 96 GB/s between sockets, and PCIe of 48 GB/s where the catalog has measured 46.6: the
// nearest is written, and told.
TEST(ExportNccl, HostsOfTheCatalogReadBackByLinks) {
  const std::map<std::string, std::string> rounded{
      {"pcie-gen5-x8", "socket 0: 48 GB/s between sockets written as 40"},
      {"pcie-gen6-x8", "socket 0: 96 GB/s between sockets written as 40"},
      {"rtx-pro-6000-x4", "device 0: 46.6 GB/s of PCIe written as 48 (generation 5, x16)"},
      {"rtx-pro-6000-x8", "device 0: 46.6 GB/s of PCIe written as 48 (generation 5, x16)"}};
  int exact = 0;
  for (const std::string& system : catalog_names(default_catalog(), "systems")) {
    const ClusterSpec spec = system_entry(system, default_catalog()).cluster;
    if (spec.kind != "pcie_tree" && spec.kind != "nvlink") continue;
    SCOPED_TRACE(system);
    const GraphSpec first = host_of(system);
    const ExportedHost written = export_nccl_topology(first);
    const GraphSpec second = import_nccl_topology(written.text, system);
    EXPECT_EQ(kinds_of(second), kinds_of(first));
    EXPECT_EQ(counts_of(second), counts_of(first));
    if (rounded.contains(system)) {
      EXPECT_THAT(written.lost, Contains(rounded.at(system)));
      continue;
    }
    EXPECT_THAT(written.lost, IsEmpty());
    EXPECT_EQ(links_of(second), links_of(first)) << written.text;
    ++exact;
  }
  EXPECT_EQ(exact, 3) << "a100-pairs, dgx-1v, pcie-gen4-x8";
}

// A node of which only the switch is described: its 12 NVLinks per GPU are said, its slots are left open.
TEST(ExportNccl, SaysWhatAFileCannotSay) {
  const ExportedHost node = export_nccl_topology(host_of("dgx-a100"));
  EXPECT_THAT(node.lost, Contains("no socket: one is written"));
  EXPECT_THAT(node.lost, Contains(HasSubstr("gpu 0.7: in no slot")));
  const GraphSpec back = import_nccl_topology(node.text, "node.xml");
  EXPECT_EQ(cables_of(back)[(std::pair<std::string, double>{"nvlink", 240})], 8);
  EXPECT_EQ(kinds_of(back)[VertexKind::nvlink_switch], 1);
  // Four cards on root complexes that are staged through host memory.
  const ExportedHost staged = export_nccl_topology(host_of("rtx4080-x4"));
  EXPECT_THAT(staged.lost, Contains("host memory: left out"));
  GraphSpec odd;
  odd.vertices = {{VertexKind::chip, "a"}, {VertexKind::chip, "b"}, {VertexKind::socket, "s"}};
  odd.cables = {{"a", "s", 24'000'000'000, Picoseconds(5), "pcie"},
                {"b", "s", 24'000'000'000, Picoseconds(), "pcie"},
                {"a", "b", 50'000'000'000, Picoseconds(), "nvlink"},
                {"a", "b", 1'000'000'000, Picoseconds(), "ether"}};
  EXPECT_THAT(export_nccl_topology(odd).lost,
              ElementsAre("a to b: 50 GB/s of nvlink written as 3 links of 20",
                          "a to b (ether): left out, the format has no such link", "latencies: left out"));
}

std::string entry(const std::string& matrix, std::size_t row, std::size_t column) {
  std::istringstream lines(matrix);
  std::string text;
  for (std::size_t i = 0; i <= row + 1; ++i) std::getline(lines, text);
  std::istringstream fields(text);
  for (std::size_t i = 0; i <= column + 1; ++i) std::getline(fields, text, '\t');
  return text;
}

// By hand from what the systems say: pairs of 12 links; four under a switch, both switches on one CPU; six links of a V100.
TEST(ExportSmi, HostsOfTheCatalogByHand) {
  const std::string pairs = export_nvidia_smi(host_of("a100-pairs")).text;
  EXPECT_EQ(entry(pairs, 0, 0), " X ");
  EXPECT_EQ(entry(pairs, 0, 1), "NV12");
  EXPECT_EQ(entry(pairs, 2, 3), "NV12");
  const std::string eight = export_nvidia_smi(host_of("rtx-pro-6000-x8")).text;
  EXPECT_EQ(entry(eight, 0, 3), "PIX");
  EXPECT_EQ(entry(eight, 0, 4), "NODE");
  const std::string cube = export_nvidia_smi(host_of("dgx-1v")).text;
  int links = 0;
  for (std::size_t other = 1; other < 8; ++other) {
    const std::string one = entry(cube, 0, other);
    if (one.starts_with("NV")) links += std::stoi(one.substr(2));
  }
  EXPECT_EQ(links, 6);
  EXPECT_EQ(entry(cube, 0, 7), "SYS");
}

}  // namespace
}  // namespace stepsim::testing
