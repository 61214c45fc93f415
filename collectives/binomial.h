// binomial.h: broadcast, reduce, gather and scatter along a binomial tree, any number of members, any root.
//
// Relative rank r > 0 hangs below r without its lowest bit; below r stand r + 2^k for all 2^k under that bit (the root: all
// below N). The subtree of r is the ranks r ... r + lowest bit - 1, as far as there are any: a block in a row.
//   broadcast   a member that has the array sends it to those below, one after the other, the largest subtree first
//   scatter     the same, with the block of each subtree: 2^k V/N
//   reduce      a member that has all sums from below adds its own and sends the array up
//   gather      the same, with the block of its own subtree
//
//   N = 2^d, links of one's own to a switch     broadcast, reduce   d (latency + V / rate)
//                                               gather, scatter     d latency + V (N-1)/N / rate
//
// Other N: the latest member by the same rules (binomial.cpp plays the tree), never more.
//
// Source: Thakur, Rabenseifner & Gropp 2005 ("Optimization of collective communication operations in MPICH"); Chan et al.
// 2007.
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for other kinds, or a root that is not a rank.
TransferPattern binomial_pattern(const CollectiveSpec& spec);

/// Seconds: exact on a star; elsewhere by the greatest rate and the least latency.
double binomial_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
