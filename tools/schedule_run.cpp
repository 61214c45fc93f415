#include "tools/schedule_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "schedules/pipeline/lowered_clock.h"
#include "tools/commands.h"
#include "tools/json_text.h"
#include "tools/schedule_options.h"

namespace stepsim {

namespace {

/// What one command plays at most: beyond it, memory and patience end before time does.
constexpr std::int64_t most_actions = 50'000'000;

bool is_file(const std::string& name) {
  return name == "-" || name.ends_with(".csv") ||
         (pipeline_families().find(name) == nullptr && std::filesystem::exists(name));
}

/// Numbers that are no sizes of anything; what a schedule does with the others is for it to say.
void check_numbers(const ScheduleArguments& arguments, std::vector<Problem>& problems) {
  const auto positive = [&](const char* key, const std::optional<int>& value) {
    if (value && *value < 1) problems.push_back({{}, key, fmt::format("{}: expected at least 1", *value)});
  };
  positive("--ranks", arguments.ranks);
  positive("--stages-per-rank", arguments.stages_per_rank);
  positive("--microbatches", arguments.microbatches);
  positive("--group", arguments.group);
  positive("--segments", arguments.segments);
  if (arguments.memory_limit && !(std::isfinite(*arguments.memory_limit) && *arguments.memory_limit > 0)) {
    problems.push_back({{}, "--memory-limit", fmt::format("{}: expected more than 0", *arguments.memory_limit)});
  }
}

void read_clock(const ScheduleArguments& arguments, MadeSchedule& made, std::vector<Problem>& problems) {
  made.clock.costs = read_times(arguments.times, problems);
  made.clock.costs.send = read_time("--p2p", arguments.p2p, problems);
  made.clock.fused = arguments.fused == "serial" ? FusedPairs::serial : FusedPairs::together;
  made.clock.blocking_sends = arguments.blocking;
  made.sizes.costs = made.clock.costs;
  made.sizes.activation = read_activation(arguments.activation, problems);
}

void raise(std::vector<Problem>& problems) {
  if (!problems.empty()) throw InputError(problems);
}

/// Before anything is made: an order takes memory for every action.
void check_amount(const PipelineSizes& sizes, std::vector<Problem>& problems) {
  double actions = 3;
  for (const int factor : {sizes.ranks, sizes.stages_per_rank, sizes.microbatches, sizes.segments}) actions *= factor;
  if (actions <= static_cast<double>(most_actions)) return;
  problems.push_back({{},
                      "schedule",
                      fmt::format("{:.0f} actions (3 x ranks x stages x microbatches x segments): expected at most {}",
                                  actions, most_actions)});
}

void by_name(const ScheduleArguments& arguments, MadeSchedule& made, std::vector<Problem>& problems) {
  made.family = &pipeline_families().at("schedule", made.name);
  std::string missing;
  if (!arguments.ranks) missing += "--ranks";
  if (!arguments.microbatches) missing += std::string(missing.empty() ? "" : ", ") + "--microbatches";
  if (!missing.empty())
    problems.push_back({{}, missing, made.name + " needs " + (missing.find(',') == std::string::npos ? "it" : "them")});
  raise(problems);
  PipelineSizes& sizes = made.sizes;
  sizes.ranks = *arguments.ranks;
  sizes.microbatches = *arguments.microbatches;
  made.stages_by_default = !arguments.stages_per_rank;
  sizes.stages_per_rank = arguments.stages_per_rank.value_or(std::max(1, made.family->stages_per_rank));
  sizes.group = arguments.group.value_or(0);
  sizes.segments = arguments.segments.value_or(1);
  sizes.memory_limit = arguments.memory_limit;
  check_amount(sizes, problems);
  raise(problems);
  if (!made.family->cost_driven_twin.empty()) {
    made.planned = PlannedWith::equal_costs;
  } else if (made.family->takes_limit) {
    made.planned = PlannedWith::given_costs;
  }
  for (const std::string& reason : refusals(*made.family, sizes)) {
    problems.push_back({{}, "schedule", made.name + ": " + reason});
  }
  if (!problems.empty() && made.stages_by_default && made.family->stages_per_rank == 0) {
    problems.push_back({{}, "--stages-per-rank", "not given, so 1"});
  }
  raise(problems);
  made.order = made.family->make(sizes);
}

/// A file says its sizes itself; those given must be the same.
void by_file(const ScheduleArguments& arguments, MadeSchedule& made, std::vector<Problem>& problems) {
  raise(problems);
  ImportedOrder read = read_pipeline_csv(read_input(made.name), made.name);
  PipelineSizes& sizes = made.sizes;
  sizes.ranks = static_cast<int>(read.order.ranks.size());
  sizes.stages_per_rank = read.order.copies() * read.order.stages / std::max(1, sizes.ranks);
  sizes.microbatches = read.order.units;
  const auto same = [&](const char* key, const std::optional<int>& given, int found) {
    if (given && *given != found) {
      problems.push_back({{}, key, fmt::format("{}, but {} has {}", *given, made.name, found)});
    }
  };
  same("--ranks", arguments.ranks, sizes.ranks);
  same("--stages-per-rank", arguments.stages_per_rank, sizes.stages_per_rank);
  same("--microbatches", arguments.microbatches, sizes.microbatches);
  for (const auto& [key, given] :
       {std::pair("--group", arguments.group.has_value()), std::pair("--segments", arguments.segments.has_value()),
        std::pair("--memory-limit", arguments.memory_limit.has_value())}) {
    if (given) problems.push_back({{}, key, "is for schedules by name; a file's order stands as it is"});
  }
  raise(problems);
  made.order = std::move(read.order);
  made.lowered = std::move(read.lowered);
  if (!read.with_communication) made.idle = std::move(read.idle);
  made.notes = std::move(read.notes);
}

/// Even one after the other, actions must end before the last tick.
void check_time(const MadeSchedule& made) {
  double total = 0;
  const ActionCosts& costs = made.clock.costs;
  const double longest =
      to_units(std::max({costs.forward, costs.input_gradient, costs.weight_gradient, costs.backward, costs.fused}));
  for (const RankOrder& list : made.order.ranks)
    total += static_cast<double>(list.size()) * (longest + to_units(costs.send));
  const double most = to_units(std::numeric_limits<Ticks>::max()) / 2;
  if (total > most)
    throw InputError("--times",
                     fmt::format("all actions together may take {:.3g} units: expected at most {:.3g}", total, most));
}

/// Where each action stands in its row, from 1: a fused pair is one cell, idle slots are cells too.
std::vector<std::vector<std::int32_t>> cells_of(const PipelineOrder& order, const IdleSlots& idle) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::size_t r = 0; r < order.ranks.size(); ++r) {
    std::vector<std::int32_t>& cells = all.emplace_back();
    std::int32_t cell = 0;
    std::size_t number = 0;  // of cells that are not empty
    for (std::size_t i = 0; i < order.ranks[r].size(); ++i) {
      if (i == 0 || !order.ranks[r][i - 1].fused) {
        cell += 1 + (r < idle.size() && number < idle[r].size() ? idle[r][number] : 0);
        ++number;
      }
      cells.push_back(cell);
    }
  }
  return all;
}

