#include "scenarios/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <tuple>

#include "scenarios/compare_variants.h"
#include "scenarios/pipeline_figures.h"
#include "schedules/action_costs.h"
#include "schedules/checks.h"
#include "schedules/pipeline/clock.h"
#include "schedules/stages.h"

namespace stepsim {
namespace {

/// At the peak of each class.
Bytes most_activations(const StepProgram& program, const Timeline& timeline) {
  const auto part = std::find(program.names.begin(), program.names.end(), "activations") - program.names.begin();
  Bytes most = 0;
  for (const MemoryPeak& peak : timeline.peak) {
    const auto at = static_cast<std::size_t>(part);
    if (at < peak.by_part.size()) most = std::max(most, peak.by_part[at]);
  }
  return most;
}

void read_off(const Scenario& scenario, const RunResult& result, ComparedRow& row) {
  row.step_time = result.step_time;
  row.tokens_per_s = result.tokens_per_s;
  row.tokens_per_s_per_chip = result.tokens_per_s_per_chip;
  row.mfu = result.mfu;
  row.peak = result.memory.peak;
  row.activations = most_activations(result.assembly.plan.program, result.timeline);
  if (!result.memory.parts.empty()) row.dominates = result.memory.parts.front().first;
  if (pipeline_ranks(scenario.strategy) > 1) row.pipeline = pipeline_figures(scenario, result);
}

std::vector<std::string> reasons_of(const InputError& error, const std::string& name) {
  std::vector<std::string> reasons;
  const std::string repeated = name + ": ";
  for (const Problem& problem : error.problems()) {
    const bool repeats = problem.message.starts_with(repeated);
    reasons.push_back(repeats ? problem.message.substr(repeated.size()) : problem.message);
  }
  return reasons;
}

/// Blocking sends that wait for each other: the circle by the ranks' lists, which says it shorter than the clock.
std::string deadlock_reason(const std::optional<PipelineOrder>& order, const Deadlock& error) {
  if (order) {
    try {
      ClockOptions options;
      options.blocking_sends = true;
      (void)play(*order, options);
    } catch (const InputError& circle) {
      return circle.problems().front().message;
    }
  }
  const std::string all = error.what();
  return "deadlock: " + all.substr(0, all.find('\n'));
}

/// Runs what it is given, and says in the row why it could not.
template <class Run>
void guarded(ComparedRow& row, const Scenario& scenario, Run run) {
  try {
    run();
  } catch (const InputError& error) {
    row.reasons = reasons_of(error, row.name);
  } catch (const TimeOverflow& error) {
    row.reasons = {error.what()};
  } catch (const Deadlock& error) {
    row.reasons = {deadlock_reason(scenario.strategy.pipeline.order, error)};
  }
}

/// A row on its way: the scenario with the order that it plays.
struct Prepared {
  ComparedRow row;
  Scenario scenario;
};

bool same_order(const Prepared& a, const Prepared& b) {
  const auto& one = a.scenario.strategy.pipeline.order;
  const auto& other = b.scenario.strategy.pipeline.order;
  return one && other && a.row.microbatches == b.row.microbatches && one->stages == other->stages &&
         one->units == other->units && one->segments == other->segments && one->rank_of == other->rank_of &&
         one->ranks == other->ranks;
}

/// The rows of one scenario on one ground.
class Player {
 public:
  Player(const Scenario& base, const Ground& ground, Bytes budget) : base_(base), ground_(ground), budget_(budget) {
    base_.run.record_memory = false;
    base_.run.progress = nullptr;
  }

  /// A row with its order, or with why there is none.
  [[nodiscard]] Prepared prepare(const Variant& variant) const;
  void play(Prepared& prepared) const;
  [[nodiscard]] ComparedRow play(const Variant& variant) const {
    Prepared prepared = prepare(variant);
    play(prepared);
    return prepared.row;
  }

  /// All of these, and with less memory where one that can be planned for it needs too much.
  [[nodiscard]] std::vector<ComparedRow> play_within_budget(const std::vector<Variant>& variants) const;

 private:
  void plan_for_less(const Variant& variant, std::vector<ComparedRow>& rows) const;

