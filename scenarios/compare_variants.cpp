#include "scenarios/compare_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "scenarios/yaml_tree.h"
#include "schedules/pipeline/csv.h"
#include "schedules/pipeline/family.h"
#include "schedules/stages.h"

namespace stepsim {
namespace {

/// Names of one schedule that differ only in the costs it is planned with.
struct Twins {
  std::string run;  // with the scenario's own
  std::vector<std::string> left_out;
};

const std::vector<Twins>& twins() {
  static const std::vector<Twins> all{{"zb_1p", {"zb_1p_auto", "zb_auto_profiled"}},
                                      {"zb_2p", {"zb_2p_auto"}},
                                      {"zbv", {"zbv_auto", "zbv_auto_mw"}},
                                      {"v_adaptive_profiled", {"v_adaptive"}}};
  return all;
}

bool is_left_out(const std::string& name) {
  return std::any_of(twins().begin(), twins().end(), [&](const Twins& one) {
    return std::find(one.left_out.begin(), one.left_out.end(), name) != one.left_out.end();
  });
}

std::string twins_note() {
  std::vector<std::string> parts;
  for (const Twins& one : twins()) {
    parts.push_back(fmt::format("{} (not {})", one.run, fmt::join(one.left_out, ", ")));
  }
  return fmt::format(
      "of schedules that differ only in the costs they are planned with, those that take the scenario's "
      "own are run: {}",
      fmt::join(parts, "; "));
}

bool searches(const std::string& name) {
  return name.starts_with("v_adaptive");
}

/// Slots that v_adaptive's search fills: its complexity, without the factor of its checks.
double search_slots(int ranks, std::int64_t microbatches) {
  const double p = ranks;
  return 600 * p * p * (p + static_cast<double>(microbatches));
}
constexpr double most_search_slots = 1e7;  // some tenths of a second

bool is_file(const std::string& schedule) {
  return schedule.ends_with(".csv");
}

template <class T>
void check_above_zero(const char* option, const std::vector<T>& numbers, std::int64_t most) {
  for (const T number : numbers) {
    if (number < 1 || number > most) {
      throw InputError(option, fmt::format("expected whole numbers from 1 to {}, found {}", most, number));
    }
  }
}

void check(const Scenario& scenario, const CompareRequest& request) {
  const std::vector<MeshAxis>& mesh = scenario.strategy.mesh;
  if (std::none_of(mesh.begin(), mesh.end(), [](const MeshAxis& axis) { return axis.name == "pipeline"; })) {
    throw InputError("parallelism.mesh", "has no pipeline axis, along which schedules could be compared");
  }
  if (request.schedules.empty()) throw InputError("--schedules", "expected names, CSV files, or all");
  check_above_zero("--microbatches", request.microbatches, 1'000'000);
  check_above_zero("--stages", request.stages, 1024);
  for (const std::string& name : request.schedules) {
    if (name != "all" && !is_file(name)) (void)pipeline_families().at("--schedules", name);
  }
}

template <class T>
std::vector<T> unique(std::vector<T> items) {
  std::vector<T> all;
  for (T& item : items) {
    if (std::find(all.begin(), all.end(), item) == all.end()) all.push_back(std::move(item));
  }
  return all;
}

/// "all" written out.
std::vector<std::string> written_out(const Scenario& scenario, const std::vector<std::string>& asked,
                                     const std::vector<std::int64_t>& microbatches, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    if (name != "all") {
      names.push_back(name);
      continue;
    }
    notes.push_back(twins_note());
    const int p = pipeline_ranks(scenario.strategy);
    const double slots = search_slots(p, *std::max_element(microbatches.begin(), microbatches.end()));
    for (const auto& family : pipeline_families().entries()) {
      if (is_left_out(family.name)) continue;
      if (searches(family.name) && slots > most_search_slots) {
        notes.push_back(fmt::format("{} is not run: its search takes {} here, {:.2g} slots; name it to have it run",
                                    family.name, family.value.complexity, slots));
        continue;
      }
      names.push_back(family.name);
    }
  }
  return unique(std::move(names));
}

/// The scenario's keys of pipelines, without those that this schedule does not take.
Strategy strategy_for(const Strategy& own, const std::string& name, const PipelineFamily& family) {
  Strategy strategy = own;
  PipelineStrategy& pipeline = strategy.pipeline;
  pipeline.schedule = name;
  pipeline.order.reset();
  if (!family.takes_groups) pipeline.group = 0;
  if (!family.takes_limit) pipeline.memory_limit.reset();
  if (!family.takes_segments) strategy.pipeline.segments = 1;
  return strategy;
}

std::string key_note(const char* key, const std::string& value, bool PipelineFamily::*takes,
                     const std::vector<std::string>& names) {
  std::vector<std::string> takers;
  for (const std::string& name : names) {
    const PipelineFamily* family = pipeline_families().find(name);
    if (family != nullptr && family->*takes) takers.push_back(name);
  }
  return fmt::format("parallelism.pipeline.{} = {} goes to the schedules that take one: {}", key, value,
                     takers.empty() ? "none" : fmt::format("{}", fmt::join(takers, ", ")));
}

/// What becomes of the scenario's own keys.
void add_key_notes(const PipelineStrategy& own, const std::vector<std::string>& names,
                   std::vector<std::string>& notes) {
  if (own.group != 0) {
    notes.push_back(key_note("group", std::to_string(own.group), &PipelineFamily::takes_groups, names));
  }
  if (own.segments > 1) {
    notes.push_back(key_note("segments", std::to_string(own.segments), &PipelineFamily::takes_segments, names));
  }
  if (own.memory_limit) {
    notes.push_back(
        key_note("memory_limit", fmt::format("{}", *own.memory_limit), &PipelineFamily::takes_limit, names));
  }
}

std::vector<Variant> of_file(const Strategy& own, const std::string& file,
                             const std::vector<std::int64_t>& microbatches) {
  const PipelineOrder order = read_pipeline_csv(read_text(file), file).order;
  std::vector<Variant> all;
  for (const std::int64_t m : microbatches) {
    Variant one{std::filesystem::path(file).filename().string(), own};
    PipelineStrategy& pipeline = one.strategy.pipeline;
    one.strategy.microbatches = m;
    pipeline.schedule = file;
    pipeline.order = order;
    pipeline.group = 0;
    pipeline.segments = 1;
    pipeline.memory_limit.reset();
    pipeline.stages_per_rank =
        std::max(1, order.stages * order.copies() / std::max(1, static_cast<int>(order.ranks.size())));
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Variant> of_name(const Strategy& own, const std::string& name,
                             const std::vector<std::int64_t>& microbatches, const std::vector<int>& stages) {
  const PipelineFamily& family = pipeline_families().at("--schedules", name);
  const bool any = family.stages_per_rank == 0;
  std::vector<Variant> all;
  for (const std::int64_t m : microbatches) {
    for (const int v : any ? stages : std::vector<int>{family.stages_per_rank}) {
      Variant one{name, strategy_for(own, name, family)};
      one.strategy.microbatches = m;
      one.strategy.pipeline.stages_per_rank = v;
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace

double limit_units(const std::string& schedule) {
  return schedule == "zbv_auto_mw" ? 4 : 1;
}

Variants variants(const Scenario& scenario, const CompareRequest& request) {
  check(scenario, request);
  Variants all;
  const Strategy& own = scenario.strategy;
  std::vector<std::int64_t> microbatches = unique(request.microbatches);
  if (microbatches.empty()) microbatches = {own.microbatches};
  const std::vector<std::string> names = written_out(scenario, request.schedules, microbatches, all.notes);
  add_key_notes(own.pipeline, names, all.notes);
  std::vector<int> stages = unique(request.stages);
  const bool chooses = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    const PipelineFamily* family = pipeline_families().find(name);
    return family != nullptr && family->stages_per_rank == 0;
  });
  if (stages.empty()) {
    stages = {std::max(2, own.pipeline.stages_per_rank)};
    if (chooses) {
      all.notes.push_back(
          fmt::format("schedules that take any number of stages a rank have {} (--stages)", stages.front()));
    }
  }
  for (const std::string& name : names) {
    all.of_schedule.push_back(is_file(name) ? of_file(own, name, microbatches)
                                            : of_name(own, name, microbatches, stages));
  }
  return all;
}

}  // namespace stepsim
