// Enumerated placements: all valid, none twice, the known ones among them. Counts by hand.
#include <gmock/gmock.h>

#include <set>

#include "chips.h"
#include "topology/mesh.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t no_limit = 1'000'000;

// Per mesh axis (hardware axis, extent, stride) triples: placements as values that compare.
std::vector<std::vector<std::vector<int>>> as_values(const Placement& placement) {
  std::vector<std::vector<std::vector<int>>> all;
  for (const std::vector<AxisDigit>& digits : placement.digits) {
    std::vector<std::vector<int>> axis;
    for (const AxisDigit& digit : digits) axis.push_back({digit.hardware_axis, digit.extent, digit.stride});
    all.push_back(axis);
  }
  return all;
}

Placement place(const Cluster& cluster, const std::vector<std::vector<std::string>>& terms) {
  Placement placement;
  for (const std::vector<std::string>& axis : terms) placement.digits.push_back(parse_digits(cluster, "key", axis));
  return placement;
}

bool contains(const std::vector<Placement>& all, const Placement& wanted) {
  return std::any_of(all.begin(), all.end(), [&](const Placement& p) { return as_values(p) == as_values(wanted); });
}

void expect_valid_and_different(const Cluster& cluster, const std::vector<MeshAxis>& axes,
                                const std::vector<Placement>& all) {
  std::set<std::vector<std::vector<std::vector<int>>>> seen;
  for (const Placement& placement : all) {
    EXPECT_NO_THROW(Mesh(cluster, axes, placement));
    EXPECT_TRUE(seen.insert(as_values(placement)).second);
  }
}

// Two axes of 16 and a tensor axis of 4. Splits of 4 over (x, y): (1,4), (2,2), (4,1); orders: tensor inner or outer
// on each axis it shares. x and y are alike, so (4,1) repeats (1,4): 2 orders. (2,2): 3 of the 4 orders.
TEST(Placements, ATensorAxisOnASquarePod) {
  const Cluster cluster = build(torus(v5e(), {16, 16}));
  const std::vector<MeshAxis> axes{{"fsdp", 64}, {"tensor", 4}};
  const std::vector<Placement> all = placements(cluster, axes, no_limit);
  EXPECT_THAT(all, SizeIs(5));
  expect_valid_and_different(cluster, axes, all);
  EXPECT_TRUE(contains(all, place(cluster, {{"x", "y:4@4"}, {"y:4"}}))) << "segment";
  EXPECT_TRUE(contains(all, place(cluster, {{"x", "y:4"}, {"y:4@4"}}))) << "strided";
  EXPECT_TRUE(contains(all, place(cluster, {{"x:8@2", "y:8@2"}, {"x:2", "y:2"}}))) << "2x2 block";
}

// 8x16: the axes differ (one wraps), so all of them count: 2 + 4 + 2.
TEST(Placements, UnlikeAxesAreNotExchanged) {
  const Cluster cluster = build(torus(v5e(), {8, 16}));
  EXPECT_THAT(placements(cluster, {{"fsdp", 32}, {"tensor", 4}}, no_limit), SizeIs(8));
}

TEST(Placements, WholeAxesComeFirst) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}));
  const std::vector<Placement> all = placements(cluster, {{"fsdp", 16}, {"tensor", 4}}, no_limit);
  EXPECT_EQ(as_values(all.front()), as_values(place(cluster, {{"x", "y"}, {"z"}})));
  EXPECT_THAT(placements(cluster, {{"fsdp", 16}, {"tensor", 4}}, 1), SizeIs(1));
  EXPECT_THAT(placements(cluster, {{"fsdp", 16}, {"tensor", 4}}, 0), IsEmpty());
}

TEST(Placements, SmallerAxesAreInnermostFirst) {
  const Cluster cluster = build(torus(v5e(), {16, 16}));
  const Placement first = placements(cluster, {{"tensor", 4}, {"fsdp", 64}}, no_limit).front();
  EXPECT_EQ(as_values(first), as_values(place(cluster, {{"y:4"}, {"x", "y:4@4"}})));
}

