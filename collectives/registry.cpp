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

namespace {

constexpr std::uint32_t pairs = 256;  // Algorithm::tried_up_to of those in which every member sends to every other

}  // namespace

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
  registry.add("in-network", "switches that add and copy (NVLS, SHARP)",
               {.pattern = in_network_pattern, .bound = in_network_bound, .tried_up_to = pairs, .by_network = true});
  registry.add("in-network-rails",
               "all-reduce by switches that add and copy in each node and on each rail (NVLS + SHARP)",
               {.pattern = in_network_rails_pattern, .bound = in_network_rails_bound, .by_network = true});
  registry.add("point-to-point", "one transfer from member 0 to member 1 by the cluster's routes, eager",
               {point_to_point_pattern, point_to_point_bound});
  registry.add("hierarchical", "axis by axis, innermost first, in pieces that overlap; all-to-all by way of the rails",
               {hierarchical_pattern, hierarchical_bound});
  registry.add("pairwise", "all-to-all by rank over any network, uniform or ragged",
               {.pattern = pairwise_pattern, .bound = pairwise_bound, .tried_up_to = pairs});
  registry.add("flat", "broadcast, reduce, gather, scatter: the root to or from everyone at once",
               {.pattern = flat_pattern, .bound = flat_bound, .tried_up_to = pairs});
  registry.add("binomial", "broadcast, reduce, gather, scatter by binomial trees", {binomial_pattern, binomial_bound});
  registry.add("dissemination", "barrier: empty transfers in ceil(log2 N) rounds",
               {dissemination_pattern, dissemination_bound});
  registry.add("tree", "all-reduce, broadcast, reduce: double binary trees over nodes, a chain inside each",
               {.pattern = tree_pattern, .bound = tree_bound, .few_steps = true, .channels_each = 2});
  registry.add("one-shot", "all-gather, reduce-scatter, all-reduce: everyone sends to everyone at once",
               {.pattern = one_shot_pattern, .bound = one_shot_bound, .tried_up_to = pairs});
  registry.add("two-shot", "all-reduce: reduce-scatter then all-gather, each with everyone sending to everyone at once",
               {.pattern = two_shot_pattern, .bound = two_shot_bound, .tried_up_to = pairs});
  registry.add("recursive-doubling", "all-gather, all-reduce: swap all one has at distance 1, 2, 4, ...",
               {.pattern = recursive_doubling_pattern, .bound = recursive_doubling_bound, .few_steps = true});
  registry.add("recursive-halving", "reduce-scatter by halves; all-reduce: halving then doubling (Rabenseifner)",
               {.pattern = recursive_halving_pattern, .bound = recursive_halving_bound, .few_steps = true});
  registry.add("bruck", "all-gather, all-to-all in ceil(log2 N) steps, for small arrays",
               {.pattern = bruck_pattern, .bound = bruck_bound, .few_steps = true});
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
