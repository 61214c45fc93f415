#include "topology/mesh.h"

#include <algorithm>
#include <utility>

#include "topology/groups.h"
#include "topology/mesh_check.h"

namespace stepsim {

Mesh::Mesh(const Cluster& cluster, std::vector<MeshAxis> axes, Placement placement)
    : axes_(std::move(axes)), placement_(std::move(placement)) {
  check_mesh(cluster, axes_);
  check_placement(cluster, axes_, placement_);
  hardware_ = cluster.axes();
}

namespace {

/// Digits by hardware axis, in the order in which the axes first appear, outer digits first.
void sort_digits(std::vector<GroupAxis>& digits) {
  std::vector<int> seen;
  for (const GroupAxis& digit : digits) {
    if (std::find(seen.begin(), seen.end(), digit.hardware_axis) == seen.end()) seen.push_back(digit.hardware_axis);
  }
  const auto place = [&](const GroupAxis& digit) {
    return std::find(seen.begin(), seen.end(), digit.hardware_axis) - seen.begin();
  };
  std::stable_sort(digits.begin(), digits.end(), [&](const GroupAxis& a, const GroupAxis& b) {
    return std::pair(place(a), -a.hops) < std::pair(place(b), -b.hops);
  });
}

/// Twisted axes of which the group has the whole, and the whole of what they lead along.
void note_twists(const std::vector<HardwareAxis>& hardware, std::vector<GroupAxis>& shape) {
  const auto of = [&](std::size_t axis) {
    return std::find_if(shape.begin(), shape.end(), [&](const GroupAxis& one) {
      return one.hardware_axis == static_cast<int>(axis) && one.extent == hardware[axis].extent;
    });
  };
  for (GroupAxis& axis : shape) {
    const HardwareAxis& own = hardware[static_cast<std::size_t>(axis.hardware_axis)];
    if (own.twist.empty() || axis.extent != own.extent) continue;
    std::vector<int> shift(shape.size(), 0);
    bool inside = true;
    for (std::size_t other = 0; other < hardware.size(); ++other) {
      if (own.twist[other] == 0) continue;
      const auto along = of(other);
      inside = inside && along != shape.end();
      if (inside) shift[static_cast<std::size_t>(along - shape.begin())] = own.twist[other];
    }
    if (inside) axis.shift = std::move(shift);
  }
}

}  // namespace

std::vector<GroupAxis> Mesh::group_shape(const std::vector<int>& mesh_axes) const {
  std::vector<GroupAxis> digits;
  for (const int mesh_axis : mesh_axes) {
    for (const AxisDigit& digit : placement_.digits.at(static_cast<std::size_t>(mesh_axis))) {
      if (digit.extent > 1) digits.push_back({digit.hardware_axis, digit.extent, digit.stride, false});
    }
  }
  sort_digits(digits);
  std::vector<GroupAxis> shape;
  for (const GroupAxis& digit : digits) {
    const bool adjacent = !shape.empty() && shape.back().hardware_axis == digit.hardware_axis &&
                          shape.back().hops == digit.hops * digit.extent;
    if (adjacent) {
      shape.back() = {digit.hardware_axis, shape.back().extent * digit.extent, digit.hops, false};
    } else {
      shape.push_back(digit);
    }
  }
  for (GroupAxis& axis : shape) {
    const HardwareAxis& hardware = hardware_[static_cast<std::size_t>(axis.hardware_axis)];
    axis.direct = hardware.direct;
    axis.closed = hardware.wraps && hardware.twist.empty() && axis.extent * axis.hops == hardware.extent;
  }
  note_twists(hardware_, shape);
  return shape;
}

Mesh::Groups Mesh::groups(const std::vector<int>& mesh_axes) const {
  const stepsim::Groups implicit(hardware_, group_shape(mesh_axes));
  std::uint32_t chips = 1;
  for (const HardwareAxis& axis : hardware_) chips *= static_cast<std::uint32_t>(axis.extent);
  Groups groups;
  groups.members = implicit.members();
  std::vector<std::uint32_t> group_led_by(chips);  // by the member of rank 0, which has the lowest chip id
  std::uint32_t known = 0;
  for (ChipId chip = 0; chip < chips; ++chip) {
    const ChipId leader = implicit.member(chip, 0);
    if (leader == chip) group_led_by[chip] = known++;
    groups.group_of.push_back(group_led_by[leader]);
    groups.rank_of.push_back(implicit.rank_of(chip));
  }
  return groups;
}

std::string Mesh::describe(int mesh_axis) const {
  std::string text;
  for (const GroupAxis& axis : group_shape({mesh_axis})) {
    const HardwareAxis& hardware = hardware_[static_cast<std::size_t>(axis.hardware_axis)];
    const std::string form = axis.closed ? "ring" : "line";
    text += (text.empty() ? "" : ", ") + hardware.name;
    if (axis.extent == hardware.extent) {
      text += " (" + form + " of " + std::to_string(axis.extent) + ")";
      continue;
    }
    text += "[" + std::to_string(axis.extent) + " of " + std::to_string(hardware.extent);
    if (axis.hops > 1) text += ", stride " + std::to_string(axis.hops);
    text += "] (" + form + ")";
  }
  return text.empty() ? "one chip" : text;
}

}  // namespace stepsim
