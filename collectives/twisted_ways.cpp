#include "collectives/twisted_ways.h"

#include <algorithm>

#include "sim/transfer_plan.h"
#include "topology/twist.h"

namespace stepsim {

namespace {

std::vector<TwistAxis> twist_axes(const std::vector<GroupAxis>& shape) {
  std::vector<TwistAxis> axes;
  for (const GroupAxis& axis : shape) axes.push_back({axis.extent, is_round(axis), axis.shift});
  return axes;
}

// The next displacement, the last axis fastest; false after the last. Round axes go from 0 up, open ones both ways.
bool next(const std::vector<GroupAxis>& shape, std::vector<int>& displacement) {
  for (std::size_t a = shape.size(); a-- > 0;) {
    if (++displacement[a] < shape[a].extent) return true;
    displacement[a] = is_round(shape[a]) ? 0 : 1 - shape[a].extent;
  }
  return false;
}

}  // namespace

bool is_twisted(const std::vector<GroupAxis>& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const GroupAxis& axis) { return !axis.shift.empty(); });
}

bool is_round(const GroupAxis& axis) {
  return axis.closed || !axis.shift.empty();
}

std::vector<TwistedWay> twisted_ways(const std::vector<GroupAxis>& shape) {
  const std::vector<TwistAxis> axes = twist_axes(shape);
  std::vector<int> displacement;
  for (const GroupAxis& axis : shape) displacement.push_back(is_round(axis) ? 0 : 1 - axis.extent);
  std::vector<TwistedWay> all;
  do {
    if (std::all_of(displacement.begin(), displacement.end(), [](int d) { return d == 0; })) continue;
    std::vector<std::vector<int>> ways = shortest_steps(axes, displacement);
    for (std::uint32_t number = 0; number < ways.size(); ++number) {
      all.push_back({std::move(ways[number]), number, static_cast<std::uint32_t>(ways.size())});
    }
  } while (next(shape, displacement));
  return all;
}

std::uint32_t end_of(const std::vector<GroupAxis>& shape, std::uint32_t member, const std::vector<int>& steps) {
  std::vector<int> place(shape.size());
  for (std::size_t a = shape.size(); a-- > 0;) {
    place[a] = static_cast<int>(member % static_cast<std::uint32_t>(shape[a].extent));
    member /= static_cast<std::uint32_t>(shape[a].extent);
  }
  if (!walk(twist_axes(shape), steps, place)) return no_member;
  std::uint32_t to = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    to = to * static_cast<std::uint32_t>(shape[a].extent) + static_cast<std::uint32_t>(place[a]);
  }
  return to;
}

}  // namespace stepsim
