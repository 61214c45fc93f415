// torus_shape.h: which extents a slice may have, which of its axes wrap, and how hosts tile it.
//
// Optically switched generations (v4, v5p, 7x) are made of cubes of 4x4x4 chips. Slices of whole cubes wrap on every
// axis; smaller ones are 1x1x1, 2x2x1, 2x2x2, 2x2x4 or 2x4x4 in any orientation and wrap on none. The switches join
// any cubes, so a slice of whole cubes may be longer than the pod's own extent (v5p 16x16x32 in a pod of 16x20x28):
// only the number of chips counts.
// Others (v3, v5e, v6e) are a piece of one torus: an axis wraps only at the pod's full extent.
// Sources: Cloud TPU docs (v4, v5e, v5p, v6e, TPU7x); "How To Scale Your Model", chapter 2.
#pragma once

#include <string>
#include <vector>

#include "sim/input_error.h"
#include "topology/cluster.h"

namespace stepsim {

/// Extents with at most this many chips are built at all (limits memory, not physics).
inline constexpr std::int64_t max_chips = 1 << 20;

/// Everything wrong with a slice of these extents, under `key`. what_if: extents need only be within the pod's chips.
std::vector<Problem> check_shape(const ChipSpec& chip, const std::vector<int>& shape, const std::string& key,
                                 bool what_if);

/// Which axes wrap by the chip's rule. Axes of extent 1 never do.
std::vector<bool> wraps_by_rule(const ChipSpec& chip, const std::vector<int>& shape);

/// Chips of one host along each axis, turned so that the fewest hosts cover the slice (v5e's 4x2 covers 2x4 alone).
std::vector<int> host_block(const ChipSpec& chip, const std::vector<int>& shape);

/// Whole cubes, or one of the shapes below a cube.
bool is_cube_shape(const std::vector<int>& shape);

/// Product of extents; max_chips + 1 when larger than max_chips.
std::int64_t chips_of(const std::vector<int>& shape);

/// "16x16x32"
std::string shape_text(const std::vector<int>& shape);

}  // namespace stepsim
