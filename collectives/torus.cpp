#include "collectives/torus.h"

#include <array>
#include <string>

#include "collectives/parts.h"
#include "collectives/port_numbers.h"
#include "collectives/refusal.h"
#include "collectives/torus_role.h"

namespace stepsim {

namespace {

constexpr std::array<int, 2> directions{+1, -1};  // index 0 up, 1 down

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "torus")
      .kinds({CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
      .bytes()
      .done();
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

// The positions that a role stands for; 0 on closed axes, where they do not matter.
std::vector<std::uint32_t> position_of_role(const std::vector<GroupAxis>& shape, std::uint32_t role) {
  std::vector<std::uint32_t> position(shape.size(), 0);
  for (std::size_t a = shape.size(); a-- > 0;) {
    if (shape[a].closed) continue;
    position[a] = role % static_cast<std::uint32_t>(shape[a].extent);
    role /= static_cast<std::uint32_t>(shape[a].extent);
  }
  return position;
}

std::uint32_t count_roles(const std::vector<GroupAxis>& shape) {
  std::uint32_t roles = 1;
  for (const GroupAxis& axis : shape) roles *= axis.closed ? 1 : static_cast<std::uint32_t>(axis.extent);
  return roles;
}

// The axis and direction of each port.
std::vector<Port> directions_of_ports(const CollectiveSpec& spec, const PortNumbers& ports, std::uint32_t count) {
  std::vector<Port> all(count);
  for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
    for (std::uint32_t d = 0; d < ports.of_axis(a); ++d) {
      for (std::uint32_t q = ports.at(0, a, d); q < count; q += ports.per_part()) {
        all[q] = {no_member, q, static_cast<std::int32_t>(a), directions[d]};
      }
    }
  }
  return all;
}

}  // namespace

TransferPattern torus_pattern(const CollectiveSpec& spec) {
  validate(spec);
  std::vector<std::vector<AxisStage>> parts;
  for (const ArrayPart& part : cut_in_parts(spec)) parts.push_back(stages(spec, part));
  return pattern_of_parts(spec, parts);
}

TransferPattern pattern_of_parts(const CollectiveSpec& spec, const std::vector<std::vector<AxisStage>>& parts) {
  const PortNumbers ports(spec);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = static_cast<std::uint32_t>(parts.size()) * ports.per_part();
  for (std::uint32_t role = 0; role < count_roles(spec.shape); ++role) {
    pattern.roles.push_back(torus_role(spec, ports, parts, position_of_role(spec.shape, role)));
  }
  pattern.role_of = [shape = spec.shape](std::uint32_t member) {
    return role_number(shape, position_of(shape, member));
  };
  pattern.port = [shape = spec.shape, used = ports_in_use(pattern),
                  all = directions_of_ports(spec, ports, pattern.ports)](std::uint32_t member, std::uint32_t p) {
    Port port = all[p];
    const std::vector<std::uint32_t> position = position_of(shape, member);
    const auto axis = static_cast<std::uint32_t>(port.axis);
    if (used[role_number(shape, position)][p]) {
      port.to = neighbour(shape, member, position[axis], axis, port.direction);
    }
    return port;
  };
  return pattern;
}

}  // namespace stepsim
