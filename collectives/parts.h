// parts.h: how the array is cut so that all axes of a group are busy at once.
//
// A group of M axes gathers along one axis after the other: each stage gathers everything gathered so far. If the
// whole array did so, one axis would be busy at a time. So every shard is cut in M parts, and part p takes the axes
// in cyclic order starting at axis p (all-gather; reduce-scatter takes it reversed): each stage is on another axis
// for every part.
//
//   equal parts     sizes differ by at most a byte. Axes of equal extent are loaded alike; otherwise the busiest one
//                   carries more than the mean: 1.028 times for 16x20x28, 1.19 for 16x16x4.
//   weighted parts  sizes that make the greater of two times least (balance.h): the load of the busiest axis, and the
//                   longest part alone. The first by itself could be made perfect, but a part much larger than 1/M is
//                   a chain of stages that takes longer than the perfect time. 1.010 for 16x20x28, 1.07 for 16x16x4.
//                   Links of all axes count as equally fast; lines cost double, as they do.
//
// The perfect load is the ingress bound V (N-1)/N / (M W) of rings used both ways.
//
// Source: own derivation.
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "collectives/stage.h"

namespace stepsim {

/// What goes through the axes in one order.
struct ArrayPart {
  std::vector<std::uint32_t> order;  // axes as the all-gather goes through them; extents of 1 left out
  Bytes bytes = 0;                   // of each shard, > 0
};

/// Parts that are not empty; their bytes add up to one shard.
std::vector<ArrayPart> cut_in_parts(const CollectiveSpec& spec);

/// One stage of one part: an axis, and the bytes that each member holds (all-gather) or ends with (reduce-scatter).
struct AxisStage {
  CollectivePhase phase = CollectivePhase::all_gather;
  std::uint32_t axis = 0;
  Bytes bundle = 0;
};

/// The stages in the order they are played. All-reduce: reduce-scatter in reversed order, then all-gather.
std::vector<AxisStage> stages(const CollectiveSpec& spec, const ArrayPart& part);

}  // namespace stepsim
