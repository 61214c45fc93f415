// Matrices of `nvidia-smi topo -m`: look-alikes of public pastes (written for this test after their shapes). Boxes and
// rates by hand: PCIe x16 of generation 3 / 4 / 5 is 12 / 24 / 48 GB/s; a host bridge is as wide as what hangs below.
#include "scenarios/import_smi.h"

#include <gmock/gmock.h>

#include <array>

#include "import_text.h"

namespace stepsim::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Cables = std::map<std::pair<std::string, double>, int>;

constexpr std::int64_t socket_rate = 22'000'000'000;

struct Case {
  std::string file;
  int pcie_gen = 4;
  std::optional<int> nvlink_gen;
  int gpus = 0;
  int nics = 0;
  int switches = 0;
  int bridges = 0;
  int sockets = 0;
  int nvswitches = 0;
  Cables cables;
  std::vector<std::array<std::string, 3>> ways = {};
};

std::vector<Case> cases() {
  return {
      // Two GPUs and a NIC on each switch, two switches on each host bridge; hybrid cube mesh of 6 links per V100.
      {"dgx-1v",
       3,
       2,
       8,
       4,
       4,
       2,
       2,
       0,
       {{{"pcie", 12}, 16}, {{"pcie", 72}, 2}, {{"nvlink", 20}, 8}, {{"nvlink", 40}, 8}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 3", "nvlink"},
        {"gpu 0", "gpu 5", "pcie pcie pcie socket pcie pcie pcie"},
        {"gpu 0", "nic mlx5_0", "pcie pcie"}}},
      // Two NICs on a switch below that of two GPUs: PXB.
      {"dgx-a100",
       4,
       3,
       8,
       8,
       8,
       0,
       4,
       1,
       {{{"pcie", 24}, 24}, {{"nvlink", 240}, 8}, {{"socket", 22}, 6}},
       {{"gpu 0", "gpu 7", "nvlink nvlink"},
        {"gpu 0", "nic mlx5_1", "pcie pcie pcie"},
        {"nic mlx5_0", "nic mlx5_1", "pcie pcie"}}},
      // A switch for each GPU and its NIC; columns underlined, NICs named by the legend.
      {"hgx-h100",
       5,
       4,
       8,
       8,
       8,
       0,
       2,
       1,
       {{{"pcie", 48}, 24}, {{"nvlink", 370.8}, 8}, {{"socket", 22}, 1}},
       {{"gpu 3", "nic mlx5_3", "pcie pcie"}, {"gpu 0", "nic mlx5_3", "pcie pcie pcie pcie"}}},
      {"pcie-box",
       4,
       {},
       4,
       1,
       3,
       0,
       1,
       0,
       {{{"pcie", 24}, 8}},
       {{"gpu 0", "gpu 1", "pcie pcie"},
        {"gpu 0", "gpu 2", "pcie pcie pcie pcie"},
        {"gpu 0", "nic mlx5_0", "pcie pcie pcie"}}},
      // Pairs of 4 links of the third generation; which socket, by CPU affinity.
      {"nvlink-pairs",
       4,
       3,
       4,
       1,
       0,
       0,
       2,
       0,
       {{{"pcie", 24}, 5}, {{"nvlink", 80}, 2}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 1", "nvlink"}, {"gpu 1", "gpu 2", "pcie socket pcie"}}},
      {"workstation-phb",
       4,
       {},
       2,
       0,
       0,
       1,
       1,
       0,
       {{{"pcie", 24}, 2}, {{"pcie", 48}, 1}},
       {{"gpu 0", "gpu 1", "pcie pcie"}}},
      // Three pairs on a host bridge each, two GPUs alone on theirs.
      {"consumer-8",
       4,
       {},
       8,
       0,
       0,
       3,
       2,
       0,
       {{{"pcie", 24}, 8}, {{"pcie", 48}, 3}, {{"socket", 22}, 1}},
       {{"gpu 1", "gpu 2", "pcie pcie"}, {"gpu 0", "gpu 5", "pcie pcie"}, {"gpu 0", "gpu 6", "pcie socket pcie pcie"}}},
      {"one-gpu", 4, {}, 1, 0, 0, 0, 1, 0, {{{"pcie", 24}, 1}}},
      // 3 x NV4 are the 12 links that an A100 has: no switches.
      {"a100-direct",
       4,
       3,
       4,
       2,
       0,
       0,
       2,
       0,
       {{{"pcie", 24}, 6}, {{"nvlink", 80}, 6}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 3", "nvlink"}}},
      // 15 x NV6 are more than the 6 links of a V100: switches. Lines end as on Windows.
      {"dgx-2",
       3,
       2,
       16,
       0,
       0,
       0,
       2,
       1,
       {{{"pcie", 12}, 16}, {{"nvlink", 120}, 16}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 15", "nvlink nvlink"}}},
      {"gb200-tray",
       5,
       5,
       4,
       4,
       0,
       0,
       2,
       1,
       {{{"pcie", 48}, 8}, {{"nvlink", 721.8}, 4}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 3", "nvlink nvlink"}, {"gpu 3", "nic mlx5_3", "pcie pcie"}}},
      // Before 2017 SYS was SOC.
      {"old-soc",
       3,
       {},
       4,
       0,
       2,
       0,
       2,
       0,
       {{{"pcie", 12}, 6}, {{"socket", 22}, 1}},
       {{"gpu 0", "gpu 1", "pcie pcie"}, {"gpu 1", "gpu 2", "pcie pcie socket pcie pcie"}}},
  };
}

std::string matrix(const std::string& file) {
  return text_of(scenario_tests() / "smi_matrices" / (file + ".txt"));
}

TEST(ImportSmi, BoxesAndRatesByHand) {
  for (const Case& one : cases()) {
    const GraphSpec graph = import_nvidia_smi(matrix(one.file), one.file, {one.pcie_gen, one.nvlink_gen, socket_rate});
    expect_host(graph,
                {{{VertexKind::chip, one.gpus},
                  {VertexKind::nic, one.nics},
                  {VertexKind::pcie_switch, one.switches},
                  {VertexKind::root_complex, one.bridges},
                  {VertexKind::socket, one.sockets},
                  {VertexKind::nvlink_switch, one.nvswitches}},
                 one.cables,
                 one.ways},
                one.file);
  }
}

TEST(ImportSmi, EveryFileIsExpected) {
  expect_every_file(cases(), "smi_matrices", ".txt");
}

TEST(ImportSmi, SaysWhatItAssumed) {
  const std::string always = "system: every PCIe link taken as x16 of generation 3, latencies as 0";
  EXPECT_THAT(import_nvidia_smi(matrix("dgx-1v"), "", {3, 2, socket_rate}).notes, ElementsAre(always));
  EXPECT_THAT(
      import_nvidia_smi(matrix("dgx-2"), "", {3, 2, socket_rate}).notes,
      ElementsAre("gpu 0 and gpu 1 (120 pairs in all): NV# hides where they are on PCIe, no common switch or host "
                  "bridge assumed",
                  always));
  const std::string bare = "GPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n";
  EXPECT_THAT(import_nvidia_smi(bare, "", {3, 2, {}}).notes,
              ElementsAre(HasSubstr("no common switch"),
                          "gpu 0 and gpu 1: NV# hides where they are and no CPU affinity is given, one socket assumed",
                          always));
  const std::string crooked = "GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n";
  EXPECT_THAT(import_nvidia_smi(crooked, "", {3, {}, {}}).notes,
              Contains("gpu 0, gpu 2: taken as PIX, as both are that to a third"));
}

std::string refusal(const std::string& text, const SmiRates& rates) {
  try {
    import_nvidia_smi(text, "matrix", rates);
  } catch (const InputError& error) {
    return as_lines(error);
  }
  return "taken";
}

TEST(ImportSmi, RatesMustBeGivenWhereTheyCount) {
  EXPECT_EQ(refusal(matrix("nvlink-pairs"), {4, {}, {}}),
            "cluster.nvlink_gen: missing: the matrix has NV#, expected a generation from 1 to 5\n"
            "cluster.socket_rate: missing: the matrix has several sockets, expected what one sends another\n");
  EXPECT_EQ(refusal(matrix("dgx-1v"), {7, 6, 0}),
            "cluster.pcie_gen: expected a PCIe generation from 1 to 6, found 7\n"
            "cluster.nvlink_gen: expected an NVLink generation from 1 to 5, found 6\n"
            "cluster.socket_rate: expected more than 0\n");
  EXPECT_EQ(refusal(matrix("one-gpu"), {4, {}, {}}), "taken");
  EXPECT_EQ(
      refusal(matrix("dgx-1v"), {3, 1, socket_rate}),
      "cluster.nvlink_gen: gpu 0 has more NV# than the 4 links of a GPU of generation 1, and not the same to all, as "
      "NVSwitches would have it\n");
}

TEST(ImportSmi, BrokenMatricesSayWhereAndWhat) {
  const auto files = files_in("smi_matrices/broken", ".txt");
  EXPECT_GE(files.size(), 10U);
  for (const auto& file : files) {
    const std::string text = text_of(file);
    EXPECT_EQ(refusal(text, {4, 3, socket_rate}), expected_lines(text)) << file;
  }
  EXPECT_THAT(refusal("", {4, 3, socket_rate}), HasSubstr("no matrix"));
}

}  // namespace
}  // namespace stepsim::testing
