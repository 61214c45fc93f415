// collective.h: one collective on a group of chips -> the transfers it is made of.
//
// A group is a product of rings and lines (GroupAxis). An Algorithm writes a TransferPattern for it, from which the fold
// takes its edges and the clock its transfers, and a closed-form bound, which tests and placement use and the clock never sees.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/pattern.h"
#include "sim/registry.h"
#include "topology/mesh.h"

namespace stepsim {

enum class CollectiveKind {
  all_gather,
  reduce_scatter,
  all_reduce,
  all_to_all,
  point_to_point,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier
};

/// "all-gather", "reduce-scatter", "all-reduce", "all-to-all", "point-to-point", "broadcast", ...
std::string to_string(CollectiveKind kind);

/// How an even ring is used both ways.
///   one_way: shards go round one way: N-1 steps of V/N on one direction
///   halves: every shard is cut in two (sizes differ by at most a byte), one half each way: N-1 steps of V/2N
///   whole_shards: whole shards both ways, N/2 steps: the book's V/W; odd N: (N-1)/2 steps each way
enum class RingStyle { one_way, halves, whole_shards };

/// "one_way", "halves", "whole_shards"
std::string to_string(RingStyle style);

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<GroupAxis> shape;  // product of extents = members; may be empty (one member: nothing is sent)
  Bytes bytes = 0;               // the full array V: gathered, or unreduced at each member
  std::string algorithm = "torus";
  RingStyle ring = RingStyle::halves;
  bool weighted_parts = false;  // several axes: part sizes that load unequal axes more evenly (parts.h)
  std::uint32_t root = 0;       // rank: broadcast, reduce, gather, scatter; the sender of a point-to-point
  std::uint32_t to = 1;         // rank: the receiver of a point-to-point
  bool rendezvous = false;      // point-to-point: the send waits for its receiver
  std::uint32_t channels = 1;   // rings, trees: the array is cut among so many, each with lanes of its own
  Bytes chunk = 0;              // pieces that are passed on one by one (trees, chains, hierarchies); 0: not cut
  std::uint32_t node = 1;       // members per node, ranks in a row: ranks 0 ... node - 1 share the first
  std::vector<std::vector<std::uint32_t>> rings = {};  // rank orders, used in turn by the channels; empty: by rank
  std::vector<Bytes> sends = {};                       // ragged all-to-all: [from * members + to]; empty: uniform
};

/// What one link gives a collective: usable rate one way and latency of one neighbour step along each group
/// axis.
struct AxisRates {
  std::vector<double> rate;     // bytes/s per group axis, after sharing among interleaved groups
  std::vector<double> latency;  // seconds per group axis
};

struct Algorithm {
  /// Throws InputError when the shape or kind is not covered (with what would be).
  std::function<TransferPattern(const CollectiveSpec&)> pattern;
  /// Closed-form time in seconds, additive latency, everyone arriving at once: the oracle of the tests. Exact
  /// on one axis and on axes that cost alike; a lower bound otherwise (bound.cpp says which).
  std::function<double(const CollectiveSpec&, const AxisRates&)> bound;
  /// Does the bound take the rates of a member that sends both ways along an axis at once?
  bool both_ways = false;

  // What a choice among all needs to know:
  std::uint32_t tried_up_to = 8192;  // members; what sends from everyone to everyone is costly to play in large groups
  bool few_steps = false;            // wins only where latency counts, and takes long to play for thousands of members
  bool by_network = false;           // switches add and copy: no choice unless the system's protocols say that they can
  std::uint32_t channels_each = 1;   // per way out of a node: both trees of a double tree

  /// The pattern written out for a group of its own.
  [[nodiscard]] TransferPlan make(const CollectiveSpec& spec) const { return tabulate(pattern(spec)); }
};

/// All that ship: "torus" (M axes, each a ring or a line; a ring is its case M = 1), "direct" (all-to-all), "point-to-point".
Registry<Algorithm> collective_algorithms();

/// Bytes on the busiest link of each axis of the group (torus algorithm): what decides the time of large
/// arrays.
std::vector<Bytes> axis_loads(const CollectiveSpec& spec);

/// Members of a group: the product of its extents. InputError when an extent is below 1 or the product too
/// large.
std::uint32_t members(const std::vector<GroupAxis>& shape);

/// Shards are padded up to equal size: bytes of one member's shard of an array.
Bytes shard_bytes(Bytes array, std::uint32_t members);

}  // namespace stepsim
