// line.h: all-gather and reduce-scatter on an open line of n members at positions 0 .. n-1, bundles of b bytes.
//
// All-gather: member i sends up its own bundle and then the i it receives from below, nearest first; down its own and
// the n-1-i from above. The link from i up carries i+1 bundles, the last one n-1.
// Reduce-scatter is the time reverse: member i sends up one partial sum for each of the n-1-i members above, farthest
// first, each after the partial sum for the same member came in from below. The link from i up carries n-1-i bundles,
// the first one n-1.
// Either takes (n-1) (latency + b/w): (n-1)/n V/w for large arrays, about twice a closed ring's V/W. The all-reduce
// takes twice that, although no link carries more than n bundles: the gather starts when the sums are complete.
//
// Source: time reversal of Patarasuk & Yuan 2009; "How To Scale Your Model", "Sharded matrices", quiz 2 (3 hops, V/4).
#pragma once

#include "collectives/stage.h"

namespace stepsim {

/// What the member at `position` does in `phase`. Empty transfers are left out.
AxisFlows line_flows(std::uint32_t n, std::uint32_t position, CollectivePhase phase, Bytes bundle);

/// Seconds of one phase alone on the line, everyone starting at once.
double line_time(std::uint32_t n, Bytes bundle, const LinkCost& link);

}  // namespace stepsim
