// Meshes laid on hardware axes: what tiles, the shapes of groups, and which chips are in them.
#include "topology/mesh.h"

#include <gmock/gmock.h>

#include <set>

#include "chips.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Cluster& pod() {
  static const Cluster cluster = build(torus(v5e(), {16, 16}));  // both axes are rings
  return cluster;
}
const Cluster& open_slice() {
  static const Cluster cluster = build(torus(v5e(), {8, 16}));  // x is a line, y a ring
  return cluster;
}

Placement place(const Cluster& cluster, const std::vector<std::vector<std::string>>& terms) {
  Placement placement;
  for (const std::vector<std::string>& axis : terms) placement.digits.push_back(parse_digits(cluster, "key", axis));
  return placement;
}

Mesh mesh(const Cluster& cluster, std::vector<MeshAxis> axes, const std::vector<std::vector<std::string>>& terms) {
  return Mesh(cluster, std::move(axes), place(cluster, terms));
}

TEST(Mesh, AWholeAxisIsARingIfItWraps) {
  const Mesh on_pod = mesh(pod(), {{"fsdp", 16}, {"tensor", 16}}, {{"x"}, {"y"}});
  EXPECT_THAT(on_pod.group_shape({0}), ElementsAre(GroupAxis{0, 16, 1, true}));
  EXPECT_THAT(on_pod.group_shape({1}), ElementsAre(GroupAxis{1, 16, 1, true}));
  const Mesh on_slice = mesh(open_slice(), {{"fsdp", 8}, {"tensor", 16}}, {{"x"}, {"y"}});
  EXPECT_THAT(on_slice.group_shape({0}), ElementsAre(GroupAxis{0, 8, 1, false}));
}

TEST(Mesh, PartOfAnAxisIsASegmentOrStrided) {
  const Mesh m = mesh(pod(), {{"fsdp", 64}, {"tensor", 4}}, {{"x", "y:4@4"}, {"y:4"}});
  EXPECT_THAT(m.group_shape({1}), ElementsAre(GroupAxis{1, 4, 1, false})) << "four neighbours: an open segment";
  EXPECT_THAT(m.group_shape({0}), ElementsAre(GroupAxis{0, 16, 1, true}, GroupAxis{1, 4, 4, true}))
      << "every fourth chip all round: a closed ring of four hops a step";
}

TEST(Mesh, AStridedDigitInTheMiddleIsOpen) {
  const Mesh m = mesh(pod(), {{"data", 16}, {"a", 4}, {"b", 2}, {"c", 2}}, {{"x"}, {"y:4@4"}, {"y:2@2"}, {"y:2"}});
  EXPECT_THAT(m.group_shape({2}), ElementsAre(GroupAxis{1, 2, 2, false}));
}

TEST(Mesh, ABlockHasTwoAxes) {
  const Mesh m = mesh(pod(), {{"fsdp", 64}, {"tensor", 4}}, {{"x:8@2", "y:8@2"}, {"x:2", "y:2"}});
  EXPECT_THAT(m.group_shape({1}), ElementsAre(GroupAxis{0, 2, 1, false}, GroupAxis{1, 2, 1, false}));
}

TEST(Mesh, AdjacentDigitsMerge) {
  const Mesh m = mesh(pod(), {{"fsdp", 64}, {"tensor", 4}}, {{"x", "y:4@4"}, {"y:4"}});
  EXPECT_THAT(m.group_shape({0, 1}), ElementsAre(GroupAxis{0, 16, 1, true}, GroupAxis{1, 16, 1, true}));
  EXPECT_THAT(m.group_shape({1, 0}), ElementsAre(GroupAxis{1, 16, 1, true}, GroupAxis{0, 16, 1, true}))
      << "whichever mesh axes they belong to, in the order in which hardware axes are named";
}

TEST(Mesh, ExtentsOfOneVanish) {
  const Mesh m = mesh(pod(), {{"data", 1}, {"fsdp", 256}, {"tensor", 1}}, {{}, {"x", "y"}, {"x:1"}});
  EXPECT_THAT(m.group_shape({0}), IsEmpty());
  EXPECT_THAT(m.group_shape({2}), IsEmpty());
  EXPECT_EQ(m.groups({0}).members, 1U);
  EXPECT_EQ(m.groups({0}).group_of[200], 200U);
}

