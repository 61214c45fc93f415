// ring_order.h: in which order the members of a group make rings on the links there are.
//
// What the channel search of NCCL looks for (its talk "Distributed training and fast inter-GPU communication with NCCL",
// GTC 2019, and src/graph/search.cc of NVIDIA/nccl): cycles through all members that use the bandwidth of the node
// well. Here: a cycle runs in both directions at once, each of its steps one flow; where flows share a link each gets
// capacity / flows, and the least of these is the cycle's rate. Rings carry equal shares of the data. Two ways to plan
// them are tried, and the one whose rings carry most together is kept (of equal ones the first, with the fewest rings):
//   by rate: the cycle of the greatest rate (of equal ones the first, trying nearest members first, then lowest ranks)
//   takes its share of the links, then the next on what is left, until nothing is; each stands for floor(its rate /
//   unit) rings, for the best unit;
//   by unit, up to eight members: for a half, third or quarter of the greatest rate, cycles of that rate along the
//   links with most left.
// So NVLink pairs over PCIe have 0-1-2-3 alone, both directions sharing the PCIe link. The hybrid cube mesh has
// 0-3-2-1-5-6-7-4 over the double links, twice, and 0-1-3-7-5-4-6-2 over the single ones: with both directions six
// rings of one NVLink each. Four chips with two NVLinks between any two have all three cycles. Under one switch no
// order is better than the given one.
// The steps of a search are bounded, so among 16 members of an odd network it may miss the best. Above 16 members:
// one ring in the given order.
#pragma once

#include "topology/cluster.h"

namespace stepsim {

inline constexpr std::size_t most_members_to_order = 16;
inline constexpr std::size_t most_rings = 16;

/// Orders of ranks (indices into members), rank 0 first; at least one. Each is to be run in both directions, all with
/// equal shares: 2 x size() rings. A cycle worth several rings stands there several times in a row.
std::vector<std::vector<std::uint32_t>> ring_orders(const Cluster& cluster, const std::vector<ChipId>& members);

}  // namespace stepsim
