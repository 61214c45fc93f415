// schedule_json.cpp: a schedule as JSON (schedule.schema.json). A line for each key, and for each rank of the long ones.
#include <cmath>
#include <nlohmann/json.hpp>

#include "schedules/pipeline/limits.h"
#include "tools/schedule_report.h"
#include "tools/version.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

/// Whole units as an integer. The nearest double of a decimal prints as that decimal.
Json number(Ticks ticks) {
  if (ticks % ticks_per_unit == 0) return ticks / ticks_per_unit;
  return to_units(ticks);
}

Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

/// Shares are quotients: what is beyond nine places is rounding.
Json share(double value) {
  return number(std::round(value * 1e9) / 1e9);
}

Json times_json(const ActionCosts& costs) {
  return {{"F", number(costs.forward)},  {"I", number(costs.input_gradient)}, {"W", number(costs.weight_gradient)},
          {"B", number(costs.backward)}, {"FB", number(costs.fused)},         {"p2p", number(costs.send)}};
}

void put_sizes(Json& json, const MadeSchedule& made) {
  const PipelineSizes& sizes = made.sizes;
  json["version"] = version();
  json["schedule"] = made.name;
  if (made.family != nullptr) {
    json["placement"] = made.family->placement;
    json["source"] = made.family->source;
    json["complexity"] = made.family->complexity;
  }
  json["p"] = sizes.ranks;
  json["v"] = sizes.stages_per_rank;
  json["m"] = sizes.microbatches;
  if (sizes.group > 0) json["group"] = sizes.group;
  json["segments"] = sizes.segments;
  if (sizes.memory_limit) json["memory_limit"] = number(*sizes.memory_limit);
  json["stage_rank"] = made.order.rank_of.front();
  if (made.order.copies() == 2) json["stage_rank_second_copy"] = made.order.rank_of.back();
  json["times"] = times_json(made.clock.costs);
  json["fused"] = made.clock.fused == FusedPairs::together ? "together" : "serial";
  json["blocking"] = made.clock.blocking_sends;
  json["activation"] = {{"F", number(sizes.activation.after_forward)}, {"W", number(sizes.activation.after_input)}};
  constexpr const char* planned[] = {"rule", "equal costs", "given costs"};
  json["planned_with"] = made.family == nullptr ? "file" : planned[static_cast<std::size_t>(made.planned)];
}

template <class Value>
Json by_rank(const PlayedOrder& played, Value value) {
  Json list = Json::array();
  for (const PlayedRank& rank : played.ranks) list.push_back(value(rank));
  return list;
}

void put_results(Json& json, const MadeSchedule& made, const PlayedOrder& played) {
  json["makespan"] = number(played.makespan);
  json["max_rank_span"] = number(played.longest_rank);
  json["bubble"] = share(played.bubble());
  json["rank_bubble"] = share(played.rank_bubble());
  json["start"] = by_rank(played, [](const PlayedRank& rank) { return number(rank.start); });
  json["end"] = by_rank(played, [](const PlayedRank& rank) { return number(rank.end); });
  json["busy"] = by_rank(played, [](const PlayedRank& rank) { return number(rank.busy); });
  json["peak_W"] = by_rank(played, [](const PlayedRank& rank) { return Json(rank.peak_until_weight); });
  json["peak_I"] = by_rank(played, [](const PlayedRank& rank) { return Json(rank.peak_until_input); });
  json["peak_held"] = Json::array();
  for (const RankOrder& list : made.order.ranks) {
    json["peak_held"].push_back(number(most_held(list, made.sizes.activation)));
  }
  json["microbatches_per_activation"] = microbatches_per_activation(made.order);
}

/// "[\n    first,\n    second\n  ]"
std::string lines(const std::vector<std::string>& rows) {
  std::string text = "[";
  for (std::size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + rows[i];
  return text + "\n  ]";
}

std::string actions(const RankOrder& list, const PlayedRank& played) {
  Json all = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    all.push_back({{"action", to_string(list[i])},
                   {"start", number(played.actions[i].start)},
                   {"end", number(played.actions[i].end)}});
  }
  return all.dump();
}

}  // namespace

std::string schedule_json(const MadeSchedule& made, const PlayedOrder& played) {
  Json json;
  put_sizes(json, made);
  put_results(json, made, played);
  std::string text = "{";
  for (const auto& [key, value] : json.items()) text += "\n  \"" + key + "\": " + value.dump() + ",";
  std::vector<std::string> orders;
  std::vector<std::string> timed;
  for (std::size_t r = 0; r < made.order.ranks.size(); ++r) {
    orders.push_back(Json(cells(made.order.ranks[r])).dump());
    timed.push_back(actions(made.order.ranks[r], played.ranks[r]));
  }
  return text + "\n  \"ranks\": " + lines(orders) + ",\n  \"actions\": " + lines(timed) + "\n}\n";
}

}  // namespace stepsim
