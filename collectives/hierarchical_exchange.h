// hierarchical_exchange.h: all-to-all in two phases, so that fewer and larger messages leave the node.
//
// A group of N = h x g members, g along the last axis (a node), each sending each other c = V/N^2.
//   1. Inside the node: to each of the others all it has for that one's position in any node: h c each.
//   2. Along the other axes, to the members at the same position (a rail): what the node's g members have for it: g c
//      each, when all of phase 1 has come in.
// Each phase is the direct all-to-all (all_to_all.h) of its axes. A member sends g - 1 messages of h c and h - 1 of g c,
// where the direct way takes (h - 1) g of c out of the node; what crosses between nodes is as much.
// Links of one's own to a switch per axis: (g-1) h c / w_node + latency + (h-1) g c / w_rail + latency.
//
// Source: NCCL 2.12, "PXN" ("Doubling all2all performance with NVIDIA Collective Communication Library 2.12", 2022);
// the law is the sum of two phases of all_to_all.h.
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for ragged sends.
TransferPattern hierarchical_exchange_pattern(const CollectiveSpec& spec);

/// A lower bound in seconds: the sum of both phases' bounds; the greater of them when an axis is a line, where some
/// members end phase 1 early.
double hierarchical_exchange_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
