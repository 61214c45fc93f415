// Names of slices. Expected shapes: the table of MaxText (accelerator_to_spec_map.py, which follows the Cloud TPU
// docs); v3 from the docs' naming by TensorCores.
#include <gmock/gmock.h>

#include "chips.h"
#include "topology/torus_shape.h"

namespace stepsim::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Row {
  const char* name;
  std::vector<int> shape;
};

void expect_shapes(const ChipSpec& chip, const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(slice_shape(row.name, chip), row.shape) << row.name;
}

TEST(SliceName, V5pCountsTensorCores) {
  expect_shapes(v5p(), {{"v5p-8", {2, 2, 1}},        {"v5p-16", {2, 2, 2}},       {"v5p-32", {2, 2, 4}},
                        {"v5p-64", {2, 4, 4}},       {"v5p-128", {4, 4, 4}},      {"v5p-256", {4, 4, 8}},
                        {"v5p-384", {4, 4, 12}},     {"v5p-512", {4, 8, 8}},      {"v5p-640", {4, 4, 20}},
                        {"v5p-768", {4, 8, 12}},     {"v5p-1024", {8, 8, 8}},     {"v5p-1408", {4, 4, 44}},
                        {"v5p-1920", {4, 12, 20}},   {"v5p-2048", {8, 8, 16}},    {"v5p-3072", {8, 12, 16}},
                        {"v5p-4096", {8, 16, 16}},   {"v5p-4480", {4, 20, 28}},   {"v5p-6016", {4, 4, 188}},
                        {"v5p-6144", {12, 16, 16}},  {"v5p-6912", {12, 12, 24}},  {"v5p-8192", {16, 16, 16}},
                        {"v5p-9216", {12, 16, 24}},  {"v5p-10368", {12, 12, 36}}, {"v5p-11520", {12, 20, 24}},
                        {"v5p-12288", {16, 16, 24}}, {"v5p-13824", {12, 24, 24}}, {"v5p-17920", {16, 20, 28}}});
}

TEST(SliceName, V4AndV7xCountTensorCores) {
  expect_shapes(v4(), {{"v4-8", {2, 2, 1}}, {"v4-64", {2, 4, 4}}, {"v4-512", {4, 8, 8}}, {"v4-4096", {8, 16, 16}}});
  expect_shapes(
      v7x(),
      {{"tpu7x-2", {1, 1, 1}}, {"tpu7x-128", {4, 4, 4}}, {"tpu7x-16384", {16, 16, 32}}, {"tpu7x-18432", {16, 24, 24}}});
}

TEST(SliceName, V5eAndV6eCountChips) {
  expect_shapes(v5e(), {{"v5e-1", {1, 1}},
                        {"v5e-4", {2, 2}},
                        {"v5e-8", {2, 4}},
                        {"v5e-16", {4, 4}},
                        {"v5e-32", {4, 8}},
                        {"v5e-64", {8, 8}},
                        {"v5e-128", {8, 16}},
                        {"v5e-256", {16, 16}},
                        {"v5litepod-16", {4, 4}}});
  expect_shapes(v6e(), {{"v6e-8", {2, 4}}, {"v6e-256", {16, 16}}});
}

TEST(SliceName, V3CountsTensorCores) {
  expect_shapes(v3(), {{"v3-8", {2, 2}}, {"v3-128", {8, 8}}, {"v3-1024", {16, 32}}, {"v3-2048", {32, 32}}});
}

TEST(SliceName, AShapeIsTakenAsItStands) {
  expect_shapes(v5p(), {{"v5p-8x16x16", {8, 16, 16}}, {"v5p-16x4x4", {16, 4, 4}}, {"v5p-2x2x1", {2, 2, 1}}});
  expect_shapes(v5e(), {{"v5e-8x4", {8, 4}}});
}

// users.md of the field: "is v5p-8 eight chips?" No, four chips with two cores each.
TEST(SliceName, CoresAndChipsOfANamedSlice) {
  const Cluster cluster = build(torus(v5p(), slice_shape("v5p-8", v5p())));
  EXPECT_EQ(cluster.chips(), 4U);
  EXPECT_EQ(cluster.cores(), 8);
}

TEST(SliceName, UnknownCountsAreAnsweredWithTheNearest) {
  const auto message = [](const ChipSpec& chip, const std::string& name) {
    return problem_text([&] { slice_shape(name, chip); });
  };
  EXPECT_THAT(message(v5p(), "v5p-4097"), AllOf(HasSubstr("v5p-4096 (8x16x16)"), HasSubstr("v5p-4224 (4x12x44)")));
  EXPECT_THAT(message(v5p(), "v5p-2"), HasSubstr("v5p-8 (2x2x1)"));
  EXPECT_THAT(message(v5p(), "v5p-99999"), HasSubstr("v5p-17920"));
  EXPECT_THAT(message(v5e(), "v5e-512"), HasSubstr("v5e-256 (16x16)"));
  EXPECT_THAT(message(v5e(), "v5e-24"), AllOf(HasSubstr("v5e-16"), HasSubstr("v5e-32")));
}

TEST(SliceName, BadNamesAreInputErrors) {
  for (const char* name :
       {"", "v5p", "v5p-", "-8", "v5p-x", "v5p-4x", "v5p-4x4", "v5p-4x4x4x4", "v5p-4x4x5", "v5p-0", "v5p--8", "v5p-8 ",
        "v5p-1e3", "v5p-99999999999999999999", "v4-8", "v5e-16", "v5litepod-16"}) {
    EXPECT_THAT(problem_keys([&] { slice_shape(name, v5p()); }), ElementsAre("cluster.slice")) << name;
  }
  EXPECT_THAT(problem_keys([] { slice_shape("v4-8", v5p(), "cluster.shape"); }), ElementsAre("cluster.shape"));
  EXPECT_THAT(problem_keys([] { slice_shape("gpu-8", ChipSpec()); }), ElementsAre("cluster.slice"));
}

}  // namespace
}  // namespace stepsim::testing
