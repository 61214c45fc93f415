// torus.h: collectives on a product of rings and lines; a ring is the case of one axis.
//
// Each part of the array (parts.h) goes through its stages, one per axis and phase, each stage a collective on the
// rings (ring.h) or lines (line.h) along that axis. A member goes on to the next stage as soon as it has all of the
// part's stages so far, whatever others do.
// Cost of a part whose all-gather visits extents n1, n2, ... with b bytes of each shard: stage k moves bundles of
// b n1 .. n(k-1), so a member receives b (N-1) in all.
// One port for each (part, axis, direction), and one lane: parts that meet on a link share it. Weighted parts have one
// lane for each link and take turns.
//
// Source: "How To Scale Your Model", "Sharded matrices" (V / (M W) on M axes); the composition is our own.
#pragma once

#include "collectives/collective.h"
#include "collectives/parts.h"

namespace stepsim {

/// InputError when kind, shape or bytes are not covered.
TransferPattern torus_pattern(const CollectiveSpec& spec);

/// The pattern of any parts that go through as many stages each (torus_role.h says who waits for what). spec: shape,
/// ring style, and weighted_parts for parts that take turns on a link.
TransferPattern pattern_of_parts(const CollectiveSpec& spec, const std::vector<std::vector<AxisStage>>& parts);

/// A lower bound for any M, in seconds: the greater of
///   - the longest part if it had all links to itself: sum over its stages of steps x (latency + bytes /
///   rate);
///   - for each axis, the bytes on its busiest link / rate, and the latency of the last of them.
/// Exact for one axis, and for equal extents and rates with equal parts (they never meet); when parts meet on a link
/// they may end later.
double torus_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
