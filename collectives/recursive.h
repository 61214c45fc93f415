// recursive.h: members exchange with the partner at distance 1, 2, 4, ... and so are done in log2 N steps.
//
//   recursive-doubling   all-gather: swap all one has, distance 1, 2, 4, ...: blocks double
//                        all-reduce: swap the whole array, distance 1, 2, 4, ...
//   recursive-halving    reduce-scatter: send the half that the partner's side is to have, distance N/2, N/4, ..., 1
//                        all-reduce: halve the array at distance 1, 2, ..., N/2, then double it back in reverse order
//                        (Rabenseifner: the most bytes go to the nearest)
//
//   V bytes, N = 2^k members with a link of rate w up to a switch that never blocks, latency l:
//     all-gather, reduce-scatter    k l + (N-1) V/N / w
//     all-reduce, doubling          k (l + V / w)
//     all-reduce, halving           2k l + 2 (N-1) V/N / w
//
// Any N: with m = 2^k the greatest power of two up to N and r = N - m, the even ranks below 2r are extra. Each first
// gives what it has to the odd rank above it, the other m do the steps, and the extra gets the result back: the whole
// array (all-reduce), the N-1 shards it lacks (all-gather), its own shard (reduce-scatter, to which it gives its whole
// array). A member's steps are one lane; a step waits for all that came in before. Shards are padded to V/N, halves of
// the array in all-reduce to V/m.
//
// Source: Rabenseifner 2004, "Optimization of collective reduction operations"; Thakur, Rabenseifner, Gropp 2005,
// "Optimization of collective communication operations in MPICH".
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// All-gather and all-reduce; InputError for other kinds.
TransferPattern recursive_doubling_pattern(const CollectiveSpec& spec);
/// Reduce-scatter and all-reduce; InputError for other kinds.
TransferPattern recursive_halving_pattern(const CollectiveSpec& spec);

/// Seconds: each transfer as if alone on its links. Exact for a power of two behind one switch; else a lower bound.
double recursive_doubling_bound(const CollectiveSpec& spec, const AxisRates& rates);
double recursive_halving_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
