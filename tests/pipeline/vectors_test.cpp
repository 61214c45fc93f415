// Every published order: the same actions, and the same times in all cost sets (vectors/README.md).
#include "tests/pipeline/vectors.h"

#include <gtest/gtest.h>

namespace stepsim {
namespace {

class PublishedOrder : public ::testing::TestWithParam<Vector> {
 protected:
  [[nodiscard]] const nlohmann::json& json() const { return GetParam().json; }
  [[nodiscard]] PipelineOrder order() const { return pipeline_order(GetParam().name, sizes_of(json())); }
};

/// Of every rank, where the vector says it.
void expect_ranks(const PlayedOrder& played, const nlohmann::json& expected, const char* key, Ticks PlayedRank::*what) {
  if (!expected.contains(key)) return;
  for (std::size_t r = 0; r < played.ranks.size(); ++r) {
    EXPECT_EQ(played.ranks[r].*what, ticks(expected[key][r])) << key << " of rank " << r;
  }
}

void expect_times(const PlayedOrder& played, const nlohmann::json& expected) {
  EXPECT_EQ(played.makespan, ticks(expected["makespan"]));
  EXPECT_EQ(played.longest_rank, ticks(expected.value("max_rank_span", to_units(played.longest_rank))));
  EXPECT_NEAR(played.bubble(), expected.value("bubble", played.bubble()), 0.5e-6);
  expect_ranks(played, expected, "start", &PlayedRank::start);
  expect_ranks(played, expected, "end", &PlayedRank::end);
  expect_ranks(played, expected, "busy", &PlayedRank::busy);
}

TEST_P(PublishedOrder, ActionsAreThePublishedOnes) {
  const PipelineOrder made = order();
  ASSERT_EQ(made.ranks.size(), json()["ranks"].size());
  for (std::size_t r = 0; r < made.ranks.size(); ++r) {
    EXPECT_EQ(joined(made.ranks[r]), json()["ranks"][r].get<std::string>()) << "rank " << r;
  }
}

TEST_P(PublishedOrder, TimesAreThePublishedOnes) {
  const PipelineOrder made = order();
  expect_times(play(made, {unit_costs()}), json()["unit"]);
  expect_times(play(made, {uneven_costs()}), json()["alt"]);
  if (json().contains("unit_overlap_serial")) {
    expect_times(play(made, {unit_costs(), FusedPairs::serial}), json()["unit_overlap_serial"]);
    ActionCosts overlapped = unit_costs();
    overlapped.fused = ticks(2);
    expect_times(play(made, {overlapped}), json()["unit_overlap_dur2"]);
  }
}

TEST_P(PublishedOrder, PeaksAreThePublishedOnes) {
  const PlayedOrder played = play(order(), {unit_costs()});
  for (std::size_t r = 0; r < played.ranks.size(); ++r) {
    EXPECT_EQ(played.ranks[r].peak_until_weight, json()["peak_W"][r].get<int>()) << "rank " << r;
    EXPECT_EQ(played.ranks[r].peak_until_input, json()["peak_I"][r].get<int>()) << "rank " << r;
  }
}

std::string vector_name(const ::testing::TestParamInfo<Vector>& info) {
  const nlohmann::json& json = info.param.json;
  std::string name = info.param.name + "_p" + json["p"].dump() + "_v" + json["v"].dump() + "_m" + json["m"].dump();
  return name + "_" + std::to_string(info.param.place);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, PublishedOrder,
    ::testing::ValuesIn(vectors({"gpipe", "1f1b", "interleaved_1f1b", "megatron_interleaved_overlap",
                                 "torch_interleaved_1f1b_flex", "torch_interleaved_zb", "looped_bfs", "zb_h1", "zb_h2",
                                 "zb_1p_auto", "zb_2p_auto", "zb_auto_profiled", "torch_zbv", "zbv_auto", "zbv_auto_mw",
                                 "v_half", "v_min", "v_1f1b", "v_adaptive"})),
    vector_name);

INSTANTIATE_TEST_SUITE_P(
    MoreVectors, PublishedOrder,
    ::testing::ValuesIn(vectors({"seq1f1b", "grouped_interleaved", "dualpipe", "dualpipev", "chimera"})), vector_name);

}  // namespace
}  // namespace stepsim
