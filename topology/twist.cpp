#include "topology/twist.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>

namespace stepsim {

namespace {

int round_up_to(int steps, int extent) {
  return (steps % extent + extent) % extent;
}

// Steps along an axis that is not shifted: straight, or the shorter way round; at a ring's antipode both.
std::vector<int> choices_along(const TwistAxis& axis, int steps) {
  if (!axis.wraps) return {steps};
  const int up = round_up_to(steps, axis.extent);
  const int down = up - axis.extent;
  if (up < -down) return {up};
  if (-down < up) return {down};
  return {up, down};
}

// A shortest way goes at most once round a shifted axis, and never past where it began.
std::vector<int> choices_round(const TwistAxis& axis, int steps) {
  const int up = round_up_to(steps, axis.extent);
  if (up == 0) return {0, axis.extent, -axis.extent};
  return {up, up - axis.extent};
}

int hops(const std::vector<int>& steps) {
  int sum = 0;
  for (const int s : steps) sum += std::abs(s);
  return sum;
}

using Ways = std::vector<std::vector<int>>;

// Every combination of one choice per axis.
Ways combined(const std::vector<std::vector<int>>& choices) {
  Ways ways{{}};
  for (const std::vector<int>& of_axis : choices) {
    Ways longer;
    for (const std::vector<int>& way : ways) {
      for (const int steps : of_axis) {
        longer.push_back(way);
        longer.back().push_back(steps);
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

// Ways over a displacement once the steps along the shifted axes are chosen: each time round takes its shift off what
// is left along the others.
Ways ways_for(const std::vector<TwistAxis>& axes, std::vector<int> displacement, const std::vector<int>& shifted) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].shift.empty()) continue;
    const int laps = (shifted[a] - displacement[a]) / axes[a].extent;
    for (std::size_t b = 0; b < axes.size(); ++b) displacement[b] -= laps * axes[a].shift[b];
  }
  std::vector<std::vector<int>> choices;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const bool chosen = !axes[a].shift.empty();
    choices.push_back(chosen ? std::vector<int>{shifted[a]} : choices_along(axes[a], displacement[a]));
  }
  return combined(choices);
}

}  // namespace

std::optional<Twists> twists_of(const std::vector<int>& shape) {
  if (shape.size() != 3) return std::nullopt;
  const auto [least, most] = std::minmax_element(shape.begin(), shape.end());
  const int shorter = *least;
  if (shorter < 2 || *most != 2 * shorter) return std::nullopt;
  std::vector<int> shift;
  for (const int extent : shape) {
    if (extent != shorter && extent != 2 * shorter) return std::nullopt;
    shift.push_back(extent == shorter ? 0 : shorter);
  }
  Twists twists(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == shorter) twists[axis] = shift;
  }
  return twists;
}

std::vector<std::vector<int>> shortest_steps(const std::vector<TwistAxis>& axes, const std::vector<int>& displacement) {
  std::vector<std::vector<int>> choices;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    choices.push_back(axes[a].shift.empty() ? std::vector<int>{0} : choices_round(axes[a], displacement[a]));
  }
  Ways all;
  int least = std::numeric_limits<int>::max();
  for (const std::vector<int>& shifted : combined(choices)) {
    for (std::vector<int>& way : ways_for(axes, displacement, shifted)) {
      least = std::min(least, hops(way));
      all.push_back(std::move(way));
    }
  }
  std::erase_if(all, [&](const std::vector<int>& way) { return hops(way) > least; });
  std::sort(all.begin(), all.end(), std::greater<>());
  return all;
}

bool walk(const std::vector<TwistAxis>& axes, const std::vector<int>& steps, std::vector<int>& place) {
  std::vector<int> to = place;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const int extent = axes[a].extent;
    to[a] += steps[a];
    if (axes[a].shift.empty()) continue;
    const int there = place[a] + steps[a];
    const int laps = (there - round_up_to(there, extent)) / extent;
    for (std::size_t b = 0; b < axes.size(); ++b) to[b] += laps * axes[a].shift[b];
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].wraps) to[a] = round_up_to(to[a], axes[a].extent);
    if (to[a] < 0 || to[a] >= axes[a].extent) return false;
  }
  place = std::move(to);
  return true;
}

}  // namespace stepsim
