// Which slices are valid, which of their axes wrap, and how many hosts they have.
#include "topology/torus_shape.h"

#include <gmock/gmock.h>

#include "chips.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Wraps = std::vector<bool>;

Wraps wraps(const ChipSpec& chip, const std::vector<int>& shape) {
  return wraps_of(build(torus(chip, shape)));
}

// Cloud TPU docs, v4 and v5p: slices of whole 4x4x4 cubes are 3D tori; smaller ones have no wraparound links.
TEST(TorusShape, SlicesOfWholeCubesWrapOnEveryAxis) {
  for (const ChipSpec& chip : {v4(), v5p(), v7x()}) {
    EXPECT_EQ(wraps(chip, {4, 4, 4}), Wraps({true, true, true})) << chip.name;
    EXPECT_EQ(wraps(chip, {4, 8, 12}), Wraps({true, true, true})) << chip.name;
    EXPECT_EQ(wraps(chip, {2, 4, 4}), Wraps({false, false, false})) << chip.name;
    EXPECT_EQ(wraps(chip, {2, 2, 1}), Wraps({false, false, false})) << chip.name;
  }
}

// "How To Scale Your Model", chapter 2: v5e and v6e wrap only along an axis of 16; 8x16 on the long axis only.
TEST(TorusShape, PiecesOfOneTorusWrapOnlyAtFullExtent) {
  for (const ChipSpec& chip : {v5e(), v6e()}) {
    EXPECT_EQ(wraps(chip, {16, 16}), Wraps({true, true})) << chip.name;
    EXPECT_EQ(wraps(chip, {8, 16}), Wraps({false, true})) << chip.name;
    EXPECT_EQ(wraps(chip, {8, 8}), Wraps({false, false})) << chip.name;
    EXPECT_EQ(wraps(chip, {4, 4}), Wraps({false, false})) << chip.name;
  }
  EXPECT_EQ(wraps(v3(), {32, 32}), Wraps({true, true}));
  EXPECT_EQ(wraps(v3(), {16, 16}), Wraps({false, false}));
}

TEST(TorusShape, GivenWrapsOverruleTheRule) {
  ClusterSpec spec = torus(v5p(), {4, 4, 4});
  spec.wraps = {false, true, false};
  EXPECT_EQ(wraps_of(build(spec)), Wraps({false, true, false}));
  spec = torus(v5p(), {8, 1, 1});  // a what-if: no such slice is sold
  spec.wraps = {true, true, true};
  EXPECT_EQ(wraps_of(build(spec)), Wraps({true, false, false})) << "an axis of one chip has no links";
}

// Optical switches join any cubes: MaxText lists tpu7x 16x16x32; 8192 chips also fit v5p's pod of 8960.
TEST(TorusShape, WholeCubesMayBeLongerThanThePod) {
  EXPECT_EQ(build(torus(v5p(), {16, 16, 32})).chips(), 8192U);
  EXPECT_EQ(build(torus(v7x(), {16, 16, 32})).chips(), 8192U);
  EXPECT_EQ(build(torus(v5p(), {16, 20, 28})).chips(), 8960U);
  EXPECT_THAT(problem_keys([] { build(torus(v5p(), {16, 24, 28})); }), ElementsAre("cluster.shape"));
}

TEST(TorusShape, BadShapesNameTheKey) {
  const std::vector<ClusterSpec> bad{torus(v5p(), {}),
                                     torus(v5p(), {16, 16}),
                                     torus(v5p(), {4, 4, 0}),
                                     torus(v5p(), {4, 4, -4}),
                                     torus(v5p(), {4, 4, 6}),
                                     torus(v5p(), {4, 4, 1}),
                                     torus(v5e(), {16, 32}),
                                     torus(v5e(), {4, 4, 4}),
                                     torus(v3(), {64, 4}),
                                     torus(v4(), {16, 16, 32}),
                                     torus(v4(), {1 << 30, 1 << 30, 1 << 30})};
  for (const ClusterSpec& spec : bad) {
    EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.shape")) << shape_text(spec.shape);
  }
  EXPECT_THAT(problem_text([] { build(torus(v5p(), {4, 4, 6})); }), HasSubstr("multiples of 4"));
}

TEST(TorusShape, BadWrapsSlicesAndChipsNameTheKey) {
  ClusterSpec spec = torus(v5p(), {4, 4, 4});
  spec.wraps = {true};
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.wraps"));
  for (const int slices : {0, -1, 1'000'000'000}) {
    EXPECT_THAT(problem_keys([&] { build(torus(v5p(), {4, 4, 4}, slices)); }), ElementsAre("cluster.slices"));
  }
  ChipSpec no_network = v3();
  no_network.dcn_rate_per_chip = 0;
  EXPECT_THAT(problem_keys([&] { build(torus(no_network, {4, 4}, 2)); }), ElementsAre("cluster.slices"));
  ChipSpec gpu;
  gpu.name = "gpu";
  EXPECT_THAT(problem_keys([&] { build(torus(gpu, {4})); }), ElementsAre("cluster.chip"));
  ChipSpec crooked = v5e();
  crooked.pod = {16};
  EXPECT_THAT(problem_keys([&] { build(torus(crooked, {4, 4})); }), ElementsAre("cluster.chip"));
}

TEST(TorusShape, SeveralProblemsAreReportedAtOnce) {
  ClusterSpec spec = torus(v5p(), {4, 4});
  spec.wraps = {true, true};
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.shape", "cluster.wraps"));
}

TEST(TorusShape, UnknownKindNamesTheKnownOnes) {
  ClusterSpec spec;
  spec.kind = "tours";
  EXPECT_THAT(problem_text([&] { build(spec); }), HasSubstr("torus"));
  EXPECT_THAT(problem_keys([&] { build(spec); }), ElementsAre("cluster.kind"));
}

struct HostRow {
  ChipSpec chip;
  std::vector<int> shape;
  int hosts;
};

// Cloud TPU docs: tables of slices of v5p (4 chips a host) and v5e (8 chips a host; smaller slices take part of one).
TEST(TorusShape, HostsAsInTheDocs) {
  const std::vector<HostRow> rows{{v5p(), {2, 2, 1}, 1},       {v5p(), {2, 2, 2}, 2},  {v5p(), {2, 4, 4}, 8},
                                  {v5p(), {4, 4, 4}, 16},      {v5p(), {4, 4, 8}, 32}, {v5p(), {8, 16, 16}, 512},
                                  {v5p(), {16, 16, 24}, 1536}, {v5e(), {1, 1}, 1},     {v5e(), {2, 2}, 1},
                                  {v5e(), {2, 4}, 1},          {v5e(), {4, 4}, 2},     {v5e(), {4, 8}, 4},
                                  {v5e(), {8, 8}, 8},          {v5e(), {8, 16}, 16},   {v5e(), {16, 16}, 32}};
  for (const HostRow& row : rows) {
    EXPECT_EQ(build(torus(row.chip, row.shape)).hosts(), row.hosts) << row.chip.name << " " << shape_text(row.shape);
  }
  EXPECT_EQ(build(torus(v5p(), {4, 4, 4}, 3)).hosts(), 48);
}

}  // namespace
}  // namespace stepsim::testing