// LLaMA-3 70B of the book on 16x16x32: 1024 x fsdp, 2 x sequence, 4 x tensor.
TEST(Placements, ThePodOfTheBook) {
  const Cluster cluster = build(torus(v5p(), {16, 16, 32}));
  const std::vector<MeshAxis> axes{{"fsdp", 1024}, {"sequence", 2}, {"tensor", 4}};
  const std::vector<Placement> all = placements(cluster, axes, no_limit);
  expect_valid_and_different(cluster, axes, all);
  EXPECT_TRUE(contains(all, place(cluster, {{"x", "y", "z:4@8"}, {"z:2@4"}, {"z:4"}})));
  EXPECT_TRUE(contains(all, place(cluster, {{"x", "y:8@2", "z:8@4"}, {"z:2@2"}, {"y:2", "z:2"}})));
  const std::vector<GroupAxis> first = Mesh(cluster, axes, all.front()).group_shape({0});
  const auto whole = [&](const GroupAxis& axis) { return axis.extent == cluster.axes()[axis.hardware_axis].extent; };
  EXPECT_EQ(std::count_if(first.begin(), first.end(), whole), 2) << "fsdp has two axes to itself";
  const std::vector<Placement> few = placements(cluster, axes, 20);
  ASSERT_THAT(few, SizeIs(20));
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(as_values(few[i]), as_values(all[i])) << "a prefix";
}

TEST(Placements, OddExtents) {
  const Cluster cluster = build(torus(v5p(), {16, 20, 28}));
  const std::vector<MeshAxis> axes{{"fsdp", 1120}, {"tensor", 8}};
  const std::vector<Placement> all = placements(cluster, axes, no_limit);
  EXPECT_FALSE(all.empty());
  expect_valid_and_different(cluster, axes, all);
}

TEST(Placements, TheNetworkBetweenSlicesGoesToDataWhole) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  for (const Placement& placement : placements(cluster, {{"fsdp", 16}, {"data", 4}, {"tensor", 2}}, no_limit)) {
    EXPECT_EQ(placement.digits[1][0].hardware_axis, 0);
    EXPECT_EQ(placement.digits[1][0].extent, 2);
    EXPECT_NE(placement.digits[0][0].hardware_axis, 0);
  }
}

TEST(Placements, WithoutDataAnyAxisThatFitsTakesTheNetwork) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 4));
  std::set<std::size_t> owners;
  for (const Placement& placement : placements(cluster, {{"fsdp", 128}, {"tensor", 2}}, no_limit)) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (const AxisDigit& digit : placement.digits[axis]) {
        if (digit.hardware_axis == 0) owners.insert(axis);
      }
    }
  }
  EXPECT_THAT(owners, ElementsAre(0)) << "2 is less than the 4 slices";
  EXPECT_FALSE(placements(build(torus(v5e(), {1, 1}, 4)), {{"fsdp", 2}, {"tensor", 2}}, no_limit).empty())
      << "none fits whole: it is split";
}

TEST(Placements, DevicesOfAHost) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.pcie_rate = 1'000'000'000;
  spec.devices = 4;
  const Cluster cluster = build(spec);
  EXPECT_THAT(placements(cluster, {{"data", 4}}, no_limit), SizeIs(1));
  EXPECT_THAT(placements(cluster, {{"data", 2}, {"tensor", 2}}, no_limit), SizeIs(2));
}

// Six axes on the largest pod: bounded by the limit, and quickly.
TEST(Placements, ManyAxesStayBounded) {
  const Cluster cluster = build(torus(v5p(), {16, 16, 32}));
  const std::vector<MeshAxis> axes{{"data", 4},   {"fsdp", 16},    {"context", 4},
                                   {"expert", 4}, {"pipeline", 4}, {"tensor", 2}};
  const std::vector<Placement> all = placements(cluster, axes, 500);
  EXPECT_THAT(all, SizeIs(500));
  expect_valid_and_different(cluster, axes, all);
}

}  // namespace
}  // namespace stepsim::testing
