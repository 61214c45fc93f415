// rank_ring.h: rings over ranks, as NCCL lays them: `channels` rings at once, each with its share of the array.
//
// Law on one channel, n members, V bytes, latency a and rate w of the slowest hop:
//   all-gather, reduce-scatter (n-1) (a + V/n / w); all-reduce twice that; each link of the ring carries V (n-1)/n per phase
//   broadcast, reduce: a pipelined chain in ring order, P pieces: (n-2 + P) pieces, (n-1) a + (n-2 + P) V/P / w
// Several channels on the same links share them, so time is that of one; on links of their own they add up.
//
// Order of a ring: as given (spec.rings), else by rank, node after node. Channel c enters an even node at local rank c (with
// fewer channels than ranks, evenly apart) and walks up to c - 1, enters an odd one there and walks down to c: between nodes
// it stays on one rail. That needs an even number of nodes; of an odd number the closing hop changes rails.
//
// Chains pass on pieces of `chunk` bytes; on a ring the shard of a channel is the piece.
// Source: Patarasuk & Yuan 2009 (bandwidth optimal rings); NCCL 2.x, channels and alternating rings (CROSS_NIC).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

TransferPattern rank_ring_pattern(const CollectiveSpec& spec);

/// Each step alone at the greatest rate; and what leaves every block of ranks over its links. Exact on one axis. Rates one way.
double rank_ring_bound(const CollectiveSpec& spec, const AxisRates& rates);

/// Ranks in the order in which channel `channel` visits them.
std::vector<std::uint32_t> ring_order(const CollectiveSpec& spec, std::uint32_t channel);

}  // namespace stepsim
