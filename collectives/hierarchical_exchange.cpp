#include "collectives/hierarchical_exchange.h"

#include <algorithm>

#include "collectives/all_to_all.h"
#include "collectives/refusal.h"

namespace stepsim {

namespace {

struct Phases {
  std::uint32_t node = 1;  // g
  CollectiveSpec inside;   // the last axis; extents of 1 before it keep the numbers of the axes
  CollectiveSpec across;   // the other axes
};

Phases phases_of(const CollectiveSpec& spec) {
  Phases phases{1, spec, spec};
  if (spec.shape.empty()) return phases;
  const Bytes all = members(spec.shape);
  const Bytes pair = shard_bytes(shard_bytes(spec.bytes, members(spec.shape)), members(spec.shape));
  phases.node = static_cast<std::uint32_t>(spec.shape.back().extent);
  for (std::size_t a = 0; a + 1 < spec.shape.size(); ++a) phases.inside.shape[a].extent = 1;
  phases.across.shape.back().extent = 1;
  const Bytes g = phases.node;
  const Bytes h = all / g;
  phases.inside.bytes = pair * h * g * g;
  phases.across.bytes = pair * g * h * h;
  return phases;
}

void append(Role& role, const Role& of_phase, std::uint32_t first_port, const std::vector<Need>& needs) {
  for (Lane lane : of_phase.lanes) {
    lane.first_run += static_cast<std::uint32_t>(role.runs.size());
    role.lanes.push_back(lane);
  }
  for (Run run : of_phase.runs) {
    run.port += first_port;
    run.first_need = static_cast<std::uint32_t>(role.needs.size());
    run.needs = static_cast<std::uint32_t>(needs.size());
    role.needs.insert(role.needs.end(), needs.begin(), needs.end());
    role.runs.push_back(run);
  }
}

// What phase 1 brings to each of its members: one delivery through each port that leads there.
std::vector<std::vector<Need>> brought(const TransferPattern& inside) {
  std::vector<std::vector<Need>> needs(inside.members);
  for (std::uint32_t from = 0; from < inside.members; ++from) {
    for (std::uint32_t p = 0; p < inside.ports; ++p) {
      const Port port = inside.port(from, p);
      if (port.to != no_member) needs[port.to].push_back({port.to_port, 1, 0});
    }
  }
  return needs;
}

// One role for each pair of the phases' roles.
std::vector<Role> roles_of(const TransferPattern& inside, const TransferPattern& across) {
  std::vector<std::uint32_t> member_of(inside.roles.size());  // any that has the role
  for (std::uint32_t m = 0; m < inside.members; ++m) member_of[inside.role_of(m)] = m;
  const std::vector<std::vector<Need>> needs = brought(inside);
  std::vector<Role> roles;
  for (const Role& outer : across.roles) {
    for (std::size_t r = 0; r < inside.roles.size(); ++r) {
      Role& role = roles.emplace_back();
      append(role, inside.roles[r], 0, {});
      append(role, outer, inside.ports, needs[member_of[r]]);
    }
  }
  return roles;
}

}  // namespace

TransferPattern hierarchical_exchange_pattern(const CollectiveSpec& spec) {
  SpecCheck(spec, "hierarchical").alike().done();
  const Phases phases = phases_of(spec);
  const TransferPattern inside = all_to_all_pattern(phases.inside);
  const TransferPattern across = all_to_all_pattern(phases.across);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = inside.ports + across.ports;
  pattern.roles = roles_of(inside, across);
  pattern.words = inside.words;
  pattern.words.insert(pattern.words.end(), across.words.begin(), across.words.end());
  const std::uint32_t g = phases.node;
  const auto inner_roles = static_cast<std::uint32_t>(inside.roles.size());
  pattern.role_of = [inside, across, g, inner_roles](std::uint32_t member) {
    return across.role_of(member / g) * inner_roles + inside.role_of(member % g);
  };
  pattern.port = [inside, across, g](std::uint32_t member, std::uint32_t p) {
    const bool first = p < inside.ports;
    Port port = first ? inside.port(member % g, p) : across.port(member / g, p - inside.ports);
    port.to_port = p;
    if (port.to != no_member) port.to = first ? member / g * g + port.to : port.to * g + member % g;
    return port;
  };
  return pattern;
}

double hierarchical_exchange_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  const Phases phases = phases_of(spec);
  const double inside = all_to_all_bound(phases.inside, rates);
  const double across = all_to_all_bound(phases.across, rates);
  const bool rings = std::all_of(spec.shape.begin(), spec.shape.end(),
                                 [](const GroupAxis& axis) { return axis.closed || axis.extent == 1; });
  return rings ? inside + across : std::max(inside, across);
}

}  // namespace stepsim
