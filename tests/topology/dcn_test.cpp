// Slices joined by the data-center network.
#include <gmock/gmock.h>

#include <set>

#include "chips.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> kinds(const Cluster& cluster, const std::vector<LinkId>& links) {
  std::vector<std::string> all;
  for (const LinkId link : links) all.push_back(cluster.link(link).kind);
  return all;
}

TEST(Dcn, IsTheOutermostAxis) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  ASSERT_THAT(cluster.axes(), SizeIs(4));
  EXPECT_EQ(cluster.axes()[0].name, "dcn");
  EXPECT_EQ(cluster.axes()[0].extent, 2);
  EXPECT_TRUE(cluster.axes()[0].wraps);
  EXPECT_EQ(cluster.chips(), 128U);
  EXPECT_THAT(cluster.coordinates(64), ElementsAre(1, 0, 0, 0));
}

// Book, chapter 2: HBM -> PCIe -> host -> NIC -> network -> host -> PCIe -> HBM; v5p hosts have 4 chips x 6.25 GB/s
// = a NIC of 200 Gb/s.
TEST(Dcn, RouteIsStagedThroughBothHosts) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  const std::vector<LinkId> links = cluster.along(5, 0, 1);
  EXPECT_THAT(kinds(cluster, links), ElementsAre("pcie up", "dcn up", "dcn down", "pcie down"));
  EXPECT_TRUE(connects(cluster, links, 5, 5 + 64));
  EXPECT_EQ(cluster.link(links[0]).capacity, 16'000'000'000);
  EXPECT_EQ(cluster.link(links[1]).capacity, 25'000'000'000);
  EXPECT_EQ(cluster.link(links[2]).capacity, 25'000'000'000);
  Picoseconds latency;
  for (const LinkId link : links) latency += cluster.link(link).latency;
  EXPECT_EQ(latency, microsecond * (2 + 10 + 2)) << "PCIe twice, the network once";
}

TEST(Dcn, ChipsOfAHostShareItsNic) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  std::set<LinkId> nics;
  std::set<LinkId> pcie;
  for (ChipId chip = 0; chip < 128; ++chip) {
    pcie.insert(cluster.along(chip, 0, 1)[0]);
    nics.insert(cluster.along(chip, 0, 1)[1]);
  }
  EXPECT_THAT(pcie, SizeIs(128));
  EXPECT_THAT(nics, SizeIs(32));
  const ChipId neighbour = cluster.chip_at(std::vector<int>{0, 1, 1, 0});
  const ChipId other_plane = cluster.chip_at(std::vector<int>{0, 0, 0, 1});
  EXPECT_EQ(cluster.along(0, 0, 1)[1], cluster.along(neighbour, 0, 1)[1]) << "a host is 2x2x1";
  EXPECT_NE(cluster.along(0, 0, 1)[1], cluster.along(other_plane, 0, 1)[1]);
}

// A v5e slice of 4 chips fills half a host: its share of the NIC is 4 chips' (book: 3.125 GB/s a chip on v5e).
TEST(Dcn, AHalfFullHostHasItsChipsShare) {
  ChipSpec chip = v5e();
  chip.dcn_rate_per_chip = 3'125'000'000;
  const Cluster cluster = build(torus(chip, {2, 2}, 2));
  EXPECT_EQ(cluster.link(cluster.along(0, 0, 1)[1]).capacity, 12'500'000'000);
}

TEST(Dcn, NextAndPreviousSliceGoRound) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 3));
  EXPECT_TRUE(connects(cluster, cluster.along(64 * 2 + 7, 0, 1), 64 * 2 + 7, 7));
  EXPECT_TRUE(connects(cluster, cluster.along(7, 0, -1), 7, 64 * 2 + 7));
  EXPECT_TRUE(connects(cluster, cluster.along(7, 0, 2), 7, 64 * 2 + 7));
  EXPECT_THAT(cluster.along(7, 0, 2), SizeIs(4)) << "any pair of slices is connected alike";
}

TEST(Dcn, PairsInsideASliceStayOnIci) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  for (const WeightedRoute& route : cluster.routes(64, 64 + 21)) {
    for (const LinkId link : route.links) EXPECT_EQ(cluster.link(link).kind.substr(0, 3), "ici");
    EXPECT_TRUE(connects(cluster, route.links, 64, 64 + 21));
  }
  const std::vector<WeightedRoute> between = cluster.routes(3, 64 + 21);
  ASSERT_THAT(between, SizeIs(1));
  EXPECT_TRUE(connects(cluster, between[0].links, 3, 64 + 21));
  EXPECT_THAT(cluster.along(64, 1, -1), SizeIs(1));
  EXPECT_TRUE(connects(cluster, cluster.along(64, 1, -1), 64, 64 + 48)) << "x wraps inside the slice";
}

// Half of the slices send what their NICs carry: 64 chips x 6.25 GB/s.
TEST(Dcn, BisectionIsTheNicsOfHalfTheSlices) {
  EXPECT_DOUBLE_EQ(build(torus(v5p(), {4, 4, 4}, 2)).bisection(), 64 * 6.25e9);
  EXPECT_DOUBLE_EQ(build(torus(v5p(), {4, 4, 4}, 4)).bisection(), 2 * 64 * 6.25e9);
}

TEST(Dcn, DiameterIsOfTheRoutesTaken) {
  EXPECT_EQ(build(torus(v5p(), {4, 4, 4}, 2)).diameter(), 6);
  EXPECT_EQ(build(torus(v5e(), {2, 2}, 2)).diameter(), 4);
}

}  // namespace
}  // namespace stepsim::testing
