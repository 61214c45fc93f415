// The book's worked answers, row by row: produced by the simulator or the calculator, held against
// book_answers.yaml.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "book_rows.h"
#include "scenarios/formulas.h"
#include "tests/scenarios/load_text.h"

namespace stepsim::book {

namespace {

// --- The file --------------------------------------------------------------------------------------------------------

std::map<std::string, double> numbers(const YAML::Node& node) {
  std::map<std::string, double> found;
  for (const auto& entry : node) {
    double value = 0;
    if (YAML::convert<double>::decode(entry.second, value)) found[entry.first.as<std::string>()] = value;
  }
  return found;
}

Row read_row(const YAML::Node& node) {
  Row row;
  row.id = node["id"].as<std::string>();
  row.chapter = node["chapter"].as<int>();
  row.kind = node["kind"].as<std::string>();
  row.question = node["question"].as<std::string>();
  row.inputs = numbers(node["inputs"]);
  if (node["inputs"]["hw"]) row.hardware = node["inputs"]["hw"].as<std::string>();
  if (node["des"]) row.des = numbers(node["des"]);
  row.expected = node["expected"].as<double>();
  YAML::convert<double>::decode(node["printed"], row.printed);
  row.tolerance = node["tol_rel"].as<double>();
  return row;
}

const Answers& answers() {
  static const Answers all = [] {
    Answers found;
    add_calculated(found);
    add_simulated(found);
    add_gpu_networks(found);
    return found;
  }();
  return all;
}

// --- Holding a figure against its row --------------------------------------------------------------------------------

double target(const Row& row, const Figure& figure) {
  if (figure.target == "expected") return row.expected * figure.factor;
  if (figure.target == "printed") return row.printed * figure.factor;
  return row.des.at(figure.target == "des expected" ? "expected" : figure.target) * figure.factor;
}

/// A row's own tolerance covers the book's rounding. What an event-level run must reach, and an exact factor,
/// are written to ten digits or fewer: a thousandth is enough there. "0" means equal to the printed digits.
double tolerance(const Row& row, const Figure& figure) {
  constexpr double digits = 1e-9;
  constexpr double event_level = 1e-3;
  const bool own = figure.target == "expected" && figure.factor == 1;
  return std::max(digits, own ? row.tolerance : event_level);
}

void expect_met(const Row& row, const Figure& figure) {
  const double wanted = target(row, figure);
  const double slack = std::abs(wanted) * tolerance(row, figure);
  const std::string what =
      row.id + " " + figure.label + ": " + row.question + (figure.reason.empty() ? "" : " (" + figure.reason + ")");
  if (figure.relation != Relation::at_least) {
    EXPECT_LE(figure.value, wanted + slack) << what;
  }
  if (figure.relation != Relation::at_most) {
    EXPECT_GE(figure.value, wanted - slack) << what;
  }
}

class BookRow : public testing::TestWithParam<std::string> {};

TEST_P(BookRow, IsAnswered) {
  const Row& of = row(GetParam());
  const std::vector<Figure> figures = answers().at(of.id).produce(of);
  ASSERT_FALSE(figures.empty());
  for (const Figure& figure : figures) expect_met(of, figure);
}

std::vector<std::string> answered() {
  std::vector<std::string> ids;
  for (const Row& each : rows()) {
    if (answers().count(each.id) > 0) ids.push_back(each.id);
  }
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Book, BookRow, testing::ValuesIn(answered()),
                         [](const testing::TestParamInfo<std::string>& row) { return row.param; });

// --- Coverage --------------------------------------------------------------------------------------------------------

TEST(BookCoverage, EveryRowIsAnsweredOrLeftOutWithAReason) {
  const std::map<std::string, std::string> left = left_out();
  for (const Row& each : rows()) {
    EXPECT_EQ(answers().count(each.id) + left.count(each.id), 1U) << each.id;
  }
  EXPECT_EQ(answers().size() + left.size(), rows().size()) << "an answer or a reason names no row";
}

TEST(BookCoverage, DoesNotFall) {
  int simulated = 0;
  int calculated = 0;
  for (const auto& [id, answer] : answers()) ++(answer.way == Way::simulated ? simulated : calculated);
  std::cout << "book rows: " << rows().size() << ", simulated " << simulated << ", calculated " << calculated
            << ", left out " << left_out().size() << "\n";
  for (const auto& [id, reason] : left_out()) std::cout << "  " << id << ": " << reason << "\n";
  EXPECT_GE(simulated, 57);
  EXPECT_GE(simulated + calculated, 161);
}

/// Whatever happens in time on hardware in scope is answered by the simulator.
TEST(BookCoverage, WhatHappensInTimeIsSimulated) {
  const std::set<std::string> in_time{"collective", "p2p", "hbm", "compute"};
  for (const Row& each : rows()) {
    const auto found = answers().find(each.id);
    if (found == answers().end() || (in_time.count(each.kind) == 0 && each.des.empty())) continue;
    EXPECT_EQ(found->second.way, Way::simulated) << each.id;
  }
}

}  // namespace

double Row::operator[](const std::string& input) const {
  const auto found = inputs.find(input);
  if (found == inputs.end()) throw std::out_of_range("row " + id + " has no input " + input);
  return found->second;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> read;
    for (const YAML::Node& node : YAML::LoadFile(STEPSIM_SOURCE_DIR "/tests/book/book_answers.yaml")["rows"]) {
      read.push_back(read_row(node));
    }
    return read;
  }();
  return all;
}