  Scenario base_;
  const Ground& ground_;
  Bytes budget_;
};

/// The order beforehand, so that planning can be timed. One of segments is left to plan().
Prepared Player::prepare(const Variant& variant) const {
  Prepared prepared{{}, base_};
  ComparedRow& row = prepared.row;
  Strategy& strategy = prepared.scenario.strategy;
  strategy = variant.strategy;
  row.name = variant.name;
  row.microbatches = strategy.microbatches;
  row.stages_per_rank = stages_per_rank(strategy);
  row.memory_limit = strategy.pipeline.memory_limit;
  row.budget = budget_;
  guarded(row, prepared.scenario, [&] {
    check_sizes(base_.model, strategy);
    if (strategy.pipeline.order || strategy.pipeline.segments > 1) return;
    const auto begin = std::chrono::steady_clock::now();
    strategy.pipeline.order = step_order(base_.model, strategy, base_.cluster.chip);
    row.planning = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return prepared;
}

void Player::play(Prepared& prepared) const {
  if (!prepared.row.ran()) return;
  const Scenario& scenario = prepared.scenario;
  guarded(prepared.row, scenario,
          [&] { read_off(scenario, run_briefly(scenario, assemble(scenario, ground_)), prepared.row); });
}

/// Limits below what the plan takes by itself: the largest whole one that keeps to the budget, by halves.
void Player::plan_for_less(const Variant& variant, std::vector<ComparedRow>& rows) const {
  const ComparedRow& usual = rows.back();
  if (!usual.ran() || usual.fits()) return;
  const PipelineOrder order = step_order(base_.model, variant.strategy, base_.cluster.chip);
  auto too_much = static_cast<std::int64_t>(most_held(order, 1) * limit_units(variant.name));
  if (usual.memory_limit) too_much = std::min(too_much, static_cast<std::int64_t>(*usual.memory_limit));
  std::int64_t enough = 0;  // so little is refused, or fits
  while (too_much - enough > 1) {
    const std::int64_t limit = enough + (too_much - enough) / 2;
    Variant less = variant;
    less.strategy.pipeline.memory_limit = static_cast<double>(limit);
    ComparedRow row = play(less);
    (row.ran() && !row.fits() ? too_much : enough) = limit;
    if (row.ran()) rows.push_back(std::move(row));
  }
}

std::vector<ComparedRow> Player::play_within_budget(const std::vector<Variant>& variants) const {
  std::vector<ComparedRow> rows;
  for (const Variant& variant : variants) {
    rows.push_back(play(variant));
    const PipelineFamily* family = pipeline_families().find(variant.name);
    if (family != nullptr && family->takes_limit) plan_for_less(variant, rows);
  }
  return rows;
}

/// The fastest that keeps to the budget; where none does, the one that needs least.
std::size_t fairest(const std::vector<ComparedRow>& rows) {
  const auto key = [](const ComparedRow& row) {
    return std::tuple(!row.ran(), !row.fits(), row.fits() ? row.step_time.count() : 0, row.peak);
  };
  const auto best = std::min_element(rows.begin(), rows.end(),
                                     [&](const ComparedRow& a, const ComparedRow& b) { return key(a) < key(b); });
  return static_cast<std::size_t>(best - rows.begin());
}

/// One row of each schedule; of those that were refused and are not it, a note.
void keep_fairest(const std::vector<std::vector<ComparedRow>>& of_schedule, CompareResult& result) {
  std::vector<std::pair<std::string, std::vector<std::string>>> refused;  // reason, who
  for (const std::vector<ComparedRow>& rows : of_schedule) {
    const std::size_t chosen = fairest(rows);
    ComparedRow best = rows[chosen];
    best.played = 0;
    best.planning = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      best.planning += rows[i].planning;
      if (rows[i].ran()) ++best.played;
      if (rows[i].ran() || i == chosen) continue;
      const std::string reason = fmt::format("not run with m = {}, v = {}: {}", rows[i].microbatches,
                                             rows[i].stages_per_rank, fmt::join(rows[i].reasons, "; "));
      const auto known =
          std::find_if(refused.begin(), refused.end(), [&](const auto& one) { return one.first == reason; });
      if (known == refused.end()) {
        refused.push_back({reason, {rows[i].name}});
      } else {
        known->second.push_back(rows[i].name);
      }
    }
    result.rows.push_back(std::move(best));
  }
  for (const auto& [reason, names] : refused) {
    result.notes.push_back(fmt::format("{} {}", fmt::join(names, ", "), reason));
  }
}

/// work(i) for all i below `count`, side by side.
void for_all(std::size_t count, const std::function<void(std::size_t)>& work,
             const std::function<void(std::size_t done, std::size_t of)>& progress) {
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, count);
    }
  };
  {
    const std::size_t threads = std::min<std::size_t>({count, std::thread::hardware_concurrency(), 8});
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
    take();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Schedules of one order have one result: it is played once.
std::vector<ComparedRow> play_all(const Player& player, const std::vector<Variant>& variants,
                                  const std::function<void(std::size_t done, std::size_t of)>& progress) {
  std::vector<Prepared> all(variants.size());
  for_all(
      all.size(), [&](std::size_t i) { all[i] = player.prepare(variants[i]); }, nullptr);
  std::vector<std::size_t> like(all.size());  // the first row of the same order
  std::vector<std::size_t> played;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto first =
        std::find_if(played.begin(), played.end(), [&](std::size_t other) { return same_order(all[i], all[other]); });
    like[i] = first == played.end() ? i : *first;
    if (like[i] == i) played.push_back(i);
  }
  for_all(
      played.size(), [&](std::size_t i) { player.play(all[played[i]]); }, progress);
  std::vector<ComparedRow> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ComparedRow row = all[like[i]].row;
    const ComparedRow& own = all[i].row;
    row.name = own.name;
    row.stages_per_rank = own.stages_per_rank;
    row.memory_limit = own.memory_limit;
    row.planning = own.planning;
    rows.push_back(std::move(row));
  }
  return rows;
}

