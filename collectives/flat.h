// flat.h: broadcast, reduce, gather and scatter by the root directly to, or from, every other member at once.
//
//   broadcast, reduce   N-1 transfers of V      links of one's own to a switch: latency + (N-1) V / rate
//   gather, scatter     N-1 transfers of V/N                                     latency + (N-1) V/N / rate
//
// Every transfer has a lane of its own and travels by the cluster's own routes. For gather and scatter no tree is faster
// on large arrays: everything passes the root's link.
//
// Source: Chan, Heimlich, Purkayastha & van de Geijn 2007 ("Collective communication: theory, practice, and experience"),
// lower bounds of scatter and gather.
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for other kinds, or a root that is not a rank.
TransferPattern flat_pattern(const CollectiveSpec& spec);

/// Seconds: exact on a star; elsewhere by the greatest rate and the least latency.
double flat_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
