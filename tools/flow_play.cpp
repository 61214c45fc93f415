#include "sim/simulation.h"
#include "tools/flow_case.h"

namespace stepsim {

namespace {

struct FlowProgram {
  StepProgram program;
  Network network;
  std::vector<OpId> op_of;  // per task
};

/// One op on a stream of its own. Names are appended, not interned: ids may be many, and two must never share
/// a stream.
OpId add(StepProgram& program, const std::string& name, Op op, const std::vector<Dependency>& waits_for) {
  op.stream = static_cast<StreamId>(program.streams.size());
  op.tag.label = static_cast<NameId>(program.names.size());
  program.streams.push_back(name);
  program.compute_stream.push_back(op.kind == OpKind::compute);
  program.names.push_back(name);
  return program.programs[0].add(op, waits_for);
}

void add_task(const FlowTask& task, std::uint32_t index, FlowProgram& made) {
  std::vector<Dependency> waits_for;
  for (const FlowDependency& dependency : task.after) {
    waits_for.push_back({made.op_of[dependency.task], 0, dependency.event});
  }
  if (task.at > Picoseconds(0)) {  // a clock that runs from the beginning
    Op timer;
    timer.kind = OpKind::compute;
    timer.work = task.at;
    waits_for.push_back({add(made.program, "not before, for " + task.id, timer, {}), 0, Event::end});
  }
  Op op;
  op.kind = task.computes ? OpKind::compute : OpKind::transfer;
  op.work = task.time;
  if (!task.computes) {
    op.bytes = task.bytes;
    op.route = made.network.add_route(std::span<const LinkId>(task.route));
  }
  made.op_of[index] = add(made.program, task.id, op, waits_for);
}

FlowProgram assemble(const FlowCase& flow_case) {
  FlowProgram made;
  made.program.names = {""};
  made.program.programs.resize(1);
  made.program.program_of = {0};
  made.program.chips_of = {1};
  made.op_of.resize(flow_case.tasks.size());
  for (const FlowLink& link : flow_case.links) made.network.add_link(link.capacity, link.latency);
  for (const std::uint32_t task : in_order(flow_case)) add_task(flow_case.tasks[task], task, made);
  return made;
}

TaskTimes times_of(const FlowTask& task, const OpTimes& op) {
  return {op.start, task.computes ? op.end : op.drained, op.end};
}

}  // namespace

std::vector<TaskTimes> play(const FlowCase& flow_case) {
  std::vector<TaskTimes> times;
  if (flow_case.tasks.empty()) return times;
  const FlowProgram made = assemble(flow_case);
  RunOptions options;
  options.exact_steps = 1;
  const Timeline timeline = simulate(made.program, made.network, options);
  for (std::size_t i = 0; i < flow_case.tasks.size(); ++i) {
    times.push_back(times_of(flow_case.tasks[i], timeline.at(0, 0, made.op_of[i])));
  }
  return times;
}

}  // namespace stepsim
