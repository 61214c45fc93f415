// groups_test.cpp: groups computed from ids against the lists that the mesh writes, on random placements.
#include "topology/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "chips.h"

namespace stepsim::testing {
namespace {

/// Mesh axes "a", "b", "c", "d" on digits that tile the cluster: every hardware axis is cut by prime factors, every
/// digit goes to any mesh axis, in any order.
Mesh random_mesh(const Cluster& cluster, std::mt19937_64& random) {
  constexpr std::size_t axes = 4;
  std::vector<MeshAxis> mesh{{"a"}, {"b"}, {"c"}, {"d"}};
  Placement placement;
  placement.digits.resize(axes);
  for (std::size_t h = 0; h < cluster.axes().size(); ++h) {
    int stride = 1;
    for (int left = cluster.axes()[h].extent; left > 1;) {
      int extent = 2;
      while (left % extent != 0) ++extent;
      if (random() % 3 == 0) extent = left;
      const std::size_t axis = random() % axes;
      placement.digits[axis].push_back({static_cast<int>(h), extent, stride});
      mesh[axis].extent *= extent;
      stride *= extent;
      left /= extent;
    }
  }
  for (auto& digits : placement.digits) {
    for (std::size_t i = digits.size(); i > 1; --i) std::swap(digits[i - 1], digits[random() % i]);
  }
  return Mesh(cluster, mesh, placement);
}

void expect_same(const Cluster& cluster, const Mesh& mesh, const std::vector<int>& axes) {
  const Groups groups(mesh.hardware(), mesh.group_shape(axes));
  const Mesh::Groups listed = mesh.groups(axes);
  ASSERT_EQ(groups.members(), listed.members);
  std::vector<ChipId> member(cluster.chips(), UINT32_MAX);  // [group * members + rank]
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    EXPECT_EQ(groups.rank_of(chip), listed.rank_of[chip]);
    member[listed.group_of[chip] * listed.members + listed.rank_of[chip]] = chip;
  }
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    for (std::uint32_t rank = 0; rank < listed.members; ++rank) {
      ASSERT_EQ(groups.member(chip, rank), member[listed.group_of[chip] * listed.members + rank]) << chip;
    }
  }
}

void expect_same_on_random_meshes(const ClusterSpec& spec, std::uint64_t seed) {
  const Cluster cluster = build(spec);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 40; ++i) {
    const Mesh mesh = random_mesh(cluster, random);
    std::vector<int> axes{0, 1, 2, 3};
    for (std::size_t a = axes.size(); a > 1; --a) std::swap(axes[a - 1], axes[random() % a]);
    axes.resize(random() % 5);
    SCOPED_TRACE("mesh " + std::to_string(i));
    expect_same(cluster, mesh, axes);
  }
}

TEST(Groups, OfATorusAreThoseOfTheMesh) {
  expect_same_on_random_meshes(torus(v5p(), {4, 4, 8}), 1);
  expect_same_on_random_meshes(torus(v5e(), {8, 16}), 2);
}

TEST(Groups, OfOddExtentsAreThoseOfTheMesh) {
  ClusterSpec spec = torus(v5p(), {3, 5, 6});
  spec.wraps = {true, false, true};
  expect_same_on_random_meshes(spec, 3);
}

TEST(Groups, OfSeveralSlicesAreThoseOfTheMesh) {
  expect_same_on_random_meshes(torus(v5p(), {2, 2, 4}, 6), 4);
}

TEST(Groups, OfAHostAreThoseOfTheMesh) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip = v5p();
  spec.devices = 24;
  expect_same_on_random_meshes(spec, 5);
}

TEST(Groups, AlongNoAxisAreSingleChips) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}));
  const Groups groups(cluster.axes(), {});
  EXPECT_EQ(groups.members(), 1U);
  EXPECT_EQ(groups.rank_of(37), 0U);
  EXPECT_EQ(groups.member(37, 0), 37U);
}

}  // namespace
}  // namespace stepsim::testing
