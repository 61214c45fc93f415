// small_program.h: step programs of a few ops, written by hand in tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "sim/simulation.h"

namespace stepsim {

constexpr Picoseconds ps(std::int64_t count) {
  return Picoseconds(count);
}
constexpr std::int64_t ns = 1000;
constexpr std::int64_t us = 1'000'000;
constexpr std::int64_t GB = 1'000'000'000;  // bytes/s: a byte takes 1 ns

/// A program under construction and the network it plays on. One program is filled at a time; classes are added last.
struct Small {
  StepProgram all;
  Network network;

  LinkId link(std::int64_t capacity, Picoseconds latency = Picoseconds(0)) {
    return network.add_link(capacity, latency);
  }
  RouteId route(std::initializer_list<LinkId> links) {
    return network.add_route(std::span<const LinkId>(links.begin(), links.size()));
  }

  std::uint32_t new_program() {
    all.programs.emplace_back();
    return static_cast<std::uint32_t>(all.programs.size() - 1);
  }
  ClassId add_class(std::uint32_t program, std::uint64_t chips = 1) {
    all.program_of.push_back(program);
    all.chips_of.push_back(chips);
    return static_cast<ClassId>(all.program_of.size() - 1);
  }

  Program& current() {
    if (all.programs.empty()) new_program();
    return all.programs.back();
  }
  OpId compute(const std::string& stream, Picoseconds work, const std::vector<Dependency>& waits_for = {},
               const std::vector<MemoryChange>& changes = {}, const std::string& phase = "forward") {
    Op op;
    op.kind = OpKind::compute;
    op.stream = all.stream(stream, true);
    op.work = work;
    op.tag.phase = all.name(phase);
    return current().add(op, waits_for, changes);
  }
  OpId marker(const std::string& stream, const std::vector<Dependency>& waits_for = {},
              const std::vector<MemoryChange>& changes = {}) {
    Op op;
    op.kind = OpKind::marker;
    op.stream = all.stream(stream, false);
    return current().add(op, waits_for, changes);
  }
  OpId transfer(const std::string& stream, RouteId route, Bytes bytes, const std::vector<Dependency>& waits_for = {},
                const std::string& axis = "copy") {
    Op op;
    op.kind = OpKind::transfer;
    op.stream = all.stream(stream, false);
    op.route = route;
    op.bytes = bytes;
    op.tag.axis = all.name(axis);
    return current().add(op, waits_for);
  }
  OpId collective(const std::string& stream, CollectiveId id, const std::vector<Dependency>& waits_for = {}) {
    Op op;
    op.kind = OpKind::collective;
    op.stream = all.stream(stream, false);
    op.collective = id;
    op.tag.axis = all.name(all.communicators[all.collectives[id].communicator].name);
    return current().add(op, waits_for);
  }
  Op& op(OpId id) { return current().ops[id]; }

  /// One group of all classes 0..members-1, rank = class.
  CommunicatorId communicator(const std::string& name, std::uint32_t members) {
    std::vector<std::uint32_t> ranks(members);
    std::iota(ranks.begin(), ranks.end(), 0U);
    all.communicators.push_back(
        stepsim::communicator(name, members, std::vector<std::uint32_t>(members, 0), std::move(ranks)));
    return static_cast<CommunicatorId>(all.communicators.size() - 1);
  }
  CollectiveId add_collective(CommunicatorId communicator, const TransferPlan& plan, const std::vector<RouteId>& routes,
                              const std::string& kind = "all-gather", Bytes array = 0) {
    all.plans.push_back(plan);
    all.route_tables.push_back(routes);
    all.collectives.push_back({.communicator = communicator,
                               .plans = {static_cast<std::uint32_t>(all.plans.size() - 1)},
                               .routes = static_cast<std::uint32_t>(all.route_tables.size() - 1),
                               .kind = all.name(kind),
                               .array = array});
    return static_cast<CollectiveId>(all.collectives.size() - 1);
  }

  /// A link and a route from each member of a ring to the next; the routes by member.
  std::vector<RouteId> ring_routes(std::uint32_t members, std::int64_t capacity, Picoseconds latency) {
    std::vector<RouteId> routes;
    for (std::uint32_t m = 0; m < members; ++m) routes.push_back(route({link(capacity, latency)}));
    return routes;
  }

  [[nodiscard]] Timeline play(RunOptions options = {.exact_steps = 1}) const { return simulate(all, network, options); }
};

/// All-gather one way round a ring: N - 1 transfers of a shard by each member; transfer i passes on what delivery i
/// brought.
inline TransferPlan ring_plan(std::uint32_t members, Bytes shard) {
  TransferPlan plan;
  plan.members = members;
  plan.ports = 1;
  Role role;
  role.lanes = {{0, 1}};
  role.runs = {{.port = 0, .count = members - 1, .bytes = shard, .first_need = 0, .needs = 1}};
  role.needs = {{.port = 0, .base = 0, .stride = 1}};
  plan.roles = {role};
  plan.role_of.assign(members, 0);
  for (std::uint32_t m = 0; m < members; ++m) plan.port.push_back({(m + 1) % members, 0, 0, 1});
  return plan;
}

/// Member 0 sends `count` transfers to member 1 in one lane.
inline TransferPlan send_plan(Bytes bytes, bool eager, std::uint32_t count = 1) {
  TransferPlan plan;
  plan.members = 2;
  plan.ports = 1;
  plan.eager = eager;
  Role sender;
  sender.lanes = {{0, 1}};
  sender.runs = {{.port = 0, .count = count, .bytes = bytes, .first_need = 0, .needs = 0}};
  plan.roles = {sender, Role()};
  plan.role_of = {0, 1};
  plan.port = {{1, 0, -1, 0}, {1, 0, -1, 0}};
  return plan;
}

}  // namespace stepsim
