// all_to_all.h: every member sends every other a part of its own, all at once, by dimension-ordered shortest ways.
//
// The array V is spread over N members; each sends each other V/N^2. A transfer goes axis by axis, each the shorter
// way round; at a ring's antipode half of it goes either way. All transfers start together and share links fairly.
//
//   axis of n members      bytes on its busiest link, one way
//   ring                   V/N^2 x N/n x floor(n^2/4) / 2        even n: V n / 8N; the whole group on one ring: V/8
//   line                   V/N^2 x N/n x floor(n/2) ceil(n/2)    the middle link
//
//   twisted torus          V/N^2 x sum of distances / 6 (twist.h), every link alike: the pair's bytes are cut evenly
//                          among all its shortest ways
//
// Large arrays take the greatest of these over the axes / rate; on one ring used both ways (W = 2w) that is V / (4 W).
//
// Source: "How To Scale Your Model", "Sharded matrices" (AllToAll on a bidirectional ring takes a quarter of an
// AllGather); Dally & Towles 2004, chapter 3 (channel load of uniform traffic on a torus).
#pragma once

#include "collectives/collective.h"

namespace stepsim {

/// One role, port and lane for each displacement (a member past an open end has none). InputError for other kinds.
TransferPattern all_to_all_pattern(const CollectiveSpec& spec);

/// A lower bound in seconds: the busiest link of each axis and the longest way's latency, or the largest transfer alone.
double all_to_all_bound(const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
