#include "sim/step_state.h"

#include <utility>

namespace stepsim {
namespace {

constexpr std::uint8_t bit_of(Event event) {
  return event == Event::drained ? 1 : 2;
}

}  // namespace

StepState::StepState(const StepProgram& program, std::uint32_t limit) : program_(program), limit_(limit) {
  for (const Program& one : program.programs) static_.push_back(index(one, program.streams.size()));
  first_op_.push_back(0);
  for (const std::uint32_t p : program.program_of) {
    const auto ops = static_cast<std::uint32_t>(program.programs[p].ops.size());
    first_op_.push_back(first_op_.back() + ops);
    ClassState& state = classes_.emplace_back();
    state.cursors.resize(program.streams.size());
    for (Block& block : state.blocks) {
      block.missing.resize(ops);
      block.happened.resize(ops);
    }
  }
}

StepState::Static StepState::index(const Program& program, std::size_t streams) {
  std::vector<std::vector<OpId>> of_stream(streams);
  std::vector<std::vector<Dependent>> dependents(program.ops.size());
  for (OpId id = 0; id < program.ops.size(); ++id) {
    const Op& op = program.ops[id];
    of_stream[op.stream].push_back(id);
    for (std::uint32_t d = 0; d < op.dependencies; ++d) {
      const Dependency& dependency = program.dependencies[op.first_dependency + d];
      dependents[dependency.op].push_back({id, dependency.steps_back, dependency.event});
    }
  }
  Static fixed;
  fixed.stream_first.push_back(0);
  for (const auto& ops : of_stream) {
    fixed.stream_ops.insert(fixed.stream_ops.end(), ops.begin(), ops.end());
    fixed.stream_first.push_back(static_cast<std::uint32_t>(fixed.stream_ops.size()));
  }
  fixed.dependent_first.push_back(0);
  for (const auto& list : dependents) {
    fixed.dependents.insert(fixed.dependents.end(), list.begin(), list.end());
    fixed.dependent_first.push_back(static_cast<std::uint32_t>(fixed.dependents.size()));
  }
  return fixed;
}

void StepState::begin(std::vector<OpInstance>& ready) {
  for (ClassId who = 0; who < classes(); ++who) {
    begin_step(who, ready);
    if (classes_[who].begun == 1) begin_step(who, ready);
  }
}

void StepState::begin_step(ClassId who, std::vector<OpInstance>& ready) {
  ClassState& state = classes_[who];
  const Program& program = program_.run_by(who);
  const std::uint32_t step = state.begun++;
  Block& block = state.blocks[step % 2];
  block.step = step;
  block.ops_left = static_cast<std::uint32_t>(program.ops.size());
  for (OpId id = 0; id < program.ops.size(); ++id) {
    const Op& op = program.ops[id];
    block.happened[id] = 0;
    block.missing[id] = 0;
    for (std::uint32_t d = 0; d < op.dependencies; ++d) {
      if (!has_happened(state, step, program.dependencies[op.first_dependency + d])) ++block.missing[id];
    }
  }
  for (StreamId stream = 0; stream < program_.streams.size(); ++stream) {
    if (state.cursors[stream].step == step) offer(who, stream, ready);
  }
}

bool StepState::has_happened(const ClassState& state, std::uint32_t step, const Dependency& dependency) const {
  if (dependency.steps_back == 0) return false;
  if (dependency.steps_back > step) return true;
  const std::uint32_t source = step - dependency.steps_back;
  const Block& block = state.blocks[source % 2];
  if (block.step != source || block.ops_left == 0) return true;  // ended and forgotten
  return (block.happened[dependency.op] & bit_of(dependency.event)) != 0;
}

void StepState::offer(ClassId who, StreamId stream, std::vector<OpInstance>& ready) const {
  const ClassState& state = classes_[who];
  const Cursor& cursor = state.cursors[stream];
  const Static& fixed = of(who);
  if (cursor.busy || cursor.step >= limit_ || fixed.stream_first[stream] == fixed.stream_first[stream + 1]) return;
  const Block& block = state.blocks[cursor.step % 2];
  if (block.step != cursor.step) return;  // the step has not begun
  const OpId id = fixed.stream_ops[fixed.stream_first[stream] + cursor.place];
  if (block.missing[id] == 0) ready.push_back({who, id, cursor.step});
}

bool StepState::may_start(const OpInstance& op) const {
  const ClassState& state = classes_[op.who];
  const StreamId stream = op_of(program_, op).stream;
  const Cursor& cursor = state.cursors[stream];
  const Static& fixed = of(op.who);
  return !cursor.busy && cursor.step == op.step && fixed.stream_ops[fixed.stream_first[stream] + cursor.place] == op.op;
}

void StepState::start(const OpInstance& op) {
  classes_[op.who].cursors[op_of(program_, op).stream].busy = true;
}

void StepState::happened(const OpInstance& op, Event event, std::vector<OpInstance>& ready) {
  ClassState& state = classes_[op.who];
  const Static& fixed = of(op.who);
  const Program& program = program_.run_by(op.who);
  state.blocks[op.step % 2].happened[op.op] |= bit_of(event);
  for (std::uint32_t d = fixed.dependent_first[op.op]; d < fixed.dependent_first[op.op + 1]; ++d) {
    const Dependent& dependent = fixed.dependents[d];
    const std::uint32_t step = op.step + dependent.steps_back;
    Block& block = state.blocks[step % 2];
    if (dependent.event != event || block.step != step) continue;  // a later step counts it when it begins
    if (--block.missing[dependent.op] == 0) offer(op.who, program.ops[dependent.op].stream, ready);
  }
  if (event == Event::end) advance(op.who, op, ready);
}

void StepState::advance(ClassId who, const OpInstance& op, std::vector<OpInstance>& ready) {
  ClassState& state = classes_[who];
  const Static& fixed = of(who);
  const StreamId stream = program_.run_by(who).ops[op.op].stream;
  Cursor& cursor = state.cursors[stream];
  cursor.busy = false;
  if (++cursor.place == fixed.stream_first[stream + 1] - fixed.stream_first[stream]) {
    cursor.place = 0;
    ++cursor.step;
  }
  offer(who, stream, ready);
  if (--state.blocks[op.step % 2].ops_left == 0) {
    ++state.done;
    begin_step(who, ready);
  }
}

std::vector<StepState::Stuck> StepState::stuck(ClassId who) const {
  std::vector<Stuck> all;
  const ClassState& state = classes_[who];
  const Static& fixed = of(who);
  for (StreamId stream = 0; stream < program_.streams.size(); ++stream) {
    const Cursor& cursor = state.cursors[stream];
    if (fixed.stream_first[stream] == fixed.stream_first[stream + 1] || cursor.step >= limit_) continue;
    const Block& block = state.blocks[cursor.step % 2];
    if (block.step != cursor.step) continue;
    const OpId id = fixed.stream_ops[fixed.stream_first[stream] + cursor.place];
    all.push_back({{who, id, cursor.step}, cursor.busy, block.missing[id]});
  }
  return all;
}

std::vector<OpInstance> StepState::missing(const OpInstance& op) const {
  std::vector<OpInstance> all;
  const ClassState& state = classes_[op.who];
  const Program& program = program_.run_by(op.who);
  const Op& one = program.ops[op.op];
  for (std::uint32_t d = 0; d < one.dependencies; ++d) {
    const Dependency& dependency = program.dependencies[one.first_dependency + d];
    if (dependency.steps_back > op.step) continue;
    const std::uint32_t source = op.step - dependency.steps_back;
    const Block& block = state.blocks[source % 2];
    if (block.step != source || (block.happened[dependency.op] & bit_of(dependency.event)) != 0) continue;
    all.push_back({op.who, dependency.op, source});
  }
  return all;
}

}  // namespace stepsim
