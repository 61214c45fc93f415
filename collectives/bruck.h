// bruck.h: all-gather and uniform all-to-all in ceil(log2 N) steps, for any number of members.
//
// All-gather: in step k a member sends the first min(2^k, N - 2^k) of the shards it has, its own first, to rank - 2^k,
// so that it then has those of 2^(k+1) ranks in a row. All-to-all: a block that has j ranks to go (j = 1 ... N-1) travels
// 2^k in step k if bit k of j is set; all blocks that travel in a step go in one transfer.
//
//   V bytes, N members with a link of rate w up to a switch that never blocks, latency l, k = ceil(log2 N) steps:
//     all-gather    k l + (N-1) V/N / w
//     all-to-all    k l + (number of bits set in 1 ... N-1) V/N^2 / w        N = 2^k: k (l + V/2N / w)
//
// A member's steps are one lane, and a step waits for those before it: blocks are combined anew in each. The copies in
// memory before and after are not counted. Least latency for small arrays; large ones move k/2 times as much as need be
// in the all-to-all. On one ring a step is a move along it, the shorter way round.
//
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby 1997, "Efficient algorithms for all-to-all communications in multiport
// message-passing systems" (one port).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for other kinds and for a ragged all-to-all.
TransferPattern bruck_pattern(const CollectiveSpec& spec);

/// Seconds: exact behind a switch, else a lower bound: every step as if alone on its links.
double bruck_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
