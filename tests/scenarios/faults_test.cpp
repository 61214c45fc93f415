// `faults:`: values arrive exactly, are listed, and the page of keys has them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "scenarios/catalog.h"
#include "scenarios/link_rates.h"
#include "scenarios/scenario.h"
#include "scenarios/units.h"
#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

const std::string slice =
    "cluster: {system: tpu-v5p, shape: [4, 4, 4]}\n"
    "model: book-mlp\n"
    "parallelism: {mesh: {fsdp: 16, tensor: 4}, batch: 64Ki tokens}\n";

const std::string all_kinds =
    "faults:\n"
    "  chips: [{at: [3, 0, 2], slowdown: 1.1}, {at: [0, 0, 0], speed: 90 %}]\n"
    "  links: [{at: [0, 0, 0], port: x+, capacity: 0.125}, {at: [1, 1, 1], port: z-, down: true}]\n"
    "  cables: [{at: [2, 2, 2], port: y+, down: on}]\n";

TEST(LoadFaults, ValuesArriveExactly) {
  const ClusterSpec cluster = load_text(slice + all_kinds).cluster;
  ASSERT_EQ(cluster.chip_faults.size(), 2U);
  EXPECT_EQ(cluster.chip_faults[0].at, (std::vector<int>{3, 0, 2}));
  EXPECT_EQ(cluster.chip_faults[0].slower, 11U);
  EXPECT_EQ(cluster.chip_faults[0].than, 10U);
  EXPECT_EQ(cluster.chip_faults[1].slower, 10U);
  EXPECT_EQ(cluster.chip_faults[1].than, 9U);
  ASSERT_EQ(cluster.link_faults.size(), 3U);
  EXPECT_EQ(cluster.link_faults[0].port, "x+");
  EXPECT_EQ(cluster.link_faults[0].part, 1U);
  EXPECT_EQ(cluster.link_faults[0].of, 8U);
  EXPECT_FALSE(cluster.link_faults[0].down);
  EXPECT_TRUE(cluster.link_faults[1].down);
  EXPECT_FALSE(cluster.link_faults[1].both_directions);
  EXPECT_EQ(cluster.link_faults[2].at, (std::vector<int>{2, 2, 2}));
  EXPECT_TRUE(cluster.link_faults[2].both_directions);
  EXPECT_TRUE(cluster.link_faults[2].down);
}

TEST(LoadFaults, NoneIsTheDefault) {
  const Scenario scenario = load_text(slice + "faults: {chips: []}\n");
  EXPECT_TRUE(scenario.cluster.chip_faults.empty());
  EXPECT_TRUE(scenario.cluster.link_faults.empty());
}

TEST(LoadFaults, OverridesReachItems) {
  const Scenario scenario = load_text(
      slice + all_kinds, {"faults.chips.0.slowdown=1.25", "faults.links=[{at: [0, 0, 0], port: y-, down: yes}]"});
  EXPECT_EQ(scenario.cluster.chip_faults[0].slower, 5U);
  EXPECT_EQ(scenario.cluster.chip_faults[0].than, 4U);
  EXPECT_EQ(scenario.cluster.link_faults.size(), 2U);
}

TEST(LoadFaults, AreListed) {
  std::string listed;
  for (const ResolvedKey& line : load_text(slice + all_kinds).resolved) {
    if (line.key.starts_with("faults.")) listed += line.key + " " + line.value + " " + line.origin + "\n";
  }
  EXPECT_EQ(listed,
            "faults.chips.0.at [3, 0, 2] given\n"
            "faults.chips.0.slowdown 1.1 given\n"
            "faults.chips.1.at [0, 0, 0] given\n"
            "faults.chips.1.speed 0.9 given\n"
            "faults.links.0.at [0, 0, 0] given\n"
            "faults.links.0.port x+ given\n"
            "faults.links.0.down false default\n"
            "faults.links.0.capacity 0.125 given\n"
            "faults.links.1.at [1, 1, 1] given\n"
            "faults.links.1.port z- given\n"
            "faults.links.1.down true given\n"
            "faults.cables.0.at [2, 2, 2] given\n"
            "faults.cables.0.port y+ given\n"
            "faults.cables.0.down true given\n");
}

