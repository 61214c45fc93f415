// Every published order through the program itself: `stepsim schedule NAME --json` says the same actions, times and peaks
// (tests/pipeline/vectors/README.md says where from), and the JSON keeps to its schema.
#include <gtest/gtest.h>

#include <filesystem>

#include "process.h"
#include "schema.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

using Json = nlohmann::json;

const std::string uneven = " --times F=10,I=12,W=8,B=20,FB=30 --p2p 3";

Json schema() {
  std::ifstream in(STEPSIM_SOURCE_DIR "/tools/schedule.schema.json");
  return Json::parse(in);
}

Json played(const std::string& arguments) {
  const Outcome run = stepsim("schedule " + arguments + " --json -");
  EXPECT_EQ(run.code, 0) << arguments << "\n" << run.err;
  if (!Json::accept(run.out)) return Json::object();
  Json json = Json::parse(run.out);
  for (const std::string& problem : Schema::problems(schema(), json)) ADD_FAILURE() << problem;
  return json;
}

std::string number(const Json& json, const char* option, const char* key) {
  return json.contains(key) ? std::string(" ") + option + " " + json[key].dump() : "";
}

std::string arguments_of(const Vector& vector) {
  const Json& json = vector.json;
  return vector.name + number(json, "--ranks", "p") + number(json, "--stages-per-rank", "v") +
         number(json, "--microbatches", "m") + number(json, "--group", "group") +
         number(json, "--segments", "segments") + number(json, "--memory-limit", "mem_limit") +
         number(json, "--memory-limit", "max_mem");
}

/// All that the vector says of this cost set.
void expect_times(const Json& json, const Json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (key == "bubble") {
      EXPECT_NEAR(json.at("bubble").get<double>(), value.get<double>(), 0.5e-6);
    } else {
      EXPECT_EQ(json.at(key), value) << key;
    }
  }
}

void expect_order(const Json& json, const Json& vector) {
  ASSERT_EQ(json["ranks"].size(), vector["ranks"].size());
  for (std::size_t r = 0; r < json["ranks"].size(); ++r) {
    std::string list;
    for (const Json& action : json["ranks"][r]) list += (list.empty() ? "" : ",") + action.get<std::string>();
    EXPECT_EQ(list, vector["ranks"][r].get<std::string>()) << "rank " << r;
  }
  EXPECT_EQ(json["peak_W"], vector["peak_W"]);
  EXPECT_EQ(json["peak_I"], vector["peak_I"]);
  EXPECT_EQ(json["stage_rank"], vector.value("stage_rank", json["stage_rank"]));
}

/// The actions of a rank, each with its time, say the rank's start, end and (fused pairs counted once) busy time.
void expect_actions_agree(const Json& json) {
  for (std::size_t r = 0; r < json["actions"].size(); ++r) {
    double busy = 0;
    double end = 0;
    for (const Json& action : json["actions"][r]) {
      if (action["start"].get<double>() >= end) busy += action["end"].get<double>() - action["start"].get<double>();
      end = std::max(end, action["end"].get<double>());
    }
    EXPECT_EQ(json["actions"][r][0]["start"], json["start"][r]);
    EXPECT_EQ(json["end"][r].get<double>(), end);
    EXPECT_NEAR(json["busy"][r].get<double>(), busy, 1e-6);
  }
}

class PublishedOrder : public ::testing::TestWithParam<Vector> {};

TEST_P(PublishedOrder, IsWhatTheProgramSays) {
  const Json& vector = GetParam().json;
  const std::string arguments = arguments_of(GetParam());
  const Json unit = played(arguments);
  expect_order(unit, vector);
  expect_times(unit, vector["unit"]);
  expect_actions_agree(unit);
  const Json alt = played(arguments + uneven);
  expect_order(alt, vector);
  expect_times(alt, vector["alt"]);
  if (!vector.contains("unit_overlap_serial")) return;
  expect_times(played(arguments + " --fused serial"), vector["unit_overlap_serial"]);
  expect_times(played(arguments + " --times FB=2"), vector["unit_overlap_dur2"]);
}

/// All files with orders by name; plans for other costs than they are played with come below.
std::vector<Vector> all_vectors() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/tests/pipeline/vectors")) {
    const std::string name = file.path().stem();
    if (file.path().extension() != ".json" || name == "torch_lowered" || name == "zb_paper_tables") continue;
    if (name != "zb_auto_profiled") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return vectors(names);
}

std::string vector_name(const ::testing::TestParamInfo<Vector>& info) {
  const Json& json = info.param.json;
  return info.param.name + "_p" + json["p"].dump() + "_v" + json["v"].dump() + "_m" + json["m"].dump() + "_" +
         std::to_string(info.param.place);
}

INSTANTIATE_TEST_SUITE_P(Vectors, PublishedOrder, ::testing::ValuesIn(all_vectors()), vector_name);

/// Planned with measured costs, written as CSV, and played from there with others.
class MeasuredPlan : public ::testing::TestWithParam<Vector> {};

TEST_P(MeasuredPlan, IsWhatTheProgramSays) {
  const Json& vector = GetParam().json;
  const Json& cost = vector["cost"];
  const Json& mem = vector["mem"];
  const Folder folder;
  const std::string csv = folder.file("plan.csv");
  const Json real =
      played(arguments_of(GetParam()) + " --times F=" + cost["F"].dump() + ",I=" + cost["I"].dump() +
             ",W=" + cost["W"].dump() + " --p2p " + cost["comm"].dump() + " --activation F=" + mem["F"].dump() +
             ",W=" + std::to_string(-mem["W"].get<std::int64_t>()) + " --memory-limit " + mem["limit"].dump() +
             " --csv '" + csv + "'");
  expect_order(real, vector);
  EXPECT_NEAR(real["makespan"].get<double>(), vector["real"]["makespan"].get<double>(), 1e-6);
  EXPECT_NEAR(real["max_rank_span"].get<double>(), vector["real"]["max_rank_span"].get<double>(), 1e-6);
  EXPECT_NEAR(real["rank_bubble"].get<double>(), vector["real"]["bubble_rate_paper_def"].get<double>(), 1e-6);
  EXPECT_NEAR(real["rank_bubble"].get<double>(), vector["paper_bubble_rate"].get<double>(), 0.5e-4);
  EXPECT_NEAR(real["bubble"].get<double>(), vector["real"]["bubble_rate_makespan"].get<double>(), 1e-6);
  EXPECT_LE(real["makespan"].dump().size(), 9U);  // 1730.67, not 1730.6700000000003
  for (const Json& held : real["peak_held"]) EXPECT_LE(held, mem["limit"]);
  const Json unit = played("'" + csv + "'");
  expect_order(unit, vector);
  expect_times(unit, vector["unit"]);
  expect_times(played("'" + csv + "'" + uneven), vector["alt"]);
}

INSTANTIATE_TEST_SUITE_P(Vectors, MeasuredPlan, ::testing::ValuesIn(vectors({"zb_auto_profiled"})), vector_name);

}  // namespace
}  // namespace stepsim