// Every chip has one place, every (group, rank) is taken once; whatever the axes.
TEST(Mesh, GroupsTileTheChips) {
  const Mesh m = mesh(open_slice(), {{"data", 4}, {"fsdp", 16}, {"tensor", 2}}, {{"y:4"}, {"x:4@2", "y:4@4"}, {"x:2"}});
  for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}, {2}, {0, 1}, {2, 0}, {0, 1, 2}, {2, 1, 0}}) {
    const Mesh::Groups groups = m.groups(axes);
    std::uint32_t members = 1;
    for (const int axis : axes) members *= static_cast<std::uint32_t>(m.axes()[static_cast<std::size_t>(axis)].extent);
    EXPECT_EQ(groups.members, members);
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    for (ChipId chip = 0; chip < 128; ++chip) {
      EXPECT_LT(groups.group_of[chip], 128 / members);
      EXPECT_LT(groups.rank_of[chip], members);
      places.insert({groups.group_of[chip], groups.rank_of[chip]});
    }
    EXPECT_EQ(places.size(), 128U);
  }
}

// Members that differ by one along a group axis are `hops` links apart on its hardware axis, round the end if closed.
TEST(Mesh, RanksFollowTheHardware) {
  const Cluster& cluster = pod();
  const Mesh m = mesh(cluster, {{"fsdp", 64}, {"tensor", 4}}, {{"x:8@2", "y:8@2"}, {"x:2", "y:2"}});
  for (const std::vector<int>& axes : {std::vector<int>{0}, {1}}) {
    const std::vector<GroupAxis> shape = m.group_shape(axes);
    const Mesh::Groups groups = m.groups(axes);
    std::uint32_t step = groups.members;
    for (const GroupAxis& axis : shape) {
      step /= static_cast<std::uint32_t>(axis.extent);
      for (ChipId chip = 0; chip < 256; ++chip) {
        const std::uint32_t along = groups.rank_of[chip] / step % static_cast<std::uint32_t>(axis.extent);
        const bool last = along + 1 == static_cast<std::uint32_t>(axis.extent);
        if (last && !axis.closed) continue;
        const ChipId next = cluster.link(cluster.along(chip, axis.hardware_axis, axis.hops).back()).to;
        ASSERT_EQ(groups.group_of[next], groups.group_of[chip]);
        ASSERT_EQ(groups.rank_of[next], groups.rank_of[chip] + step - (last ? step * (along + 1) : 0));
      }
    }
  }
}

TEST(Mesh, GroupsCountByTheirFirstChip) {
  const Mesh::Groups groups = mesh(pod(), {{"fsdp", 16}, {"tensor", 16}}, {{"x"}, {"y"}}).groups({0});
  EXPECT_EQ(groups.group_of[0], 0U);
  EXPECT_EQ(groups.group_of[1], 1U);
  EXPECT_EQ(groups.group_of[16], 0U);
  EXPECT_EQ(groups.rank_of[16], 1U);
}

TEST(Mesh, DevicesAndSlicesAreRings) {
  const Cluster slices = build(torus(v5p(), {4, 4, 4}, 2));
  const Mesh m = mesh(slices, {{"data", 2}, {"fsdp", 64}}, {{"dcn"}, {"x", "y", "z"}});
  EXPECT_THAT(m.group_shape({0}), ElementsAre(GroupAxis{0, 2, 1, true, {}, true}));
}

TEST(Mesh, DescribesWhatAnAxisLiesOn) {
  const Mesh m = mesh(open_slice(), {{"data", 1}, {"fsdp", 32}, {"tensor", 4}}, {{}, {"x", "y:4@4"}, {"y:4"}});
  EXPECT_EQ(m.describe(0), "one chip");
  EXPECT_EQ(m.describe(1), "x (line of 8), y[4 of 16, stride 4] (ring)");
  EXPECT_EQ(m.describe(2), "y[4 of 16] (line)");
}

