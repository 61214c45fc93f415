#include "topology/torus_shape.h"

#include <algorithm>
#include <functional>

namespace stepsim {

namespace {

constexpr int cube = 4;  // chips along each edge of an optically switched cube

bool whole_cubes(const std::vector<int>& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int extent) { return extent % cube == 0; });
}

bool within_pod(const std::vector<int>& shape, const std::vector<int>& pod) {
  for (std::size_t axis = 0; axis < pod.size(); ++axis) {
    if (shape[axis] > pod[axis]) return false;
  }
  return true;
}

std::string check_by_rule(const ChipSpec& chip, const std::vector<int>& shape) {
  if (chip.wrap == WrapRule::cubes) {
    if (is_cube_shape(shape)) return "";
    return "expected multiples of 4 on every axis, or 1x1x1, 2x2x1, 2x2x2, 2x2x4, 2x4x4 in any orientation";
  }
  if (within_pod(shape, chip.pod)) return "";
  return "expected at most " + shape_text(chip.pod) + " (the pod)";
}

int hosts_of(const std::vector<int>& shape, const std::vector<int>& block) {
  int hosts = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) hosts *= (shape[axis] + block[axis] - 1) / block[axis];
  return hosts;
}

}  // namespace

bool is_cube_shape(const std::vector<int>& shape) {
  if (whole_cubes(shape)) return true;
  static const std::vector<std::vector<int>> smaller{{1, 1, 1}, {1, 2, 2}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}};
  std::vector<int> sorted = shape;
  std::sort(sorted.begin(), sorted.end());
  return std::find(smaller.begin(), smaller.end(), sorted) != smaller.end();
}

std::int64_t chips_of(const std::vector<int>& shape) {
  std::int64_t chips = 1;
  for (const int extent : shape) chips = std::min(chips * extent, max_chips + 1);
  return chips;
}

std::string shape_text(const std::vector<int>& shape) {
  std::string text;
  for (const int extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::vector<Problem> check_shape(const ChipSpec& chip, const std::vector<int>& shape, const std::string& key,
                                 bool what_if) {
  const auto problem = [&](const std::string& expected) {
    return std::vector<Problem>{{{}, key, expected + ", found " + (shape.empty() ? "none" : shape_text(shape))}};
  };
  if (shape.size() != static_cast<std::size_t>(chip.axes)) {
    return problem("expected " + std::to_string(chip.axes) + " extents for " + chip.name);
  }
  if (std::any_of(shape.begin(), shape.end(), [](int extent) { return extent < 1; })) {
    return problem("expected extents of 1 or more");
  }
  const std::int64_t pod = chip.pod.empty() ? max_chips : chips_of(chip.pod);
  if (chips_of(shape) > pod) return problem("expected at most " + std::to_string(pod) + " chips (the pod)");
  const std::string expected = what_if ? "" : check_by_rule(chip, shape);
  return expected.empty() ? std::vector<Problem>{} : problem(expected + " for " + chip.name);
}

std::vector<bool> wraps_by_rule(const ChipSpec& chip, const std::vector<int>& shape) {
  std::vector<bool> wraps(shape.size(), false);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (chip.wrap == WrapRule::cubes) wraps[axis] = whole_cubes(shape);
    if (chip.wrap == WrapRule::full_extent) wraps[axis] = shape[axis] > 1 && shape[axis] == chip.pod[axis];
  }
  return wraps;
}

std::vector<int> host_block(const ChipSpec& chip, const std::vector<int>& shape) {
  std::vector<int> best = chip.host_shape.empty() ? std::vector<int>(shape.size(), 1) : chip.host_shape;
  std::vector<int> block = best;
  std::sort(block.begin(), block.end());
  do {
    if (hosts_of(shape, block) < hosts_of(shape, best)) best = block;
  } while (std::next_permutation(block.begin(), block.end()));
  return best;
}

}  // namespace stepsim