/// Spans of the compute actions of the lists, with what follows from them.
PlayedOrder as_listed(PlayedOrder played, const MadeSchedule& made) {
  const PlayedLowered lowered = play(made.order, made.lowered, made.clock);
  played.makespan = played.longest_rank = 0;
  for (std::size_t r = 0; r < played.ranks.size(); ++r) {
    PlayedRank& rank = played.ranks[r];
    std::size_t next = 0;
    for (std::size_t i = 0; i < made.lowered[r].size(); ++i) {
      if (made.lowered[r][i].kind == LoweredKind::compute) rank.actions[next++] = lowered.ranks[r][i];
    }
    if (rank.actions.empty()) continue;
    rank.start = rank.actions.front().start;
    rank.end = 0;
    for (const PlayedAction& span : rank.actions) rank.end = std::max(rank.end, span.end);
    played.makespan = std::max(played.makespan, rank.end);
    played.longest_rank = std::max(played.longest_rank, rank.end - rank.start);
  }
  return played;
}

}  // namespace

MadeSchedule make_schedule(const ScheduleArguments& arguments) {
  MadeSchedule made;
  made.name = arguments.name;
  std::vector<Problem> problems;
  check_numbers(arguments, problems);
  read_clock(arguments, made, problems);
  if (is_file(made.name)) {
    by_file(arguments, made, problems);
  } else {
    by_name(arguments, made, problems);
  }
  check_time(made);
  return made;
}

PlayedOrder play(const MadeSchedule& made) {
  if (made.lowered.empty()) {
    ClockOptions options = made.clock;
    const auto cells = made.idle ? cells_of(made.order, *made.idle) : std::vector<std::vector<std::int32_t>>();
    if (made.idle) options.cells = &cells;
    return play(made.order, options);
  }
  ClockOptions eager = made.clock;
  eager.blocking_sends = false;  // the lists themselves say where a rank waits
  return as_listed(play(made.order, eager), made);
}

}  // namespace stepsim
