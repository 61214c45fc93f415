// The bubble rates that Qi et al., arXiv 2401.10241, publish (table 5), from the times they measured (table 9) and the
// memory of table 1: 1F1B, ZB-H1, ZB-H2, ZB-1p and ZB-2p for 12 models and sizes.
#include <gtest/gtest.h>

#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

struct PaperRow {
  std::string model;
  PipelineSizes sizes;
  nlohmann::json rates;  // of table 5, by column
};

/// Table 1 per layer: M_B = s b (34 h + 5 a s), M_W = 32 s b h. First and last stage hold one layer fewer (table 3).
ActivationUnits activation(const nlohmann::json& model) {
  const double layers = model[1];
  const double heads = model[2];
  const double hidden = model[3];
  const double sequence = model[4];
  const double ranks = model[5];
  const double batch = model[6];
  const double layers_per_stage = (layers + 2) / ranks;
  return {layers_per_stage * sequence * batch * (34 * hidden + 5 * heads * sequence),
          layers_per_stage * 32 * sequence * batch * hidden};
}

std::vector<PaperRow> paper_rows() {
  const nlohmann::json paper = vector_file("zb_paper_tables");
  std::vector<PaperRow> rows;
  for (const nlohmann::json& times : paper["table9_times_ms"]["rows"]) {
    PaperRow row{times[0], {}, {}};
    row.sizes.ranks = times[1];
    row.sizes.microbatches = times[2];
    row.sizes.costs = {ticks(times[3]), ticks(times[4]), ticks(times[5]), 0, 0, ticks(times[6])};
    row.sizes.costs.backward = row.sizes.costs.input_gradient + row.sizes.costs.weight_gradient;
    for (const nlohmann::json& model : paper["table3_models"]["rows"]) {
      if (model[0] == row.model) row.sizes.activation = activation(model);
    }
    const nlohmann::json& columns = paper["table5_bubble_rate"]["columns"];
    for (const nlohmann::json& rates : paper["table5_bubble_rate"]["rows"]) {
      if (rates[0] != times[0] || rates[1] != times[1] || rates[2] != times[2]) continue;
      for (std::size_t column = 3; column < columns.size(); ++column) {
        row.rates[columns[column].get<std::string>()] = rates[column];
      }
    }
    rows.push_back(row);
  }
  return rows;
}

class ZeroBubblePaper : public ::testing::TestWithParam<PaperRow> {};

TEST_P(ZeroBubblePaper, BubbleRatesAreThoseOfTable5) {
  const PaperRow& row = GetParam();
  const std::pair<const char*, const char*> columns[] = {
      {"1F1B", "1f1b"}, {"ZB-H1", "zb_h1"}, {"ZB-H2", "zb_h2"}, {"ZB-1p", "zb_1p"}, {"ZB-2p", "zb_2p"}};
  for (const auto& [column, name] : columns) {
    const PlayedOrder played = play(pipeline_order(name, row.sizes), {row.sizes.costs});
    const double rate = std::round(played.rank_bubble() * 1e4) / 1e4;
    EXPECT_DOUBLE_EQ(rate, row.rates[column].get<double>()) << column;
  }
}

TEST(ZeroBubblePaper, ThereAreTwelveRows) {
  EXPECT_EQ(paper_rows().size(), 12U);
}

INSTANTIATE_TEST_SUITE_P(Table5, ZeroBubblePaper, ::testing::ValuesIn(paper_rows()), [](const auto& info) {
  std::string name = info.param.model + "_m" + std::to_string(info.param.sizes.microbatches);
  for (char& letter : name) letter = letter == '.' ? '_' : letter;
  return name;
});

/// The published generator's own times for its orders (zb_auto_profiled.json).
TEST(ZeroBubbleProfiled, TimesAreTheGenerators) {
  for (const Vector& vector : vectors({"zb_auto_profiled"})) {
    const PipelineSizes sizes = sizes_of(vector.json);
    const PlayedOrder played = play(pipeline_order("zb_auto_profiled", sizes), {sizes.costs});
    const nlohmann::json& real = vector.json["real"];
    EXPECT_NEAR(to_units(played.makespan), real["makespan"].get<double>(), 1e-6);
    EXPECT_NEAR(to_units(played.longest_rank), real["max_rank_span"].get<double>(), 1e-6);
    EXPECT_NEAR(played.rank_bubble(), real["bubble_rate_paper_def"].get<double>(), 1e-9);
    EXPECT_NEAR(played.bubble(), real["bubble_rate_makespan"].get<double>(), 1e-9);
  }
}

}  // namespace
}  // namespace stepsim
