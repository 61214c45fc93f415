// point_to_point.h: one member (root) sends the whole array to another (to) by the cluster's own routes. The others of
// the group do not issue it.
//
// One transfer: latency of the route + V / rate (cut-through: the latencies of the hops add up, the streaming is not
// repeated per hop). Eager: it does not wait for the receiver to arrive, as a send into a buffer does; with a rendezvous it
// does.
//
// Source: "How To Scale Your Model", "TPU networking" (hops are pipelined).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// The shape may be left empty (two members), else it holds both ranks. InputError otherwise.
TransferPattern point_to_point_pattern(const CollectiveSpec& spec);

/// Seconds; rates hold one entry, of the whole route.
double point_to_point_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
