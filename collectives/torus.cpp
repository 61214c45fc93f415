#include "collectives/torus.h"

#include <array>
#include <string>

#include "collectives/parts.h"
#include "collectives/port_numbers.h"
#include "collectives/torus_role.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

constexpr std::array<int, 2> directions{+1, -1};  // index 0 up, 1 down

void validate(const CollectiveSpec& spec) {
  if (spec.kind == CollectiveKind::point_to_point)
    throw InputError("collectives.algorithm", "'torus' does not do point-to-point (use 'point-to-point')");
  if (spec.bytes < 0) throw InputError("collectives.bytes", "expected 0 or more, found " + std::to_string(spec.bytes));
}

// Ranks are row-major over the shape.
std::vector<std::uint32_t> position_of(const std::vector<GroupAxis>& shape, std::uint32_t member) {
  std::vector<std::uint32_t> position(shape.size());
  for (std::size_t a = shape.size(); a-- > 0;) {
    position[a] = member % static_cast<std::uint32_t>(shape[a].extent);
    member /= static_cast<std::uint32_t>(shape[a].extent);
  }
  return position;
}

// Members of a ring are alike; those of a line differ by position: roles count row-major over the lines' positions.
std::uint32_t role_number(const std::vector<GroupAxis>& shape, const std::vector<std::uint32_t>& position) {
  std::uint32_t number = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!shape[a].closed) number = number * static_cast<std::uint32_t>(shape[a].extent) + position[a];
  }
  return number;
}

// The member one step along the axis, round the ring if it is closed.
std::uint32_t neighbour(const std::vector<GroupAxis>& shape, std::uint32_t member, std::uint32_t position,
                        std::uint32_t axis, int direction) {
  std::uint32_t stride = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) stride *= static_cast<std::uint32_t>(shape[a].extent);
  const auto n = static_cast<std::uint32_t>(shape[axis].extent);
  const std::uint32_t there = (position + (direction > 0 ? 1 : n - 1)) % n;
  return member - position * stride + there * stride;
}

// Ports that the member's role never uses lead back to itself.
void write_ports(TransferPlan& plan, const CollectiveSpec& spec, const PortNumbers& ports, std::uint32_t member,
                 const std::vector<std::uint32_t>& position, const std::vector<bool>& used) {
  Port* row = plan.port.data() + std::size_t{member} * plan.ports;
  for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
    for (std::uint32_t d = 0; d < ports.of_axis(a); ++d) {
      const std::uint32_t to = neighbour(spec.shape, member, position[a], a, directions[d]);
      for (std::uint32_t q = ports.at(0, a, d); q < plan.ports; q += ports.per_part()) {
        row[q] = {used[q] ? to : member, q, static_cast<std::int32_t>(a), directions[d]};
      }
    }
  }
}

// Does the member send anything through the port?
std::vector<bool> ports_in_use(const Role& role, std::uint32_t ports) {
  std::vector<bool> used(ports, false);
  for (const Run& run : role.runs) used[run.port] = true;
  return used;
}

}  // namespace

TransferPlan torus_plan(const CollectiveSpec& spec) {
  validate(spec);
  const PortNumbers ports(spec);
  std::vector<std::vector<AxisStage>> parts;
  for (const ArrayPart& part : cut_in_parts(spec)) parts.push_back(stages(spec, part));

  TransferPlan plan;
  plan.members = members(spec.shape);
  plan.ports = static_cast<std::uint32_t>(parts.size()) * ports.per_part();
  plan.role_of.resize(plan.members);
  plan.port.resize(std::size_t{plan.members} * plan.ports);
  std::vector<std::vector<bool>> used;  // per role
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    const std::vector<std::uint32_t> position = position_of(spec.shape, m);
    const std::uint32_t role = role_number(spec.shape, position);
    // Positions along lines come in ascending order, so a new role is always the next.
    if (role == plan.roles.size()) {
      plan.roles.push_back(torus_role(spec, ports, parts, position));
      used.push_back(ports_in_use(plan.roles.back(), plan.ports));
    }
    plan.role_of[m] = role;
    write_ports(plan, spec, ports, m, position, used[role]);
  }
  return plan;
}

}  // namespace stepsim
