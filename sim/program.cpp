#include "sim/program.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace stepsim {

OpId Program::add(Op op, const std::vector<Dependency>& waits_for, const std::vector<MemoryChange>& changes) {
  op.first_dependency = static_cast<std::uint32_t>(dependencies.size());
  op.dependencies = static_cast<std::uint32_t>(waits_for.size());
  op.first_memory = static_cast<std::uint32_t>(memory.size());
  op.memory_changes = static_cast<std::uint32_t>(changes.size());
  dependencies.insert(dependencies.end(), waits_for.begin(), waits_for.end());
  memory.insert(memory.end(), changes.begin(), changes.end());
  ops.push_back(op);
  return static_cast<OpId>(ops.size() - 1);
}

NameId StepProgram::name(const std::string& text) {
  if (names.empty()) names.emplace_back();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<NameId>(found - names.begin());
  names.push_back(text);
  return static_cast<NameId>(names.size() - 1);
}

StreamId StepProgram::stream(const std::string& text, bool computes) {
  const auto found = std::find(streams.begin(), streams.end(), text);
  if (found != streams.end()) return static_cast<StreamId>(found - streams.begin());
  streams.push_back(text);
  compute_stream.push_back(computes);
  return static_cast<StreamId>(streams.size() - 1);
}

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::logic_error("step program: " + what);
}

void check_op(const StepProgram& all, const Program& program, OpId id, const Network& network) {
  const Op& op = program.ops[id];
  const std::string where = "op " + std::to_string(id) + ": ";
  if (op.stream >= all.streams.size()) fail(where + "no such stream");
  if (op.kind == OpKind::collective && op.collective >= all.collectives.size()) fail(where + "no such collective");
  if (op.kind == OpKind::transfer && op.route >= network.routes()) fail(where + "no such route");
  if (op.bytes < 0 || op.work < Picoseconds(0)) fail(where + "negative bytes or work");
  for (std::uint32_t d = 0; d < op.dependencies; ++d) {
    const Dependency& dependency = program.dependencies.at(op.first_dependency + d);
    if (dependency.op >= program.ops.size()) fail(where + "waits for an op that does not exist");
    if (dependency.steps_back == 0 && dependency.op == id) fail(where + "waits for itself");
  }
}

/// The collectives that a class issues on each stream to each communicator, in order.
std::map<std::pair<StreamId, CommunicatorId>, std::vector<CollectiveId>> issued(const StepProgram& all,
                                                                                const Program& program) {
  std::map<std::pair<StreamId, CommunicatorId>, std::vector<CollectiveId>> order;
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::collective) continue;
    order[{op.stream, all.collectives[op.collective].communicator}].push_back(op.collective);
  }
  return order;
}

void check_communicators(const StepProgram& program) {
  std::vector<std::map<std::pair<StreamId, CommunicatorId>, std::vector<CollectiveId>>> orders;
  for (const Program& one : program.programs) orders.push_back(issued(program, one));
  for (CommunicatorId c = 0; c < program.communicators.size(); ++c) {
    const Communicator& communicator = program.communicators[c];
    for (std::size_t i = 0; i < communicator.class_of.size(); ++i) {
      const ClassId first = communicator.class_of[i - i % communicator.members];
      const std::uint32_t a = program.program_of[first];
      const std::uint32_t b = program.program_of[communicator.class_of[i]];
      if (a == b) continue;
      for (StreamId s = 0; s < program.streams.size(); ++s) {
        if (orders[a][{s, c}] != orders[b][{s, c}]) {
          fail("classes " + std::to_string(first) + " and " + std::to_string(communicator.class_of[i]) +
               " issue different collectives to '" + communicator.name + "' on stream '" + program.streams[s] + "'");
        }
      }
    }
  }
}

}  // namespace

void check(const StepProgram& program, const Network& network) {
  if (program.compute_stream.size() != program.streams.size()) fail("streams and compute_stream differ in size");
  if (program.chips_of.size() != program.program_of.size()) fail("chips_of and program_of differ in size");
  for (const Collective& collective : program.collectives) {
    if (collective.communicator >= program.communicators.size()) fail("no such communicator");
    if (collective.plan >= program.plans.size()) fail("no such plan");
    const TransferPlan& plan = program.plans[collective.plan];
    if (plan.members != program.communicators[collective.communicator].members) fail("plan and group differ in size");
    const std::size_t expected = program.program_of.size() * plan.ports;
    if (program.route_tables.at(collective.routes).size() != expected) fail("a route table has a wrong size");
  }
  for (const Program& one : program.programs) {
    for (OpId id = 0; id < one.ops.size(); ++id) check_op(program, one, id, network);
  }
  for (const std::uint32_t p : program.program_of) {
    if (p >= program.programs.size()) fail("a class runs a program that does not exist");
  }
  check_communicators(program);
}

}  // namespace stepsim
