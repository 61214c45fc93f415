// registry.cpp: all collective algorithms by name, and the words of collective.h.
#include <stdexcept>

#include "collectives/all_to_all.h"
#include "collectives/binomial.h"
#include "collectives/bruck.h"
#include "collectives/collective.h"
#include "collectives/dissemination.h"
#include "collectives/flat.h"
#include "collectives/hierarchical.h"
#include "collectives/in_network.h"
#include "collectives/in_network_rails.h"
#include "collectives/one_shot.h"
#include "collectives/pairwise.h"
#include "collectives/point_to_point.h"
#include "collectives/rank_ring.h"
#include "collectives/recursive.h"
#include "collectives/torus.h"
#include "collectives/tree.h"

namespace stepsim {

Registry<Algorithm> collective_algorithms() {
  Registry<Algorithm> registry;
  registry.add("torus", "all-gather, reduce-scatter, all-reduce on rings, lines and their products, bandwidth optimal",
               {torus_pattern, torus_bound, true});
  registry.add("direct", "all-to-all: every member to every other at once, by dimension-ordered shortest ways",
               {all_to_all_pattern, all_to_all_bound});
  registry.add(
      "ring",
      "rings over ranks, as many as channels: all-gather, reduce-scatter, all-reduce; chains for broadcast, reduce",
      {rank_ring_pattern, rank_ring_bound});
  registry.add("in-network", "switches that add and copy (NVLS, SHARP)", {in_network_pattern, in_network_bound});
  registry.add("in-network-rails",
               "all-reduce by switches that add and copy in each node and on each rail (NVLS + SHARP)",
               {in_network_rails_pattern, in_network_rails_bound});
  registry.add("point-to-point", "one transfer from member 0 to member 1 by the cluster's routes, eager",
               {point_to_point_pattern, point_to_point_bound});
  registry.add("hierarchical", "axis by axis, innermost first, in pieces that overlap; all-to-all by way of the rails",
               {hierarchical_pattern, hierarchical_bound});
  registry.add("pairwise", "all-to-all by rank over any network, uniform or ragged",
               {pairwise_pattern, pairwise_bound});
  registry.add("flat", "broadcast, reduce, gather, scatter: the root to or from everyone at once",
               {flat_pattern, flat_bound});
  registry.add("binomial", "broadcast, reduce, gather, scatter by binomial trees", {binomial_pattern, binomial_bound});
  registry.add("dissemination", "barrier: empty transfers in ceil(log2 N) rounds",
               {dissemination_pattern, dissemination_bound});
  registry.add("tree", "all-reduce, broadcast, reduce: double binary trees over nodes, a chain inside each",
               {tree_pattern, tree_bound});
  registry.add("one-shot", "all-gather, reduce-scatter, all-reduce: everyone sends to everyone at once",
               {one_shot_pattern, one_shot_bound});
  registry.add("two-shot", "all-reduce: reduce-scatter then all-gather, each with everyone sending to everyone at once",
               {two_shot_pattern, two_shot_bound});
  registry.add("recursive-doubling", "all-gather, all-reduce: swap all one has at distance 1, 2, 4, ...",
               {recursive_doubling_pattern, recursive_doubling_bound});
  registry.add("recursive-halving", "reduce-scatter by halves; all-reduce: halving then doubling (Rabenseifner)",
               {recursive_halving_pattern, recursive_halving_bound});
  registry.add("bruck", "all-gather, all-to-all in ceil(log2 N) steps, for small arrays", {bruck_pattern, bruck_bound});
  return registry;
}

std::string to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return "all-gather";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::all_reduce:
      return "all-reduce";
    case CollectiveKind::all_to_all:
      return "all-to-all";
    case CollectiveKind::point_to_point:
      return "point-to-point";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::reduce:
      return "reduce";
    case CollectiveKind::gather:
      return "gather";
    case CollectiveKind::scatter:
      return "scatter";
    case CollectiveKind::barrier:
      return "barrier";
  }
  throw std::logic_error("unknown collective kind");
}

std::string to_string(RingStyle style) {
  switch (style) {
    case RingStyle::one_way:
      return "one_way";
    case RingStyle::halves:
      return "halves";
    case RingStyle::whole_shards:
      return "whole_shards";
  }
  throw std::logic_error("unknown ring style");
}

std::uint32_t members(const std::vector<GroupAxis>& shape) {
  std::uint64_t product = 1;
  for (const GroupAxis& axis : shape) {
    if (axis.extent < 1)
      throw InputError("collectives.shape", "expected extents of 1 or more, found " + std::to_string(axis.extent));
    product *= static_cast<std::uint64_t>(axis.extent);
    if (product > UINT32_MAX) throw InputError("collectives.shape", "expected fewer than 2^32 members in a group");
  }
  return static_cast<std::uint32_t>(product);
}

Bytes shard_bytes(Bytes array, std::uint32_t members) {
  const Bytes count = members;
  return array / count + (array % count == 0 ? 0 : 1);
}

}  // namespace stepsim
