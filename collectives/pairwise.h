// pairwise.h: all-to-all by rank: every member sends every other its part, all at once, over any network.
//
// Lane d - 1 of member m goes to member (m + d) mod N, d = 1 ... N-1, so that at every distance all members send and all
// receive; transfers share links fairly and travel by the cluster's own routes. Uniform: V / N^2 for each pair. Ragged:
// `sends[from * N + to]` bytes, pairs of 0 bytes send nothing; what a member keeps is never sent.
//
//   links of one's own to a switch   latency + the most that any member sends or receives / rate     exact when uniform
//
// Source: MPI_Alltoallv's linear exchange (all requests posted at once); the least time is the busiest port's: Bruck et
// al. 1997.
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for other kinds, and when `sends` is not N x N numbers of 0 or more.
TransferPattern pairwise_pattern(const CollectiveSpec& spec);

/// The most that goes out of, or into, any one member.
double busiest_member(const CollectiveSpec& spec);

/// A lower bound in seconds, by the greatest rate and the least latency; exact on a star when uniform.
double pairwise_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
