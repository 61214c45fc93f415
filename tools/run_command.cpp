#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "scenarios/catalog.h"
#include "scenarios/run.h"
#include "tools/commands.h"
#include "tools/output_file.h"
#include "tools/run_gantt.h"
#include "tools/run_json.h"
#include "tools/run_report.h"
#include "tools/trace.h"

namespace stepsim {

namespace {

/// Options that are keys of the scenario go the way of --set, so that the resolved scenario shows them.
std::vector<std::string> overrides(const RunArguments& arguments) {
  std::vector<std::string> all = arguments.set;
  if (arguments.steps > 0) all.push_back(fmt::format("simulation.exact_steps={}", arguments.steps));
  if (!arguments.fold.empty()) all.push_back("simulation.fold=" + arguments.fold);
  if (arguments.allow_oom) all.push_back("allow_oom=true");
  return all;
}

std::unique_ptr<OutputFile> trace_file(const RunArguments& arguments) {
  if (arguments.trace.empty()) return nullptr;
  if (arguments.trace == "-") throw InputError("--trace", "expected a file name, found -");
  if (arguments.trace == arguments.json) throw InputError("--trace", "the same file as --json");
  return std::make_unique<OutputFile>("--trace", arguments.trace);
}

void trace(const RunArguments& arguments, const RunResult& result, OutputFile& file) {
  std::vector<std::string> kinds;
  for (const LinkClass& link : result.assembly.links) {
    kinds.push_back(result.assembly.cluster->link(link.one).kind);
  }
  write_trace(file.stream(), {result.assembly.plan.program, result.timeline, kinds, arguments.trace_classes});
  file.commit();
  if (result.timeline.classes > arguments.trace_classes) {
    spdlog::warn("the trace shows {} of {} classes (--trace-classes)", arguments.trace_classes,
                 result.timeline.classes);
  }
}

/// Drawings are of pipelines; the mesh says whether there is one.
std::unique_ptr<OutputFile> svg_file(const RunArguments& arguments, const Scenario& scenario) {
  const bool pipeline = degrees(scenario.strategy).pipeline > 1;
  if (!pipeline && (arguments.gantt || !arguments.svg.empty())) {
    throw InputError(arguments.gantt ? "--gantt" : "--svg",
                     "the mesh has no pipeline axis: there is no pipeline to draw");
  }
  if (arguments.svg.empty()) return nullptr;
  if (arguments.svg == "-") throw InputError("--svg", "expected a file name, found -");
  return std::make_unique<OutputFile>("--svg", arguments.svg);
}

ExitCode verdict(const Scenario& scenario, const RunResult& result) {
  if (!result.timeline.periodic && scenario.run.exact_steps == 0) {
    spdlog::warn("no two steps in a row were alike in {} steps: the last but one is reported", result.timeline.steps);
  }
  if (result.memory.fits) return ExitCode::ok;
  const auto gib = [](Bytes bytes) { return static_cast<double>(bytes) / 0x1p30; };
  spdlog::warn("does not fit memory: the peak is {:.4g} GiB of {:.4g} GiB per chip, most of it {}",
               gib(result.memory.peak), gib(result.memory.capacity),
               result.memory.parts.empty() ? "unknown" : result.memory.parts.front().first);
  return scenario.allow_oom ? ExitCode::ok : ExitCode::out_of_memory;
}

}  // namespace

RunResult run_and_show(Scenario scenario) {
  const Progress progress("simulating " + scenario.name);
  scenario.run.progress = [&progress](std::uint32_t steps, double share) { progress.show(steps, share); };
  return run(scenario);
}

ExitCode run_command(const RunArguments& arguments) {
  Scenario scenario = load(arguments.scenario, overrides(arguments), default_catalog());
  JsonOutput json(arguments.json);
  const std::unique_ptr<OutputFile> trace_out = trace_file(arguments);
  const std::unique_ptr<OutputFile> svg_out = svg_file(arguments, scenario);
  scenario.run.record_memory = trace_out != nullptr;
  const RunResult result = run_and_show(scenario);
  if (json.wanted()) json.write(run_json(scenario, result));
  if (trace_out != nullptr) trace(arguments, result, *trace_out);
  if (svg_out != nullptr) {
    svg_out->stream() << gantt_svg(run_gantt(scenario, result));
    svg_out->commit();
  }
  if (json.owns_stdout()) return verdict(scenario, result);
  print(run_report(scenario, result, colour_on_stdout()));
  if (arguments.gantt) print("\n" + gantt_text(run_gantt(scenario, result), columns_of_stdout(), colour_on_stdout()));
  return verdict(scenario, result);
}

}  // namespace stepsim