// Every key read has a row in the page and every row is read.
TEST(LoadFaults, ThePageOfKeysHasThem) {
  std::ifstream in(std::string(STEPSIM_SOURCE_DIR) + "/scenarios/REFERENCE.md");
  std::stringstream text;
  text << in.rdbuf();
  std::size_t rows = 0;
  const std::string page = text.str();
  for (std::size_t at = page.find("| `faults."); at != std::string::npos; at = page.find("| `faults.", at + 1)) ++rows;
  EXPECT_EQ(rows, 3U + 4 + 4);
  for (const ResolvedKey& line : load_text(slice + all_kinds).resolved) {
    if (!line.key.starts_with("faults.")) continue;
    const std::string key = std::regex_replace(line.key, std::regex("\\.[0-9]+\\."), ".N.");
    EXPECT_NE(page.find("| `" + key + "` |"), std::string::npos) << key;
  }
}

TEST(LoadFaults, DevicesOfAHost) {
  const ClusterSpec cluster = load_text(
                                  "cluster: rtx4080-x4\nmodel: book-mlp\n"
                                  "parallelism: {mesh: {data: 4}, batch: 64Ki tokens, zero: 0}\n"
                                  "faults: {chips: [{at: [2], slowdown: 2}], cables: [{at: [3], port: pcie up, "
                                  "capacity: 50 %}]}\n")
                                  .cluster;
  EXPECT_EQ(cluster.chip_faults[0].slower, 2U);
  EXPECT_EQ(build(cluster).faulty_links().size(), 2U);
}

// What the links of the healthy cluster give decides the placement: the choice does not jump with a fault.
TEST(LoadFaults, RatesAreThoseOfTheHealthyCluster) {
  const Cluster faulty = build(load_text(slice + all_kinds).cluster);
  const Cluster healthy = build(load_text(slice).cluster);
  for (int axis = 0; axis < 3; ++axis) {
    const GroupAxis ring{axis, 4, 1, true};
    EXPECT_EQ(LinkRates(faulty, true).step(ring).rate, LinkRates(healthy, true).step(ring).rate);
    EXPECT_EQ(LinkRates(faulty, true).step(ring).latency, LinkRates(healthy, true).step(ring).latency);
  }
}

// --- fractions

TEST(Fractions, AreExactAndReadBack) {
  struct Row {
    std::string text;
    std::uint32_t numerator;
    std::uint32_t denominator;
    std::string shown;
  };
  for (const Row& row : std::vector<Row>{{"1.1", 11, 10, "1.1"},
                                         {"0.9", 9, 10, "0.9"},
                                         {"90 %", 9, 10, "0.9"},
                                         {"2", 2, 1, "2"},
                                         {"1e3", 1000, 1, "1000"},
                                         {"0", 0, 1, "0"},
                                         {"0.125", 1, 8, "0.125"},
                                         {"0.0009765625", 1, 1024, "0.0009765625"},
                                         {"1.000000001", 1'000'000'001, 1'000'000'000, "1.000000001"}}) {
    const Fraction fraction = parse_fraction(row.text);
    EXPECT_EQ(fraction.numerator, row.numerator) << row.text;
    EXPECT_EQ(fraction.denominator, row.denominator) << row.text;
    EXPECT_EQ(format_fraction(fraction), row.shown);
  }
  for (const char* bad : {"", "x", "-1", "0.12345678901", "1e10", "1e-10", "1e400", "nan", "1 GB", "0x1"}) {
    EXPECT_THROW((void)parse_fraction(bad), UnitError) << bad;
  }
}

}  // namespace
}  // namespace stepsim
