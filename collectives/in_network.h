// in_network.h: switches that add and copy: NVLink SHARP (NVLS) inside a node, SHARP in an InfiniBand tree.
//
// Every member owns a shard. It pulls the sum of its shard out of the network: one transfer that all other members send
// into and the network adds up on the way (a tree of links, each crossed once). It multicasts a shard likewise: one
// transfer that the network copies to all. Pieces of `chunk` bytes let the two overlap.
// Law on a switch, n members, V bytes, w into and w out of it:
//   reduce-scatter, all-gather: each member's link carries V (n-1)/n: V (n-1)/n / w
//   all-reduce: each member's link up carries its part of n - 1 sums and its own multicast, V (n-1)/n + V/n = V: V/w,
//   the same down, against 2 V (n-1)/n / w of a ring: half of that as n grows
//   broadcast, reduce: V/w
// Before the first pull and after the last multicast everyone tells everyone (empty transfers), as the kernels do.
// Sources: NVIDIA NCCL 2.17 (NVLS); Graham et al. 2016 (SHARP); "How To Scale Your Model", chapter 12 (ideal V/w).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

TransferPattern in_network_pattern(const CollectiveSpec& spec);

/// What the links of one member carry, all axes together, between two latencies.
double in_network_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
