// play.h: plays one collective on a group that has the network to itself.
//
// The network is one link per member, group axis and direction, all alike unless said otherwise. Every member is a
// class of its own (nothing is folded) whose program is: arrive, take part in the collective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "collectives/collective.h"
#include "sim/simulation.h"

namespace stepsim {

inline GroupAxis ring_of(int n) {
  return {.extent = n, .closed = true};
}
inline GroupAxis line_of(int n) {
  return {.extent = n, .closed = false};
}

/// What surrounds the collective.
struct Surroundings {
  std::int64_t rate = 0;  // bytes/s one way
  Picoseconds latency{};
  std::map<std::uint32_t, Picoseconds> late{};         // member -> when it arrives; others at 0
  std::map<std::uint32_t, std::int64_t> slow_links{};  // link -> bytes/s
  LatencyModel latency_model = LatencyModel::additive;
  std::uint64_t shuffle_seed = 0;
};

/// up: 0, down: 1. Of a collective without axes (point-to-point): axes = 1, axis = 0.
inline std::uint32_t link_number(std::uint32_t member, std::size_t axes, std::uint32_t axis, std::uint32_t down) {
  return (member * static_cast<std::uint32_t>(axes) + axis) * 2 + down;
}

struct LoneCollective {
  StepProgram program;
  Network network;
  std::size_t axes = 1;
};

inline void add_links(LoneCollective& a, std::uint32_t members, const Surroundings& around) {
  const auto links = link_number(members, a.axes, 0, 0);
  for (LinkId link = 0; link < links; ++link) {
    const auto slow = around.slow_links.find(link);
    a.network.add_link(slow == around.slow_links.end() ? around.rate : slow->second, around.latency);
    a.network.add_route(std::span<const LinkId>(&link, 1));
  }
}

inline std::vector<RouteId> route_table(const TransferPlan& plan, std::size_t axes) {
  std::vector<RouteId> table;
  for (std::size_t i = 0; i < plan.port.size(); ++i) {
    const Port& port = plan.port[i];
    const auto axis = static_cast<std::uint32_t>(std::max(port.axis, 0));
    table.push_back(link_number(static_cast<std::uint32_t>(i / plan.ports), axes, axis, port.direction < 0));
  }
  return table;
}

inline void add_communicator(StepProgram& program, std::uint32_t members) {
  std::vector<std::uint32_t> ranks(members);
  std::iota(ranks.begin(), ranks.end(), 0U);
  program.communicators.push_back(communicator("all", members, std::vector<std::uint32_t>(members, 0), ranks));
}

/// The program of a member that arrives at `when`.
inline Program arrive_and_take_part(StepProgram& all, Picoseconds when) {
  Program program;
  Op wait;
  wait.kind = OpKind::compute;
  wait.stream = all.stream("compute", true);
  wait.work = when;
  Op take_part;
  take_part.kind = OpKind::collective;
  take_part.stream = all.stream("network", false);
  take_part.collective = 0;
  const OpId arrival = program.add(wait);
  program.add(take_part, {{.op = arrival}});
  return program;
}

inline LoneCollective set_up(const CollectiveSpec& spec, const Surroundings& around) {
  LoneCollective a;
  a.axes = std::max<std::size_t>(spec.shape.size(), 1);
  const TransferPlan plan = collective_algorithms().at("algorithm", spec.algorithm).make(spec);
  check(plan);
  add_links(a, plan.members, around);
  add_communicator(a.program, plan.members);
  a.program.route_tables.push_back(route_table(plan, a.axes));
  const NameId kind = a.program.name(to_string(spec.kind));
  a.program.collectives.push_back({.communicator = 0, .plans = {0}, .routes = 0, .kind = kind, .array = spec.bytes});
  a.program.plans.push_back(plan);
  a.program.programs.push_back(arrive_and_take_part(a.program, Picoseconds(0)));
  a.program.program_of.assign(plan.members, 0);
  a.program.chips_of.assign(plan.members, 1);
  for (const auto& [member, when] : around.late) {
    a.program.program_of[member] = static_cast<std::uint32_t>(a.program.programs.size());
    a.program.programs.push_back(arrive_and_take_part(a.program, when));
  }
  check(a.program, a.network);
  return a;
}

struct Played {
  std::vector<Picoseconds> left;  // per member
  Picoseconds end;                // the last of them
  std::vector<Bytes> carried;     // per link
  std::uint64_t transfers = 0;
};

/// Plays it for a step and reads off when members left and what links carried.
inline Played played(const LoneCollective& a, const RunOptions& options) {
  const Timeline timeline = simulate(a.program, a.network, options);
  Played played;
  constexpr OpId take_part = 1;
  for (ClassId m = 0; m < a.program.program_of.size(); ++m) {
    played.left.push_back(timeline.at(0, m, take_part).end);
    played.end = std::max(played.end, played.left.back());
  }
  for (const LinkUse& use : timeline.links_at_end.at(0)) played.carried.push_back(use.bytes);
  played.transfers = timeline.counters.transfers;
  return played;
}

inline Played play(const CollectiveSpec& spec, const Surroundings& around) {
  RunOptions options{.latency_model = around.latency_model, .exact_steps = 1};
  options.shuffle_seed = around.shuffle_seed;
  return played(set_up(spec, around), options);
}

}  // namespace stepsim
