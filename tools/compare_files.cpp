// compare_files.cpp: a comparison as CSV (RFC 4180) and JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "tools/compare_report.h"
#include "tools/version.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

std::vector<std::string> pipeline_cells(const ComparedRow& row) {
  if (!row.pipeline) return std::vector<std::string>(8);
  const PipelineFigures& one = *row.pipeline;
  std::vector<std::string> cells;
  for (const double number : {one.wall_bubble, one.rank_bubble, one.warm_up, one.steady, one.drain,
                              to_seconds(one.exposed_sends), one.activation_microbatches}) {
    cells.push_back(fmt::format("{}", number));
  }
  cells.push_back(std::to_string(one.copies));
  return cells;
}

std::vector<std::string> cells_of(const ComparedRow& row) {
  std::vector<std::string> cells{quoted(row.name), std::to_string(row.microbatches),
                                 std::to_string(row.stages_per_rank),
                                 row.memory_limit ? fmt::format("{}", *row.memory_limit) : ""};
  if (!row.ran()) {
    cells.resize(cells.size() + 20);
    cells.push_back(quoted(fmt::format("{}", fmt::join(row.reasons, "; "))));
    return cells;
  }
  cells.push_back(std::to_string(row.step_time.count()));
  cells.push_back(fmt::format("{}", to_seconds(row.step_time)));
  for (std::string& cell : pipeline_cells(row)) cells.push_back(std::move(cell));
  for (const Bytes bytes : {row.activations, row.peak, row.budget}) cells.push_back(std::to_string(bytes));
  cells.push_back(row.dominates);
  for (const double number : {row.tokens_per_s, row.tokens_per_s_per_chip, row.mfu}) {
    cells.push_back(fmt::format("{}", number));
  }
  for (const bool flag : {row.fits(), row.best, row.fastest_within}) cells.emplace_back(flag ? "true" : "false");
  cells.emplace_back();
  return cells;
}

void put_time(Json& json, const std::string& name, Picoseconds time) {
  json[name + "_ps"] = time.count();
  json[name + "_s"] = to_seconds(time);
}

Json pipeline_json(const PipelineFigures& one) {
  Json json{{"bubble_wall", one.wall_bubble},
            {"bubble_rank", one.rank_bubble},
            {"bubble_warmup", one.warm_up},
            {"bubble_steady", one.steady},
            {"bubble_drain", one.drain}};
  put_time(json, "exposed_sends", one.exposed_sends);
  json["activation_microbatches"] = one.activation_microbatches;
  json["weight_copies"] = one.copies;
  return json;
}

Json row_json(const ComparedRow& row) {
  Json json{{"name", row.name}, {"microbatches", row.microbatches}, {"stages_per_rank", row.stages_per_rank}};
  if (row.memory_limit) json["memory_limit"] = *row.memory_limit;
  if (!row.ran()) {
    json["skipped"] = row.reasons;
    return json;
  }
  put_time(json, "step_time", row.step_time);
  json["tokens_per_s"] = row.tokens_per_s;
  json["tokens_per_s_per_chip"] = row.tokens_per_s_per_chip;
  json["mfu"] = row.mfu;
  json["peak_memory_bytes"] = row.peak;
  if (row.pipeline) json["pipeline"] = pipeline_json(*row.pipeline);
  json["activation_bytes"] = row.activations;
  json["budget_bytes"] = row.budget;
  json["dominates"] = row.dominates;
  json["runs"] = row.played;
  json["fits"] = row.fits();
  json["best"] = row.best;
  json["fastest_within_its_memory"] = row.fastest_within;
  return json;
}

}  // namespace

std::string compare_csv(const CompareResult& result) {
  std::string text =
      "name,microbatches,stages_per_rank,memory_limit,step_time_ps,step_time_s,bubble_wall,bubble_rank,bubble_warmup,"
      "bubble_steady,bubble_drain,exposed_sends_s,activation_microbatches,weight_copies,activation_bytes,"
      "peak_memory_bytes,budget_bytes,dominates,tokens_per_s,tokens_per_s_per_chip,mfu,fits,best,"
      "fastest_within_its_memory,skipped\n";
  for (const ComparedRow& row : result.rows) text += fmt::format("{}\n", fmt::join(cells_of(row), ","));
  return text;
}

std::string compare_json(const CompareSubject& subject, const CompareResult& result) {
  Json json{{"version", version()}, {"compares", subject.scenario == nullptr ? "scenarios" : "schedules"}};
  if (subject.scenario != nullptr) {
    json["scenario"] = {{"file", subject.scenario->file}, {"name", subject.scenario->name}};
    json["chips"] = result.ground.cluster->chips();
    json["placed_on"] = result.ground.placements.front().text;
  }
  if (subject.fair) json["held_equal"] = held_equal(*subject.scenario, result);
  json["notes"] = result.notes;
  json["rows"] = Json::array();
  for (const ComparedRow& row : result.rows) json["rows"].push_back(row_json(row));
  return json.dump(2) + "\n";
}

}  // namespace stepsim
