#include "tools/run_gantt.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/format.h"
#include "tools/schedule_gantt.h"

namespace stepsim {
namespace {

using StageUnit = std::pair<std::int32_t, std::int32_t>;

/// Stages and microbatches whose backward is played at once.
std::set<StageUnit> whole_backwards(const PipelineOrder& order) {
  std::set<StageUnit> all;
  for (const RankOrder& list : order.ranks) {
    for (const Action& action : list) {
      if (action.kind == ActionKind::backward) all.insert({action.stage, action.microbatch});
    }
  }
  return all;
}

class Rows {
 public:
  Rows(const RunResult& result)
      : program_(result.assembly.plan.program),
        timeline_(result.timeline),
        order_(result.assembly.plan.order),
        whole_(whole_backwards(order_)) {}

  [[nodiscard]] GanttRow row(ClassId who) const {
    GanttRow row;
    row.label = "rank " + std::to_string(program_.program_of[who]);
    const Program& own = program_.run_by(who);
    for (OpId id = 0; id < own.ops.size(); ++id) {
      if (own.ops[id].kind != OpKind::compute) continue;
      const OpTimes& times = timeline_.at(timeline_.reported(), who, id);
      if (times.end > times.start) add(row, own.ops[id], times);
    }
    return row;
  }

  /// Of each rank the class that ends last; ties: the first.
  [[nodiscard]] std::vector<ClassId> shown() const {
    std::map<std::uint32_t, std::pair<Picoseconds, ClassId>> last;
    for (ClassId who = 0; who < timeline_.classes; ++who) {
      Picoseconds end;
      for (OpId id = 0; id < program_.run_by(who).ops.size(); ++id) {
        end = std::max(end, timeline_.at(timeline_.reported(), who, id).end);
      }
      const auto [known, is_new] = last.try_emplace(program_.program_of[who], end, who);
      if (!is_new && end > known->second.first) known->second = {end, who};
    }
    std::vector<ClassId> classes;
    for (const auto& [rank, one] : last) classes.push_back(one.second);
    return classes;
  }

 private:
  [[nodiscard]] SpanKind kind(const Op& op) const {
    const std::string& phase = program_.names[op.tag.phase];
    if (phase == "forward") return SpanKind::forward;
    if (phase == "optimizer") return SpanKind::other;
    if (whole_.contains({op.tag.stage, op.tag.microbatch})) return SpanKind::backward;
    return phase == "backward_weight" ? SpanKind::weight_gradient : SpanKind::input_gradient;
  }

  /// Ops of one action that follow each other are one span, with what is communicated between them.
  void add(GanttRow& row, const Op& op, const OpTimes& times) const {
    GanttSpan span;
    span.start = (times.start - timeline_.window_start()).count();
    span.end = (times.end - timeline_.window_start()).count();
    span.kind = kind(op);
    const bool action = span.kind != SpanKind::other;
    if (action) span.chunk = chunk_of(order_, forward(op.tag.stage, op.tag.microbatch));
    span.label = action ? std::to_string(op.tag.microbatch) : "";
    span.title = action ? std::to_string(op.tag.stage) + letter(span.kind) + span.label : "optimizer";
    if (!row.spans.empty() && row.spans.back().title == span.title) {
      row.spans.back().end = span.end;
    } else {
      row.spans.push_back(std::move(span));
    }
  }

  const StepProgram& program_;
  const Timeline& timeline_;
  const PipelineOrder& order_;
  std::set<StageUnit> whole_;
};

}  // namespace

Gantt run_gantt(const Scenario& scenario, const RunResult& result) {
  const TimeUnit unit = time_unit(result.step_time);
  Gantt gantt;
  gantt.title = scenario.name + ", " + scenario.strategy.pipeline.schedule;
  gantt.subtitle = time_text(result.step_time) + " a step; as simulated, one class of chips for each rank";
  gantt.chunks = chunk_names(result.assembly.plan.order);
  const Rows rows(result);
  for (const ClassId who : rows.shown()) {
    gantt.rows.push_back(rows.row(who));
  }
  std::int64_t origin = INT64_MAX;  // with a synchronised optimizer the step's own start
  for (const GanttRow& row : gantt.rows) {
    if (!row.spans.empty()) origin = std::min(origin, row.spans.front().start);
  }
  for (GanttRow& row : gantt.rows) {
    for (GanttSpan& span : row.spans) {
      span.start -= origin;
      span.end -= origin;
      gantt.end = std::max(gantt.end, span.end);
    }
  }
  gantt.ticks_per_unit = unit.picoseconds;
  gantt.unit = unit.name;
  return gantt;
}

}  // namespace stepsim
