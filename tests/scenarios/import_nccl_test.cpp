// NCCL topology files: look-alikes of public ones (written for this test after their shapes), what is in them counted by
// hand, rates from NCCL's tables (scenarios/nccl_rates.h): PCIe x16 of 8 / 16 / 32 GT/s is 12 / 24 / 48 GB/s.
#include "scenarios/import_nccl.h"

#include <gmock/gmock.h>

#include <array>

#include "import_text.h"

namespace stepsim::testing {
namespace {

using ::testing::HasSubstr;
using Cables = std::map<std::pair<std::string, double>, int>;

struct Case {
  std::string file;
  int gpus = 0;
  int nics = 0;
  int ports = 0;
  int switches = 0;
  int sockets = 0;
  int nvswitches = 0;
  Cables cables;
  std::vector<std::array<std::string, 3>> ways = {};  // from, to, kinds of cables
};

std::vector<Case> cases() {
  return {
      // Hybrid cube mesh: 16 pairs, 8 of them double (6 links per V100, 24 in all); Broadwell.
      {"dgx-1v",
       8,
       4,
       4,
       4,
       2,
       0,
       {{{"pcie", 12}, 16}, {{"net", 12.5}, 4}, {{"nvlink", 20}, 8}, {{"nvlink", 40}, 8}, {{"socket", 6}, 1}},
       {{"gpu 0000:06:00.0", "gpu 0000:07:00.0", "nvlink"},
        {"gpu 0000:06:00.0", "gpu 0000:86:00.0", "pcie pcie socket pcie pcie"},
        {"gpu 0000:06:00.0", "nic 0000:05:00.0", "pcie pcie"}}},
      // 12 links to the NVSwitches; four NUMA nodes of Rome, each pair joined.
      {"dgx-a100",
       8,
       8,
       8,
       4,
       4,
       1,
       {{{"pcie", 24}, 20}, {{"net", 25}, 8}, {{"nvlink", 240}, 8}, {{"socket", 16}, 6}},
       {{"gpu 0000:07:00.0", "gpu 0000:cf:00.0", "nvlink nvlink"},
        {"gpu 0000:07:00.0", "nic 0000:12:00.0", "pcie pcie"}}},
      // 18 x 20.6 GB/s; Sapphire Rapids.
      {"hgx-h100",
       8,
       8,
       8,
       8,
       2,
       1,
       {{{"pcie", 48}, 24}, {{"net", 50}, 8}, {{"nvlink", 370.8}, 8}, {{"socket", 22}, 1}},
       {{"gpu 0000:18:00.0", "gpu 0000:f8:00.0", "nvlink nvlink"},
        {"gpu 0000:18:00.0", "nic 0000:19:00.0", "pcie pcie"}}},
      // A switch over two switches; the NIC is x8 of generation 4.
      {"pcie-box",
       4,
       1,
       1,
       3,
       1,
       0,
       {{{"pcie", 24}, 7}, {{"pcie", 12}, 1}, {{"net", 12.5}, 1}},
       {{"gpu 0000:22:00.0", "gpu 0000:23:00.0", "pcie pcie"},
        {"gpu 0000:22:00.0", "gpu 0000:26:00.0", "pcie pcie pcie pcie"},
        {"gpu 0000:22:00.0", "nic 0000:2a:00.0", "pcie pcie pcie"}}},
      // Bridges of 4 links of 12 GB/s (SM86); NIC x8 of generation 3; Cascade Lake.
      {"two-sockets-nvlink-pairs",
       4,
       1,
       1,
       0,
       2,
       0,
       {{{"pcie", 12}, 4}, {{"pcie", 6}, 1}, {{"net", 3.125}, 1}, {{"nvlink", 48}, 2}, {{"socket", 10}, 1}},
       {{"gpu 0000:18:00.0", "gpu 0000:3b:00.0", "nvlink"},
        {"gpu 0000:18:00.0", "gpu 0000:86:00.0", "pcie socket pcie"}}},
      // Only classes, no speeds: generation 3 x16 for the devices, the switches say 16 GT/s.
      {"azure-nd-a100",
       8,
       8,
       0,
       4,
       4,
       0,
       {{{"pcie", 12}, 16}, {{"pcie", 24}, 4}, {{"socket", 16}, 6}},
       {{"gpu 0001:00:00.0", "gpu 0002:00:00.0", "pcie pcie"}, {"gpu 0001:00:00.0", "nic 0101:00:00.0", "pcie pcie"}}},
      // 4 NICs of 16 GT/s x8 beside each GPU; Genoa.
      {"aws-32-nics",
       8,
       32,
       0,
       8,
       2,
       0,
       {{{"pcie", 48}, 16}, {{"pcie", 12}, 32}, {{"socket", 24}, 1}},
       {{"gpu 0000:43:00.0", "nic 0000:4b:00.0", "pcie pcie"},
        {"gpu 0000:43:00.0", "gpu 0000:53:00.0", "pcie pcie pcie pcie"}}},
      // 28 pairs of one xGMI link; no switches on PCIe.
      {"mi300x",
       8,
       8,
       8,
       0,
       2,
       0,
       {{{"pcie", 48}, 16}, {{"net", 50}, 8}, {{"xgmi", 48}, 28}, {{"socket", 22}, 1}},
       {{"gpu 0011:00:00.0", "gpu 0081:00:00.0", "xgmi"}, {"gpu 0011:00:00.0", "nic 0010:00:00.0", "pcie pcie"}}},
      // Everything assumed: switch 8 GT/s x8, GPUs 8 GT/s x16, SM80's NVLink, 10 Gb/s, no rate between the sockets.
      {"missing-speeds",
       2,
       1,
       1,
       1,
       2,
       0,
       {{{"pcie", 6}, 1},
        {{"pcie", 12}, 2},
        {{"pcie", 5000}, 1},
        {{"nvlink", 40}, 1},
        {{"net", 1.25}, 1},
        {{"socket", 5000}, 1}},
       {{"gpu 0000:02:00.0", "gpu 0000:03:00.0", "nvlink"}}},
      // Four GPUs of one tray: 18 x 40.1 GB/s, chip to chip 10 x 44,712 MB/s; Grace.
      {"gb200-tray",
       4,
       4,
       4,
       4,
       2,
       1,
       {{{"pcie", 48}, 12}, {{"net", 50}, 4}, {{"nvlink", 721.8}, 4}, {{"c2c", 447.12}, 4}, {{"socket", 6}, 1}},
       {{"gpu 0008:01:00.0", "gpu 000b:01:00.0", "nvlink nvlink"}}},
      // Three links to the neighbour, three to the CPU; GPUs on x2 of PCIe.
      {"power9",
       4,
       2,
       2,
       0,
       2,
       0,
       {{{"pcie", 3}, 4}, {{"pcie", 12}, 2}, {{"net", 12.5}, 2}, {{"nvlink", 60}, 6}, {{"socket", 32}, 1}},
       {{"gpu 0004:04:00.0", "gpu 0004:05:00.0", "nvlink"}}},
      // Sockets of different hosts are not joined, NVSwitches join all GPUs.
      {"two-hosts",
       4,
       0,
       0,
       0,
       2,
       1,
       {{{"pcie", 48}, 4}, {{"nvlink", 721.8}, 4}},
       {{"gpu 0008:01:00.0", "host 1 gpu 0008:02:00.0", "nvlink nvlink"}, {"socket 0", "host 1 socket 0", "none"}}},
      // Halves of a package by 4 links, packages by 1 and 2.
      {"mi250x",
       4,
       0,
       0,
       0,
       1,
       0,
       {{{"pcie", 24}, 4}, {{"xgmi", 144}, 2}, {{"xgmi", 36}, 1}, {{"xgmi", 72}, 1}},
       {{"gpu 0000:c1:00.0", "gpu 0000:c9:00.0", "xgmi"}, {"gpu 0000:c1:00.0", "gpu 0000:cd:00.0", "pcie pcie"}}},
  };
}

GraphSpec imported(const std::string& file) {
  return import_nccl_topology(text_of(scenario_tests() / "nccl_topologies" / (file + ".xml")), file);
}

TEST(ImportNccl, CountsAndRatesByHand) {
  for (const Case& one : cases()) {
    expect_host(imported(one.file),
                {{{VertexKind::chip, one.gpus},
                  {VertexKind::nic, one.nics},
                  {VertexKind::network_switch, one.ports},
                  {VertexKind::pcie_switch, one.switches},
                  {VertexKind::socket, one.sockets},
                  {VertexKind::nvlink_switch, one.nvswitches}},
                 one.cables,
                 one.ways},
                one.file);
  }
}

TEST(ImportNccl, EveryFileIsExpected) {
  expect_every_file(cases(), "nccl_topologies", ".xml");
}

TEST(ImportNccl, SaysWhatItAssumed) {
  EXPECT_THAT(imported("missing-speeds").notes,
              ::testing::UnorderedElementsAre(
                  "system: no version, NCCL's (1) assumed",
                  "switch 0000:01:00.0: link_speed 'Unknown speed' not known, PCIe generation 3 assumed",
                  "gpu 0000:02:00.0: link_speed empty, PCIe generation 3 assumed; link_width 0 or missing, x16 assumed",
                  "gpu 0000:02:00.0: no sm, 20 GB/s per NVLink assumed",
                  "gpu 0000:03:00.0: link_speed empty, PCIe generation 3 assumed; link_width 0 or missing, x16 assumed",
                  "nic at socket 0 4: no PCIe link given, 5000 GB/s assumed", "net eth0: no speed, 10 Gb/s assumed",
                  "gpu 0000:02:00.0: its nvlink to gpu 0000:09:00.0 is left out, as that is not in the file",
                  "gpu 0000:02:00.0: its nvlink to gpu 0000:03:00.0 is listed at one end only, taken both ways",
                  "socket 0: processor not known, 5000 GB/s to socket 1 assumed",
                  "system: not every GPU has a dev of its own, GPUs count in the order of the file",
                  "system: latencies are not in the file, 0 assumed"));
  EXPECT_THAT(imported("azure-nd-a100").notes,
              ::testing::Contains("gpu 0001:00:00.0: no <gpu>, taken as one for its class 0x030200"));
  EXPECT_THAT(imported("dgx-a100").notes, ::testing::ElementsAre("system: latencies are not in the file, 0 assumed"));
}

TEST(ImportNccl, GpusCountByTheirNumbers) {
  const GraphSpec graph = imported("mi300x");  // the file lists 1, 0, 2, 3, 6, 5, 4, 7
  for (int dev = 0; dev < 8; ++dev) {
    EXPECT_EQ(graph.vertices[static_cast<std::size_t>(dev)].name, "gpu 00" + std::to_string(dev + 1) + "1:00:00.0");
  }
}

TEST(ImportNccl, BrokenFilesSayWhereAndWhat) {
  const auto files = files_in("nccl_topologies/broken", ".xml");
  EXPECT_GE(files.size(), 10U);
  for (const auto& file : files) {
    const std::string text = text_of(file);
    try {
      import_nccl_topology(text, file.filename().string());
      ADD_FAILURE() << file << " is taken";
    } catch (const InputError& error) {
      EXPECT_EQ(as_lines(error), expected_lines(text)) << file;
      EXPECT_EQ(error.problems()[0].place.file, file.filename().string());
    }
  }
  EXPECT_THROW(import_nccl_topology("", "empty"), InputError);
}

}  // namespace
}  // namespace stepsim::testing
