// in_network_rails.h: all-reduce by switches that add and copy, in nodes and between them: NVLS in each node, SHARP on each rail.
//
// A group of h nodes of g members, g along the last axis; a rail is the members at one position. Position i owns a g-th of
// the array, of which each of its h members leads an h-th. Piece by piece:
//   1. every member pulls its position's part, summed by the switch of its node                  V/g, g-1 send into it
//   2. on each rail the network adds up what its members have and copies the sum to all of them: one transfer for each
//      leader's h-th, over the tree of links from all of them up to the switch above and back down V/g in all
//   3. every member multicasts its position's part in its node                                     V/g
// Law, w_in into the node's switch, w_out into the rail: links in the node carry V each way, those of the rail V/g each
// way: max(V / w_in, V / (g w_out)); a ring takes 2 V (N-1)/N / (g w_out), about twice as much where the rails decide.
// With P pieces q = V / (g P), the rail the slower: P q / w_out + 2 (g-1) q / w_in.
// Members tell each other in empty transfers when a piece is there (rail) or they have come and are done (node).
// Sources: Graham et al. 2016 (SHARP: trees of aggregating switches); NVIDIA NCCL 2.17 to 2.19 (NVLS, and with SHARP between
// nodes); NVIDIA DGX SuperPOD reference architecture (rails).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// InputError for other kinds, fewer than two axes of several members, and axes without a switch.
TransferPattern in_network_rails_pattern(const CollectiveSpec& spec);

/// A lower bound in seconds: the busier of a member's links in the node and on the rail, and the way in, across and out.
double in_network_rails_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
