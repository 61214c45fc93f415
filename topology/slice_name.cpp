// slice_name.cpp: names of TPU slices, as gcloud and MaxText write them.
//
// PREFIX-COUNT counts TensorCores for v3, v4, v5p and tpu7x (two per chip), chips for v5e and v6e; PREFIX-AxBxC is a
// shape. A count stands for the shape nearest to a cube (of the cubes that make it up) or to a square: v5p-4096 is
// 2048 chips = 32 cubes = 2x4x4 cubes = 8x16x16. Sources: Cloud TPU docs, "types and topologies"; the table of
// MaxText (accelerator_to_spec_map.py), whose every entry follows this rule.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "topology/torus_shape.h"

namespace stepsim {

namespace {

using Shape = std::vector<int>;

std::optional<int> to_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::optional<Shape> to_shape(const std::string& text) {
  Shape shape;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('x', from), text.size());
    const std::optional<int> extent = to_number(std::string_view(text).substr(from, to - from));
    if (!extent) return std::nullopt;
    shape.push_back(*extent);
    from = to + 1;
  }
  return shape;
}

// Sorted extents whose product is `cubes` and whose sum is least: nearest to a cube.
Shape most_cubic(int cubes) {
  Shape best;
  for (int a = 1; a * a * a <= cubes; ++a) {
    for (int b = a; cubes % a == 0 && a * b * b <= cubes; ++b) {
      if (cubes / a % b != 0) continue;
      const Shape shape{a, b, cubes / a / b};
      const auto sum = [](const Shape& s) { return std::accumulate(s.begin(), s.end(), 0); };
      if (best.empty() || sum(shape) < sum(best)) best = shape;
    }
  }
  return best;
}

// Only these generations offer a single chip by name; elsewhere the smallest slice is four chips.
bool offers_one_chip(const std::string& prefix) {
  return prefix == "v5e" || prefix == "v6e" || prefix == "tpu7x";
}

std::vector<Shape> cube_slices(const ChipSpec& chip) {
  std::vector<Shape> slices{{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}};
  for (int cubes = 1; cubes <= chips_of(chip.pod) / 64; ++cubes) {
    Shape shape = most_cubic(cubes);
    for (int& extent : shape) extent *= 4;
    slices.push_back(shape);
  }
  return slices;
}

// 2x2, 2x4, 4x4, ... up to the pod.
std::vector<Shape> square_slices(const ChipSpec& chip) {
  std::vector<Shape> slices;
  for (Shape shape{2, 2}; shape[0] <= chip.pod[0] && shape[1] <= chip.pod[1];) {
    slices.push_back(shape);
    (shape[0] == shape[1] ? shape[1] : shape[0]) *= 2;
  }
  return slices;
}

// Every slice that has a name by count, in order of chips.
std::vector<Shape> named_slices(const ChipSpec& chip) {
  std::vector<Shape> slices = chip.wrap == WrapRule::cubes ? cube_slices(chip) : square_slices(chip);
  if (offers_one_chip(chip.slice_prefix)) slices.insert(slices.begin(), Shape(slices.front().size(), 1));
  return slices;
}

int name_count(const ChipSpec& chip, const Shape& shape) {
  return static_cast<int>(chips_of(shape)) * (chip.slice_name_counts_cores ? chip.cores : 1);
}

[[noreturn]] void fail_count(const ChipSpec& chip, int count, const std::vector<Shape>& slices,
                             const std::string& key) {
  const auto name = [&](const Shape& shape) {
    return chip.slice_prefix + "-" + std::to_string(name_count(chip, shape)) + " (" + shape_text(shape) + ")";
  };
  const auto above =
      std::find_if(slices.begin(), slices.end(), [&](const Shape& shape) { return name_count(chip, shape) > count; });
  std::string nearest;
  if (above != slices.begin()) nearest = name(*(above - 1));
  if (above != slices.end()) nearest += (nearest.empty() ? "" : " and ") + name(*above);
  throw InputError(key, "no slice of " + std::to_string(count) +
                            (chip.slice_name_counts_cores ? " TensorCores" : " chips") + " of " + chip.name +
                            "; nearest: " + nearest);
}

Shape shape_of_count(const ChipSpec& chip, int count, const std::string& key) {
  const std::vector<Shape> slices = named_slices(chip);
  const auto found =
      std::find_if(slices.begin(), slices.end(), [&](const Shape& shape) { return name_count(chip, shape) == count; });
  if (found == slices.end()) fail_count(chip, count, slices, key);
  return *found;
}

// gcloud writes v5e as v5litepod.
bool prefix_matches(const std::string& prefix, const ChipSpec& chip) {
  return prefix == chip.slice_prefix || (prefix == "v5litepod" && chip.slice_prefix == "v5e");
}

}  // namespace

std::vector<int> slice_shape(const std::string& slice, const ChipSpec& chip, const std::string& key) {
  const std::size_t axes = chip.wrap == WrapRule::cubes ? 3 : 2;
  if (chip.slice_prefix.empty() || chip.wrap == WrapRule::none || chip.pod.size() != axes) {
    throw InputError(key, chip.name + " has no slices");
  }
  const std::string forms = chip.slice_prefix + "-COUNT (of " +
                            (chip.slice_name_counts_cores ? "TensorCores" : "chips") + ") or " + chip.slice_prefix +
                            "-" + shape_text(Shape(chip.pod.size(), 4));
  const std::size_t dash = slice.rfind('-');
  if (dash == std::string::npos || !prefix_matches(slice.substr(0, dash), chip)) {
    throw InputError(key, "expected a slice of " + chip.name + " (" + forms + "), found '" + slice + "'");
  }
  const std::string size = slice.substr(dash + 1);
  if (const std::optional<int> count = to_number(size)) return shape_of_count(chip, *count, key);
  const std::optional<Shape> shape = to_shape(size);
  if (!shape) throw InputError(key, "expected " + forms + ", found '" + slice + "'");
  const std::vector<Problem> problems = check_shape(chip, *shape, key, false);
  if (!problems.empty()) throw InputError(problems);
  return *shape;
}

}  // namespace stepsim
