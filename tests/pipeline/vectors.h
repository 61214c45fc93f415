// vectors.h: published pipeline orders with their timing, as tests read them (vectors/README.md says where from).
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/family.h"

namespace stepsim {

struct Vector {
  std::string name;       // of the schedule, which is the file's
  std::size_t place = 0;  // in the file
  nlohmann::json json;
};

inline nlohmann::json vector_file(const std::string& name) {
  std::ifstream in(std::string(STEPSIM_SOURCE_DIR) + "/tests/pipeline/vectors/" + name + ".json");
  return nlohmann::json::parse(in);
}

/// All vectors of these schedules.
inline std::vector<Vector> vectors(const std::vector<std::string>& names) {
  std::vector<Vector> all;
  for (const std::string& name : names) {
    const nlohmann::json file = vector_file(name);
    for (const nlohmann::json& one : file["vectors"]) all.push_back({name, all.size(), one});
  }
  return all;
}

inline Ticks ticks(double units) {
  return std::llround(units * static_cast<double>(ticks_per_unit));
}

inline PipelineSizes sizes_of(const nlohmann::json& json) {
  PipelineSizes sizes;
  sizes.ranks = json["p"];
  sizes.stages_per_rank = json["v"];
  sizes.microbatches = json["m"];
  sizes.group = json.value("group", 0);
  sizes.segments = json.value("segments", 1);
  if (json.contains("mem_limit")) sizes.memory_limit = json["mem_limit"].get<double>();
  if (json.contains("max_mem")) sizes.memory_limit = json["max_mem"].get<double>();
  if (json.contains("cost")) {
    const nlohmann::json& cost = json["cost"];
    sizes.costs = {ticks(cost["F"]), ticks(cost["I"]), ticks(cost["W"]), 0, 0, ticks(cost["comm"])};
    sizes.costs.backward = sizes.costs.input_gradient + sizes.costs.weight_gradient;
    const nlohmann::json& mem = json["mem"];
    sizes.activation = {mem["F"].get<double>(), -mem["W"].get<double>()};
    sizes.memory_limit = mem["limit"].get<double>();
  }
  return sizes;
}

/// The vectors' cost sets: F = I = W = 1, B = 2, a fused pair 3, no latency; and F 10, I 12, W 8, B 20, fused 30,
/// latency 3.
inline ActionCosts unit_costs() {
  return {ticks(1), ticks(1), ticks(1), ticks(2), ticks(3), 0};
}
inline ActionCosts uneven_costs() {
  return {ticks(10), ticks(12), ticks(8), ticks(20), ticks(30), ticks(3)};
}

inline std::string joined(const RankOrder& order) {
  std::string text;
  for (const std::string& cell : cells(order)) text += (text.empty() ? "" : ",") + cell;
  return text;
}

}  // namespace stepsim