TEST(Mesh, ExtentsMustMultiplyToTheChips) {
  const auto make = [](std::vector<MeshAxis> axes) { return [axes] { placements(pod(), axes, 10); }; };
  for (const std::vector<MeshAxis>& bad :
       std::vector<std::vector<MeshAxis>>{{},
                                          {{"fsdp", 128}},
                                          {{"fsdp", 512}},
                                          {{"fsdp", 2'000'000'000}, {"tensor", 2'000'000'000}},
                                          {{"fsdp", 0}},
                                          {{"fsdp", -256}, {"tensor", -1}},
                                          {{"fsdp", 16}, {"fsdp", 16}}}) {
    EXPECT_THAT(problem_keys(make(bad)), ::testing::Each("parallelism.mesh"));
  }
  EXPECT_THAT(problem_text(make({{"fsdp", 128}, {"tensor", 4}})), HasSubstr("fsdp 64 or tensor 2 would fit"));
}

TEST(Mesh, DigitsMustTileTheHardware) {
  const std::vector<MeshAxis> axes{{"fsdp", 64}, {"tensor", 4}};
  const auto keys = [&](const std::vector<std::vector<std::string>>& terms) {
    return problem_keys([&] { mesh(pod(), axes, terms); });
  };
  EXPECT_THAT(keys({{"x", "y:4"}, {"y:4"}}), ElementsAre("parallelism.placement.tensor")) << "overlap";
  EXPECT_THAT(keys({{"x:4@4", "y"}, {"x:4@4"}}), ElementsAre("parallelism.placement.fsdp")) << "no stride 1";
  EXPECT_THAT(keys({{"x", "y:4@2"}, {"y:4"}}), ElementsAre("parallelism.placement.fsdp")) << "strides do not fit";
  EXPECT_THAT(keys({{"x"}, {"y:4"}}), ElementsAre("parallelism.placement.fsdp")) << "16 is not 64";
  EXPECT_THAT(keys({{"x", "y"}, {}}), ElementsAre("parallelism.placement.fsdp", "parallelism.placement.tensor"));
  EXPECT_THAT(keys({{"x", "y"}}), ElementsAre("parallelism.placement"));
  Placement wild = place(pod(), {{"x", "y:4@4"}, {"y:4"}});
  wild.digits[1][0].hardware_axis = 7;
  EXPECT_THAT(problem_keys([&] { Mesh(pod(), axes, wild); }), ElementsAre("parallelism.placement.tensor"));
}

TEST(ParseDigits, TermsOutermostFirst) {
  const std::vector<AxisDigit> digits = parse_digits(pod(), "key", {"y", "x:4@4", "x:2"});
  ASSERT_EQ(digits.size(), 3U);
  EXPECT_EQ(digits[0].hardware_axis, 1);
  EXPECT_EQ(digits[0].extent, 16);
  EXPECT_EQ(digits[0].stride, 1);
  EXPECT_EQ(digits[1].hardware_axis, 0);
  EXPECT_EQ(digits[1].extent, 4);
  EXPECT_EQ(digits[1].stride, 4);
  EXPECT_EQ(digits[2].stride, 1);
}

TEST(ParseDigits, BadTermsNameTheKey) {
  const std::string key = "parallelism.placement.tensor";
  for (const char* term : {"", ":", "x:", "x:0", "x:-4", "x:3", "x:32", "x:4@", "x:4@3", "x:8@4", "x:4@4@4", "x:4:4",
                           "x 4", "z", "X", "x:99999999999", "x@4", "x:4@99999999999"}) {
    EXPECT_THAT(problem_keys([&] { parse_digits(pod(), key, {term}); }), ElementsAre(key)) << term;
  }
  EXPECT_THAT(problem_text([&] { parse_digits(pod(), key, {"z"}); }), HasSubstr("x of 16, y of 16"));
  EXPECT_THAT(problem_text([&] { parse_digits(pod(), key, {"x:3"}); }), HasSubstr("1, 2, 4, 8, 16"));
}

}  // namespace
}  // namespace stepsim::testing
