#include "scenarios/pipeline_figures.h"

#include <algorithm>
#include <optional>

#include "schedules/action_costs.h"
#include "schedules/pipeline/limits.h"

namespace stepsim {
namespace {

double rank_bubble(const StepProgram& program, const Timeline& timeline) {
  std::vector<bool> works(program.names.size(), false);
  for (std::size_t i = 0; i < program.names.size(); ++i) {
    const std::string& name = program.names[i];
    works[i] = name == "forward" || name == "backward_input" || name == "backward_weight" || name == "recompute";
  }
  Picoseconds cost;
  Picoseconds most_work;
  for (ClassId who = 0; who < timeline.classes; ++who) {
    std::optional<Picoseconds> first;
    Picoseconds last;
    Picoseconds work;
    const std::vector<Op>& ops = program.run_by(who).ops;
    for (OpId op = 0; op < ops.size(); ++op) {
      if (ops[op].kind != OpKind::compute || !works[ops[op].tag.phase]) continue;
      const OpTimes& times = timeline.at(timeline.reported(), who, op);
      first = std::min(first.value_or(times.start), times.start);
      last = std::max(last, times.end);
      work += times.end - times.start;
    }
    if (first) cost = std::max(cost, last - *first);
    most_work = std::max(most_work, work);
  }
  if (cost == Picoseconds(0)) return 0;
  return to_seconds(cost - most_work) / to_seconds(cost);
}

bool is_compute(const std::string& part) {
  return part.find('.') == std::string::npos && part != "straggler";
}

}  // namespace

double most_held(const PipelineOrder& order, double after_input) {
  double most = 0;
  for (const RankOrder& list : order.ranks) most = std::max(most, most_held(list, ActivationUnits{1, after_input}));
  return most;
}

PipelineFigures pipeline_figures(const Scenario& scenario, const RunResult& result) {
  PipelineFigures figures;
  double chips = 0;
  double compute = 0;
  double sends = 0;
  const double step = to_seconds(result.step_time);
  for (const ClassBreakdown& one : result.breakdown) {
    const auto weight = static_cast<double>(one.chips);
    chips += weight;
    for (const BreakdownPart& part : one.parts) {
      const double time = to_seconds(part.time) * weight;
      if (is_compute(part.name)) compute += time;
      if (part.name == "bubble.warmup") figures.warm_up += time;
      if (part.name == "bubble.steady") figures.steady += time;
      if (part.name == "bubble.drain") figures.drain += time;
      if (part.name == "exposed.pipeline") sends += time;
    }
  }
  if (chips > 0 && step > 0) {
    figures.wall_bubble = 1 - compute / (chips * step);
    for (double* share : {&figures.warm_up, &figures.steady, &figures.drain}) *share /= chips * step;
    figures.exposed_sends = from_seconds(sends / chips);
  }
  const PipelineOrder& order = result.assembly.plan.order;
  figures.rank_bubble = rank_bubble(result.assembly.plan.program, result.timeline);
  const MeanStage stage = mean_stage(scenario.model, scenario.strategy, scenario.cluster.chip, order.stages);
  figures.activation_microbatches = most_held(order, stage.activation.after_input) * microbatches_per_activation(order);
  figures.copies = order.copies();
  return figures;
}

}  // namespace stepsim
