// tree.h: all-reduce, broadcast and reduce by double binary trees over nodes, a chain inside each node.
//
// The array is cut evenly among the channels (at least two: one channel is run as two halves), two for each rail: channels
// c and c + rails have the same head in a node, which alone talks to other nodes, and go by different trees of
// double_tree.h. Heads stand node / rails local ranks apart, so that each has a NIC of its own;
// the others hang below it in a chain, in order, wrapping round. A channel's part goes in pieces of `chunk` bytes: a
// member passes a piece on as soon as it has it from all its children (up) or from its parent (down), and at the top
// a piece turns round as soon as it is reduced. Broadcast (down only) and reduce (up only): nodes, and ranks inside
// nodes, are counted from the root's, and in the root's node the root is the head of all channels.
//
//   S bytes of a channel in P pieces of s, edges h from the top to the lowest member, latency l, rate w:
//     broadcast, reduce   at least (S - s)/w + h (l + s/w)      equal, and one channel alone: exact on a chain
//     all-reduce          at least (S - s)/w + 2h (l + s/w)
//   large arrays, nodes of one, N of them: 2V/w for all-reduce, V/w for broadcast and reduce
//
// At most tree_max_pieces per channel: where `chunk` would give more, pieces are ceil(S / tree_max_pieces), so that
// the pipeline fills more coarsely than asked for but the number of transfers stays bounded.
//
// Source: Sanders, Speck, Traeff 2009; NVIDIA, NCCL 2.4 (double_tree.h).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

inline constexpr std::uint32_t tree_max_pieces = 64;

/// InputError for other kinds, for a node that does not divide the members, for a root that is no member.
TransferPattern tree_pattern(const CollectiveSpec& spec);

/// A lower bound in seconds: the slowest channel as if alone, and what leaves the busiest member.
double tree_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
