// program_check.cpp: what must hold of a step program before the clock plays it. Errors here are mistakes of the
// program that made it, not of an input.

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/program.h"

namespace stepsim {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::logic_error("step program: " + what);
}

void check_memory(const StepProgram& all, const std::vector<MemoryChange>& changes) {
  for (const MemoryChange& change : changes) {
    if (change.part >= all.names.size()) fail("a memory change without a part's name");
  }
}

void check_op(const StepProgram& all, const Program& program, OpId id, const Network& network) {
  const Op& op = program.ops[id];
  const std::string where = "op " + std::to_string(id) + ": ";
  if (op.stream >= all.streams.size()) fail(where + "no such stream");
  if (op.kind == OpKind::collective && op.collective >= all.collectives.size()) fail(where + "no such collective");
  if (op.kind == OpKind::transfer && op.route >= network.routes()) fail(where + "no such route");
  if (op.bytes < 0 || op.work < Picoseconds(0)) fail(where + "negative bytes or work");
  if (std::max({op.tag.phase, op.tag.axis, op.tag.label}) >= all.names.size()) fail(where + "no such name in its tag");
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

/// Of these, those that both members of a group take part in.
std::vector<CollectiveId> common(const StepProgram& all, const std::vector<CollectiveId>& issued, std::uint32_t group,
                                 std::uint32_t a, std::uint32_t b) {
  std::vector<CollectiveId> both;
  for (const CollectiveId id : issued) {
    const TransferPlan& plan = all.plans[all.collectives[id].plan(group)];
    if (!plan.bystanders || (plan.takes_part(a) && plan.takes_part(b))) both.push_back(id);
  }
  return both;
}

/// The k-th collective of a group on a stream is the same for all its members that take part.
void check_order(const StepProgram& program) {
  std::vector<std::map<std::pair<StreamId, CommunicatorId>, std::vector<CollectiveId>>> orders;
  for (const Program& one : program.programs) orders.push_back(issued(program, one));
  for (CommunicatorId c = 0; c < program.communicators.size(); ++c) {
    const Communicator& communicator = program.communicators[c];
    for (const ClassId who : communicator.class_of) {
      const ClassId first = communicator.members(communicator.group_of[who])[0];
      const std::uint32_t a = program.program_of[first];
      const std::uint32_t b = program.program_of[who];
      if (a == b) continue;
      for (StreamId s = 0; s < program.streams.size(); ++s) {
        if (orders[a][{s, c}] == orders[b][{s, c}]) continue;
        const auto of = [&](std::uint32_t one) {
          const std::uint32_t group = communicator.group_of[who];
          return common(program, orders[one][{s, c}], group, communicator.rank_of[first], communicator.rank_of[who]);
        };
        if (of(a) != of(b)) {
          fail("classes " + std::to_string(first) + " and " + std::to_string(who) +
               " issue different collectives to '" + communicator.name + "' on stream '" + program.streams[s] + "'");
        }
      }
    }
  }
}

void check_classes(const StepProgram& program) {
  const std::size_t classes = program.program_of.size();
  bool any = false;
  for (const std::uint32_t p : program.program_of) {
    if (p >= program.programs.size()) fail("a class runs a program that does not exist");
    any = any || !program.programs[p].ops.empty();
  }
  if (!any) fail("no class has anything to do");
  if (program.chips_of.size() != classes) fail("chips_of and program_of differ in size");
  if (program.slowness.empty()) return;
  if (program.slowness.size() != classes) fail("slowness and program_of differ in size");
  for (const Slowness& one : program.slowness) {
    if (one.slower == 0 || one.than == 0) fail("a class has no speed");
  }
}

/// Members of every group are classes, and each finds its own place.
void check_communicator(const StepProgram& program, const Communicator& family) {
  if (family.first_member.empty() || family.first_member.back() != family.class_of.size()) {
    fail("the groups of '" + family.name + "' do not cover its members");
  }
  if (family.group_of.size() != program.program_of.size() || family.rank_of.size() != program.program_of.size()) {
    fail("'" + family.name + "' does not say the group and rank of every class");
  }
  for (std::uint32_t group = 0; group < family.groups(); ++group) {
    const auto members = family.members(group);
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      const ClassId who = members[rank];
      if (who >= program.program_of.size()) fail("'" + family.name + "' has a member that is no class");
      if (family.group_of[who] != group || family.rank_of[who] != rank) {
        fail("class " + std::to_string(who) + " of '" + family.name + "' has another group or rank than is listed");
      }
    }
  }
}