Bytes budget_of(const Scenario& scenario, const CompareRequest& request) {
  const Bytes memory = scenario.cluster.chip.memory;
  if (!request.budget) return memory;
  if (!request.fair) throw InputError("--memory", "goes with --fair");
  if (*request.budget < 1 || *request.budget > memory) {
    throw InputError("--memory", fmt::format("expected at most the chip's {} bytes, found {} (another chip: --set "
                                             "cluster.chip.memory=...)",
                                             memory, *request.budget));
  }
  return *request.budget;
}

}  // namespace

CompareResult compare_schedules(const Scenario& scenario, const CompareRequest& request) {
  const Bytes budget = budget_of(scenario, request);
  Variants chosen = variants(scenario, request);
  const Ground ground = ground_of(scenario);
  const Player player(scenario, ground, budget);
  CompareResult result;
  result.notes = std::move(chosen.notes);
  result.ground = ground;
  if (request.fair) {
    std::vector<std::vector<ComparedRow>> rows(chosen.of_schedule.size());
    for_all(
        rows.size(), [&](std::size_t i) { rows[i] = player.play_within_budget(chosen.of_schedule[i]); },
        request.progress);
    keep_fairest(rows, result);
  } else {
    std::vector<Variant> all;
    for (const auto& some : chosen.of_schedule) all.insert(all.end(), some.begin(), some.end());
    result.rows = play_all(player, all, request.progress);
  }
  rank_rows(result.rows);
  return result;
}

CompareResult compare_scenarios(const std::vector<Scenario>& scenarios) {
  CompareResult result;
  result.rows.resize(scenarios.size());
  const auto play = [&](std::size_t i) {
    const Scenario& scenario = scenarios[i];
    ComparedRow& row = result.rows[i];
    row.name = scenario.name;
    row.microbatches = scenario.strategy.microbatches;
    row.stages_per_rank = stages_per_rank(scenario.strategy);
    row.memory_limit = scenario.strategy.pipeline.memory_limit;
    row.budget = scenario.cluster.chip.memory;
    guarded(row, scenario, [&] { read_off(scenario, run_briefly(scenario, assemble(scenario)), row); });
  };
  for_all(scenarios.size(), play, nullptr);
  rank_rows(result.rows);
  return result;
}

void rank_rows(std::vector<ComparedRow>& rows) {
  const auto key = [](const ComparedRow& row) {
    return std::tuple(!row.ran(), !row.fits(), row.step_time.count(), row.peak);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const ComparedRow& a, const ComparedRow& b) { return key(a) < key(b); });
  for (ComparedRow& row : rows) {
    row.fastest_within = row.fits() && std::none_of(rows.begin(), rows.end(), [&](const ComparedRow& other) {
                           return other.fits() && other.step_time <= row.step_time && other.peak <= row.peak &&
                                  (other.step_time < row.step_time || other.peak < row.peak);
                         });
    row.best = row.fits() && row.step_time == rows.front().step_time && row.fastest_within;
  }
}

}  // namespace stepsim
