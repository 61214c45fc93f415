// hierarchical.h: inside the node first, then across nodes: the axes of a group one after the other, innermost first.
//
// Reduce-scatter goes along the last axis (the members of a node, of a slice), then along the one before it (rails,
// the network between slices), and so on outward; every axis leaves its members 1/n of what they had, so that the outer,
// slower ones carry least. All-gather is its time reverse, outermost first; all-reduce is the one and then the other.
// The array is cut in P pieces of `chunk` bytes (0: P = 1; at most 64) that pass through the stages one behind the
// other: node, rails and spine are busy at once. On a link the pieces take turns, earlier stages first.
//
// With t_a the time of a piece's stage on axis a (ring.h, line.h), and the slowest axis s:
//   one piece                    sum of t_a                            all-reduce: twice that
//   P pieces, reduce-scatter     sum of t_a + (P-1) t_s                all-gather the same
// less the latency between pieces: a link is free for the next one when the last transfer of a stage has drained.
// All-reduce on two axes, outer one the slower: 2 t_inner + 2 P t_outer.
//
// Source: Cho et al. 2019 ("BlueConnect: decomposing all-reduce", MLSys); Jia et al. 2018 (hierarchical all-reduce). The
// time of the pipeline is that of a flow shop of equal jobs.
//
// All-to-all takes two phases (hierarchical_exchange.h).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError when kind, shape, bytes or chunk are not covered.
TransferPattern hierarchical_pattern(const CollectiveSpec& spec);

/// A lower bound in seconds: the largest piece alone; and for each axis its stages of all pieces in turn, between the
/// stages before and after it (rings). Exact for one piece on rings; on two for a reduce-scatter or all-gather.
double hierarchical_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