/// Every class that issues a collective must be in a group of its communicator.
void check_membership(const StepProgram& program) {
  std::vector<std::set<CommunicatorId>> used(program.programs.size());
  for (std::size_t p = 0; p < program.programs.size(); ++p) {
    for (const Op& op : program.programs[p].ops) {
      if (op.kind == OpKind::collective) used[p].insert(program.collectives[op.collective].communicator);
    }
  }
  for (ClassId who = 0; who < program.program_of.size(); ++who) {
    for (const CommunicatorId c : used[program.program_of[who]]) {
      const Communicator& family = program.communicators[c];
      if (family.group_of[who] < family.groups()) continue;  // its own place there was checked
      fail("class " + std::to_string(who) + " issues a collective to '" + family.name + "' without being a member");
    }
  }
}

/// A route for every port that a member sends over; ports that are not used need none.
void check_routes(const StepProgram& program, const Collective& collective, const Network& network) {
  const std::vector<RouteId>& table = program.route_tables[collective.routes];
  const Communicator& family = program.communicators[collective.communicator];
  for (const ClassId who : family.class_of) {
    const TransferPlan& plan = program.plans[collective.plan(family.group_of[who])];
    if (table.size() != program.program_of.size() * plan.ports) fail("a route table has a wrong size");
    const Role& role = plan.roles[plan.role_of[family.rank_of[who]]];
    for (const Lane& lane : role.lanes) {
      for (std::uint32_t r = 0; r < lane.runs; ++r) {
        const std::uint32_t port = role.runs[lane.first_run + r].port;
        if (table[static_cast<std::size_t>(who) * plan.ports + port] < network.routes()) continue;
        fail("class " + std::to_string(who) + " has no route for port " + std::to_string(port));
      }
    }
  }
}

void check_plans(const StepProgram& program, const Collective& one) {
  const Communicator& family = program.communicators[one.communicator];
  if (one.plans.size() != 1 && one.plans.size() != family.groups()) fail("a collective without a plan for each group");
  for (std::uint32_t group = 0; group < family.groups(); ++group) {
    if (one.plan(group) >= program.plans.size()) fail("no such plan");
    if (program.plans[one.plan(group)].members != family.members(group).size()) fail("plan and group differ in size");
  }
}

void check_collectives(const StepProgram& program, const Network& network) {
  std::set<std::tuple<CommunicatorId, std::vector<std::uint32_t>, std::uint32_t>>
      checked;  // many collectives are laid alike
  for (const Collective& one : program.collectives) {
    if (one.communicator >= program.communicators.size()) fail("no such communicator");
    if (one.kind >= program.names.size()) fail("a collective without the name of its kind");
    if (one.routes >= program.route_tables.size()) fail("no such route table");
    if (one.launch.count() < 0) fail("a launch of negative time");
    check_plans(program, one);
    if (checked.insert({one.communicator, one.plans, one.routes}).second) check_routes(program, one, network);
  }
}

}  // namespace

void check(const StepProgram& program, const Network& network) {
  if (program.names.empty()) fail("names[0] must be there, empty");
  if (program.compute_stream.size() != program.streams.size()) fail("streams and compute_stream differ in size");
  check_classes(program);
  for (const TransferPlan& plan : program.plans) check(plan);
  for (const Communicator& family : program.communicators) check_communicator(program, family);
  check_collectives(program, network);
  for (const Program& one : program.programs) {
    for (OpId id = 0; id < one.ops.size(); ++id) check_op(program, one, id, network);
    check_memory(program, one.memory);
    check_memory(program, one.resident);
  }
  check_membership(program);
  check_order(program);
}

}  // namespace stepsim
