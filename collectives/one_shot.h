// one_shot.h: everyone sends to everyone directly, in one step or two.
//
//   one-shot   all-gather: a member sends its shard to all others; reduce-scatter: shard j of its array to member j;
//              all-reduce: its whole array to all others, and each reduces all N arrays by itself
//   two-shot   all-reduce: reduce-scatter, then all-gather of the reduced shards, each in one step
//
//   V bytes, N members with a link of rate w up to a switch that never blocks, latency l:
//     all-gather, reduce-scatter   l + (N-1) V/N / w
//     all-reduce, one-shot         l + (N-1) V / w          least latency: small arrays
//     all-reduce, two-shot         2 l + 2 (N-1) V/N / w
//
// All transfers of a step start together and share links fairly. A port per distance of ranks: through port d - 1 to
// rank + d. On a torus of rings (all axes closed) a port per displacement instead, first axis outermost, the shorter
// way round on each axis and upward at the antipode; so on a ring of n a shard sent to all loads its busiest links with
// h (h+1) / 2 shards, h = floor(n/2), and takes h hops.
//
// Source: Thakur, Rabenseifner, Gropp 2005, "Optimization of collective communication operations in MPICH" (direct
// exchange); NVIDIA, TensorRT-LLM's all-reduce strategies ONESHOT and TWOSHOT.
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// All-gather, reduce-scatter, all-reduce; InputError for other kinds.
TransferPattern one_shot_pattern(const CollectiveSpec& spec);
/// All-reduce; InputError for other kinds.
TransferPattern two_shot_pattern(const CollectiveSpec& spec);

/// Seconds: exact on one ring and behind one switch; else a lower bound: the busiest links of a torus, or what leaves a
/// member through all its links.
double one_shot_bound(const CollectiveSpec& spec, const AxisRates& rates);
double two_shot_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
