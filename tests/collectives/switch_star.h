// switch_star.h: plays one collective on a star that it has to itself: each member has one link up to and one link down from
// a switch that never blocks. The latency is the uplink's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/collectives/causality.h"
#include "tests/collectives/play.h"

namespace stepsim {

/// The axis of a group behind a switch: any pair has a way of its own, and no end meets the other.
inline std::vector<GroupAxis> behind_switch(std::uint32_t members) {
  return {line_of(static_cast<int>(members))};
}

inline TransferPlan plan_of(const CollectiveSpec& spec) {
  TransferPlan plan = collective_algorithms().at("algorithm", spec.algorithm).make(spec);
  check(plan);
  return plan;
}

inline Causality follow(const CollectiveSpec& spec) {
  return CausalityPlayer(plan_of(spec)).play();
}

inline double bound_on_star(const CollectiveSpec& spec, const Surroundings& around) {
  const AxisRates rates{{static_cast<double>(around.rate)}, {static_cast<double>(around.latency.count()) * 1e-12}};
  return collective_algorithms().at("algorithm", spec.algorithm).bound(spec, rates) * 1e12;  // ps
}

/// Links: 2 x member up, + 1 down. A port that is not used has an empty route.
inline LoneCollective set_up_star(const CollectiveSpec& spec, const Surroundings& around) {
  LoneCollective a;
  const TransferPlan plan = plan_of(spec);
  for (std::uint32_t member = 0; member < plan.members; ++member) {
    a.network.add_link(around.rate, around.latency);
    a.network.add_link(around.rate, Picoseconds{});
  }
  std::vector<RouteId> table;
  for (std::uint32_t i = 0; i < plan.port.size(); ++i) {
    const bool used = plan.port[i].to != no_member;
    const std::array<LinkId, 2> links{2 * (i / plan.ports), used ? 2 * plan.port[i].to + 1 : 0};
    table.push_back(a.network.add_route(std::span<const LinkId>(links.data(), used ? 2 : 0)));
  }
  add_communicator(a.program, plan.members);
  a.program.route_tables.push_back(table);
  const NameId kind = a.program.name(to_string(spec.kind));
  a.program.collectives.push_back({.communicator = 0, .plans = {0}, .routes = 0, .kind = kind, .array = spec.bytes});
  a.program.plans.push_back(plan);
  a.program.programs.push_back(arrive_and_take_part(a.program, Picoseconds(0)));
  a.program.program_of.assign(plan.members, 0);
  a.program.chips_of.assign(plan.members, 1);
  check(a.program, a.network);
  return a;
}

inline Played play_on_star(const CollectiveSpec& spec, const Surroundings& around) {
  return played(set_up_star(spec, around), {.latency_model = around.latency_model, .exact_steps = 1});
}

}  // namespace stepsim