const Row& row(const std::string& id) {
  const auto found = std::find_if(rows().begin(), rows().end(), [&](const Row& each) { return each.id == id; });
  if (found == rows().end()) throw std::out_of_range("no row " + id);
  return *found;
}

std::map<std::string, std::string> left_out() {
  const std::string inference = "inference";
  return {{"in_q2_batch", inference},
          {"in_q5_total", "inference, mixture of experts"},
          {"in_q5_active", "inference, mixture of experts"},
          {"in_q7_N", "inference, weight-stationary sharding"},
          {"in_gen_tp", inference}};
}

ChipSpec catalog_chip(const std::string& generation) {
  const std::string name = "tpu-" + (generation == "v4p" ? std::string("v4") : generation);
  const bool planar = generation == "v5e" || generation == "v6e";
  const std::string text = "cluster: {kind: torus, chip: " + name + ", shape: " + (planar ? "[4, 4]" : "[2, 2, 4]") +
                           "}\n"
                           "model: {layers: 1, d_model: 1024, d_ff: 4096, attention: none, gated: false}\n"
                           "parallelism: {mesh: {fsdp: 16}, batch: 16Ki}\n";
  return load_text(text).cluster.chip;
}

ChipSpec ideal_chip(const std::string& generation) {
  ChipSpec chip = catalog_chip(generation);
  chip.matmul_efficiency = 1;
  chip.memory_efficiency = 1;
  chip.launch_overhead = Picoseconds(0);
  chip.matmul_tile = 1;
  return chip;
}

double bf16_peak(const std::string& generation) {
  return catalog_chip(generation).flops.at("bf16");
}

double hbm_rate(const std::string& generation) {
  return catalog_chip(generation).memory_rate;
}

double alpha(const std::string& generation) {
  const ChipSpec chip = catalog_chip(generation);
  return arithmetic_intensity(chip.flops.at("bf16"), 2.0 * static_cast<double>(chip.link_rate));
}

ModelSpec model_of(const Row& row) {
  const auto whole = [&](const std::string& input) { return static_cast<std::int64_t>(row[input]); };
  ModelSpec model;
  model.layers = whole("L");
  model.d_model = whole("D");
  model.d_ff = whole("F");
  model.vocabulary = whole("V");
  model.sequence = 4096;
  const bool grouped = row.inputs.count("K") > 0;
  model.head_dim = grouped ? whole("H") : 128;
  model.heads = grouped ? whole("N") : model.d_model / model.head_dim;
  model.kv_heads = grouped ? whole("K") : model.heads;
  return model;
}

}  // namespace stepsim::book
