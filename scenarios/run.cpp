#include "scenarios/run.h"

#include <algorithm>
#include <map>

#include "scenarios/alone_time.h"
#include "scenarios/bottleneck.h"
#include "scenarios/link_rates.h"
#include "scenarios/pipeline_figures.h"

namespace stepsim {
namespace {

std::vector<LinkClassUse> link_classes(const Assembly& assembly, const Timeline& timeline) {
  const auto& after = timeline.links_at_end.at(timeline.reported());
  const double step = to_seconds(timeline.step_time());
  std::map<std::pair<std::string, std::int64_t>, LinkClassUse> classes;
  for (LinkId link = 0; link < assembly.links.size(); ++link) {
    const GraphLink one = assembly.cluster->link(assembly.links[link].one);
    const std::uint32_t links = assembly.links[link].links;
    LinkUse use = after[link];
    if (timeline.reported() > 0) {
      const LinkUse& before = timeline.links_at_end[timeline.reported() - 1][link];
      use.bytes -= before.bytes;
      use.busy -= before.busy;
    }
    LinkClassUse& total = classes[{one.kind, one.capacity}];
    const double busy = step > 0 ? to_seconds(use.busy) / step : 0;
    total.kind = one.kind;
    total.capacity = static_cast<double>(one.capacity);
    total.links += links;
    total.bytes += use.bytes * links;
    total.busy += busy * links;
    total.busiest = std::max(total.busiest, busy);
    const double allowed = total.capacity * step;
    if (allowed > 0) total.fullest = std::max(total.fullest, static_cast<double>(use.bytes) / allowed);
    total.peak_flows = std::max(total.peak_flows, use.peak_flows);
  }
  std::vector<LinkClassUse> all;
  for (auto& [key, use] : classes) {
    use.busy /= static_cast<double>(use.links);
    all.push_back(use);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.fullest > b.fullest; });
  return all;
}

MemoryReport memory_report(const Scenario& scenario, const StepProgram& program, const Timeline& timeline) {
  MemoryReport report;
  report.capacity = scenario.cluster.chip.memory;
  const auto fullest = std::max_element(timeline.peak.begin(), timeline.peak.end(),
                                        [](const MemoryPeak& a, const MemoryPeak& b) { return a.bytes < b.bytes; });
  if (fullest == timeline.peak.end()) return report;
  report.peak = fullest->bytes;
  for (NameId part = 0; part < fullest->by_part.size(); ++part) {
    if (fullest->by_part[part] != 0) report.parts.emplace_back(program.names[part], fullest->by_part[part]);
  }
  std::stable_sort(report.parts.begin(), report.parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  report.fits = report.peak <= report.capacity;
  return report;
}

/// By what methods a class does the collectives of one kind on one set of axes, largest arrays first.
std::vector<MethodUse> method_uses(const Assembly& assembly, const CollectiveUse& use, ClassId who) {
  const StepProgram& program = assembly.plan.program;
  std::map<std::size_t, MethodUse> by_pattern;
  for (const Op& op : program.run_by(who).ops) {
    if (op.kind != OpKind::collective) continue;
    const Collective& one = program.collectives[op.collective];
    if (program.names[op.tag.axis] != use.axis || program.names[one.kind] != use.kind) continue;
    const std::size_t pattern = assembly.communication.pattern_of[op.collective];
    MethodUse& method = by_pattern[pattern];
    method.array = one.array;
    method.pick = assembly.communication.picks[pattern];
    ++method.count;
  }
  std::vector<MethodUse> all;
  for (auto& [pattern, method] : by_pattern) all.push_back(std::move(method));
  std::stable_sort(all.begin(), all.end(), [](const MethodUse& a, const MethodUse& b) { return a.array > b.array; });
  return all;
}

std::vector<CollectiveReport> collective_reports(const Scenario& scenario, const Assembly& assembly,
                                                 const Timeline& timeline, ClassId who) {
  LinkRates rates(*assembly.cluster, scenario.ring != RingStyle::one_way);
  std::map<std::string, double> limits;  // by axis
  for (const CollectiveRequest& request : assembly.plan.collectives) {
    limits[group_name(request.axes)] =
        rates.egress(assembly.mesh->group_shape(axis_indices(scenario.strategy, request.axes)));
  }
  std::vector<CollectiveReport> reports;
  for (CollectiveUse& use : collective_uses(assembly.plan.program, timeline, who)) {
    CollectiveReport report;
    static_cast<CollectiveUse&>(report) = std::move(use);
    report.limit = limits[report.axis];
    report.methods = method_uses(assembly, report, who);
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<PathPiece> path(const Scenario& scenario, const Assembly& assembly, const Timeline& timeline) {
  AloneTimes alone(assembly, scenario.run);
  return critical_path(assembly.plan.program, assembly.network, timeline, scenario.run,
                       [&](CollectiveId id, ClassId who) { return alone.of(id, who); });
}

void headline(const Scenario& scenario, RunResult& result) {
  const double step = to_seconds(result.step_time);
  const double chips = result.assembly.cluster->chips();
  const TrainingFlops flops = training_flops(scenario.model);
  result.flop_formula = flops.formula;
  if (step <= 0) return;
  result.tokens_per_s = static_cast<double>(scenario.strategy.batch_tokens) / step;
  result.tokens_per_s_per_chip = result.tokens_per_s / chips;
  result.model_flops_per_s_per_chip =
      (flops.matmul_per_token + flops.attention_per_token) * result.tokens_per_s_per_chip;
  result.mfu = result.model_flops_per_s_per_chip / scenario.cluster.chip.flops.at(scenario.strategy.dtype);
}

}  // namespace

ClassId most_common_class(const std::vector<ClassBreakdown>& breakdown) {
  const auto most = std::max_element(breakdown.begin(), breakdown.end(),
                                     [](const auto& a, const auto& b) { return a.chips < b.chips; });
  return most == breakdown.end() ? 0 : most->who;
}

namespace {

/// What if nothing were wrong: the same scenario without its faults, folded.
std::optional<Picoseconds> without_faults(const Scenario& scenario) {
  if (scenario.cluster.chip_faults.empty() && scenario.cluster.link_faults.empty()) return std::nullopt;
  Scenario healthy = scenario;
  healthy.cluster.chip_faults.clear();
  healthy.cluster.link_faults.clear();
  healthy.fold = true;
  healthy.run.record_memory = false;
  const Assembly assembly = assemble(healthy);
  return simulate(assembly.plan.program, assembly.network, healthy.run).step_time();
}

}  // namespace

RunResult run_briefly(const Scenario& scenario, Assembly assembly) {
  RunResult result;
  result.assembly = std::move(assembly);
  const StepProgram& program = result.assembly.plan.program;
  result.timeline = simulate(program, result.assembly.network, scenario.run);
  result.step_time = result.timeline.step_time();
  headline(scenario, result);
  result.memory = memory_report(scenario, program, result.timeline);
  result.breakdown = breakdown(program, result.timeline);
  return result;
}

RunResult run(const Scenario& scenario) {
  RunResult result = run_briefly(scenario, assemble(scenario));
  result.collectives =
      collective_reports(scenario, result.assembly, result.timeline, most_common_class(result.breakdown));
  result.links = link_classes(result.assembly, result.timeline);
  result.critical_path = path(scenario, result.assembly, result.timeline);
  result.bottleneck = bottleneck(result);
  if (degrees(scenario.strategy).pipeline > 1) result.pipeline = pipeline_figures(scenario, result);
  result.step_time_without_faults = without_faults(scenario);
  return result;
}

}  // namespace stepsim
