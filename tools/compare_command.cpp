// compare_command.cpp: `stepsim compare`: pipeline schedules of one scenario, or scenarios, side by side.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "scenarios/catalog.h"
#include "scenarios/compare.h"
#include "scenarios/units.h"
#include "schedules/pipeline/family.h"
#include "tools/commands.h"
#include "tools/compare_report.h"
#include "tools/format.h"
#include "tools/output_file.h"

namespace stepsim {

namespace {

constexpr double long_planning = 0.1;  // seconds

void check(const CompareArguments& arguments) {
  std::vector<Problem> problems;
  const bool schedules = !arguments.schedules.empty();
  if (schedules && arguments.scenarios.size() > 1) {
    problems.push_back({{}, "--schedules", "compares schedules of one scenario, found several"});
  }
  if (!schedules && arguments.scenarios.size() < 2) {
    problems.push_back({{}, "compare", "expected --schedules, or a second scenario to compare with"});
  }
  const auto needs_schedules = [&](const char* option, bool given) {
    if (given && !schedules) problems.push_back({{}, option, "goes with --schedules"});
  };
  needs_schedules("--microbatches", !arguments.microbatches.empty());
  needs_schedules("--stages", !arguments.stages.empty());
  needs_schedules("--fair", arguments.fair);
  if (!arguments.memory.empty() && !arguments.fair) problems.push_back({{}, "--memory", "goes with --fair"});
  if (!arguments.csv.empty() && arguments.csv == arguments.json) {
    problems.push_back({{}, "--csv", "the same target as --json"});
  }
  if (!problems.empty()) throw InputError(problems);
}

std::optional<Bytes> budget(const std::string& memory) {
  if (memory.empty()) return std::nullopt;
  try {
    return parse_bytes(memory);
  } catch (const UnitError& error) {
    throw InputError("--memory", error.what());
  }
}

/// All that can be read, or all that is wrong.
std::vector<Scenario> load_all(const CompareArguments& arguments) {
  std::vector<Scenario> all;
  std::vector<Problem> problems;
  for (const std::string& file : arguments.scenarios) {
    try {
      all.push_back(load(file, arguments.set, default_catalog()));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return all;
}

CompareResult compare(const CompareArguments& arguments, const std::vector<Scenario>& scenarios) {
  if (arguments.schedules.empty()) {
    const Progress progress("comparing scenarios");
    return compare_scenarios(scenarios);
  }
  CompareRequest request;
  request.schedules = arguments.schedules;
  request.microbatches = arguments.microbatches;
  request.stages = arguments.stages;
  request.fair = arguments.fair;
  request.budget = budget(arguments.memory);
  const Progress progress("comparing schedules of " + scenarios.front().name);
  request.progress = [&progress](std::size_t done, std::size_t of) { progress.show_rows(done, of); };
  return compare_schedules(scenarios.front(), request);
}

/// Not part of the results, which are the same every time.
void tell_planning(const CompareResult& result) {
  for (const ComparedRow& row : result.rows) {
    const PipelineFamily* family = pipeline_families().find(row.name);
    if (row.planning < long_planning || family == nullptr) continue;
    spdlog::info("planning {} for {} microbatches took {} ({})", row.name, row.microbatches, seconds_text(row.planning),
                 family->complexity);
  }
}

ExitCode verdict(const std::vector<Scenario>& scenarios, const CompareResult& result) {
  const auto any = [&](bool (ComparedRow::*is)() const) {
    return std::any_of(result.rows.begin(), result.rows.end(), [&](const ComparedRow& row) { return (row.*is)(); });
  };
  if (!any(&ComparedRow::ran)) return ExitCode::input_error;
  return any(&ComparedRow::fits) || scenarios.front().allow_oom ? ExitCode::ok : ExitCode::out_of_memory;
}

}  // namespace

ExitCode compare_command(const CompareArguments& arguments) {
  check(arguments);
  const std::vector<Scenario> scenarios = load_all(arguments);
  JsonOutput csv(arguments.csv, "--csv");
  JsonOutput json(arguments.json);
  const CompareResult result = compare(arguments, scenarios);
  tell_planning(result);
  const CompareSubject subject{arguments.schedules.empty() ? nullptr : &scenarios.front(), arguments.fair};
  if (csv.wanted()) csv.write(compare_csv(result));
  if (json.wanted()) json.write(compare_json(subject, result));
  if (!csv.owns_stdout() && !json.owns_stdout()) print(compare_report(subject, result, colour_on_stdout()));
  return verdict(scenarios, result);
}

}  // namespace stepsim
