// ring.h: all-gather and reduce-scatter on a closed ring of n members, bundles of b bytes.
//
// All-gather: each member sends its own bundle, then passes on what it received last. Reduce-scatter is its time
// reverse: each member sends its part of the sum for the farthest member, then adds its own to what it received and
// passes that on. Either way transfer i waits for delivery i, and the same numbers hold:
//
//   style          up           down                each    time
//   one_way        n-1          0                   b       (n-1) (latency + b/w)
//   halves         n-1          n-1                 b/2     (n-1) (latency + b/2w)
//   whole_shards   floor(n/2)   floor((n-1)/2)      b       floor(n/2) (latency + b/w)
//
// Halves load every link with (n-1)/n of half the array, the least possible. Whole shards on even n take n b / 2w =
// V/W (W = 2w), the figure of "How To Scale Your Model"; the last step uses one direction only.
//
// Source: Patarasuk & Yuan 2009 (bandwidth optimal ring); "How To Scale Your Model", "Sharded matrices".
#pragma once

#include "collectives/collective.h"
#include "collectives/stage.h"

namespace stepsim {

/// The same for every member and either phase. The up half is the larger by at most a byte; empty transfers are left
/// out. n >= 1.
AxisFlows ring_flows(std::uint32_t n, RingStyle style, Bytes bundle);

/// Seconds of one phase alone on the ring, everyone starting at once.
double ring_time(std::uint32_t n, RingStyle style, Bytes bundle, const LinkCost& link);

/// Can the gather of an all-reduce go on in each direction by itself? Whole shards cannot: a sum is complete only
/// when both directions brought their share.
bool gathers_per_direction(RingStyle style);

}  // namespace stepsim
