// compare.h: one scenario under several pipeline schedules, or several scenarios, beside each other.
//
// Every row is a run of its own: plan, links, clock and breakdown as `stepsim run` has them, so its numbers are the run's.
// What does not depend on the schedule is shared: the cluster, and where the mesh lies (as it does in the scenario itself,
// or as that is given). Nothing is adjusted: what a schedule refuses is a row with the reason.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/pipeline_figures.h"
#include "scenarios/run.h"

namespace stepsim {

struct ComparedRow {
  std::string name;  // of the schedule, or of the scenario
  std::int64_t microbatches = 1;
  int stages_per_rank = 1;
  std::optional<double> memory_limit;  // that the schedule was planned for, where one was given
  std::vector<std::string> reasons;    // why it was not run; nothing below then

  Picoseconds step_time;
  double tokens_per_s = 0;
  double tokens_per_s_per_chip = 0;
  double mfu = 0;
  std::optional<PipelineFigures> pipeline;  // where there is one
  Bytes activations = 0;                    // at a chip's peak of memory, most of any chip
  Bytes peak = 0;                           // of memory, the fullest chip
  Bytes budget = 0;                         // that it has to keep to
  std::string dominates;                    // most of the peak
  std::uint32_t played = 1;                 // runs of which this row is the fastest that fits

  bool best = false;            // the fastest that fits
  bool fastest_within = false;  // no other that fits is as fast with less memory, or faster with as much

  double planning = 0;  // seconds it took here to make the order

  [[nodiscard]] bool ran() const { return reasons.empty(); }
  [[nodiscard]] bool fits() const { return ran() && peak <= budget; }
};

struct CompareRequest {
  std::vector<std::string> schedules;      // names, CSV files, or "all"
  std::vector<std::int64_t> microbatches;  // empty: the scenario's
  std::vector<int> stages;                 // of schedules that take any number; empty: the scenario's, at least 2
  bool fair = false;  // of each schedule only the fastest that keeps to the budget, planned for less if need be
  std::optional<Bytes> budget;  // none: the chip's memory
  std::function<void(std::size_t done, std::size_t of)> progress = nullptr;
};

struct CompareResult {
  std::vector<ComparedRow> rows;   // by step time; then what does not fit; then what was not run
  std::vector<std::string> notes;  // what was chosen or left out, and why; one sentence each
  Ground ground;                   // where all rows lie, on the first placement; empty: each by itself
};

/// One scenario under several schedules. InputError under "--schedules" and so on.
CompareResult compare_schedules(const Scenario& scenario, const CompareRequest& request);

/// Each scenario as it is.
CompareResult compare_scenarios(const std::vector<Scenario>& scenarios);

/// Sorts rows and marks the best of them.
void rank_rows(std::vector<ComparedRow>& rows);

}  // namespace stepsim
