// dissemination.h: a barrier in ceil(log2 N) rounds of empty transfers, any N.
//
// In round k member m tells (m + 2^k) mod N, as soon as it has heard in all rounds before; after the last round everyone
// has heard, through others, of everyone.
//
//   time   rounds x latency
//
// Source: Hensgen, Finkel & Manber 1988 ("Two algorithms for barrier synchronization").
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// One role. InputError for other kinds.
TransferPattern dissemination_pattern(const CollectiveSpec& spec);

/// Seconds: exact where all ways have one latency; elsewhere by the least.
double dissemination_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
