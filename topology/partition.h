// partition.h: the coarsest equitable partition of a graph with labelled edges.
//
// Nodes, colours and labels are opaque integers. A label gives each node at most one edge (a chip's link out of port x+,
// a transfer's sender); edges count both ways, so a node may have many coming in. A partition that refines the colours
// is *equitable* when any two nodes of one class have, for every label, direction and class, equally many edges into
// that class. There is one coarsest such partition; it is what iterated colour refinement (1-dimensional
// Weisfeiler-Leman) ends with, and does not depend on the order of the work.
//
// Found by partition refinement: a class is a splitter once; every class whose nodes have unequal counts of edges into
// it falls apart by those counts; all parts but a largest become splitters in turn (its counts follow from the rest).
// Each edge is looked at O(log V) times: O(E log V) in all.
//
// Source: Paige & Tarjan 1987 (three partition refinement algorithms), Cardon & Crochemore 1982; Berkholz, Bonsma &
// Grohe 2013 (colour refinement in O((n + m) log n)).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stepsim {

inline constexpr std::uint32_t no_node = UINT32_MAX;

/// The edges of one label: to[node], or no_node.
using LabelledEdges = std::vector<std::uint32_t>;

struct Partition {
  std::vector<std::uint32_t> class_of;  // per node; classes count in the order of their lowest nodes
  std::vector<std::uint32_t> first;     // per class: its lowest node
  std::vector<std::uint32_t> size;      // per class

  [[nodiscard]] std::uint32_t classes() const { return static_cast<std::uint32_t>(first.size()); }
};

/// The coarsest equitable partition that refines `colours` (one per node).
Partition refine(const std::vector<std::uint32_t>& colours, std::span<const LabelledEdges> edges);

/// Makes the colours tell apart what the feature tells apart as well.
void tell_apart(std::vector<std::uint32_t>& colours, const std::vector<std::uint32_t>& feature);

/// The partition by colour alone.
Partition by_colour(const std::vector<std::uint32_t>& colours);

/// Holds the partition against the definition: empty if it is equitable and refines the colours, else the first two
/// nodes that differ.
std::string why_not_equitable(const Partition& partition, const std::vector<std::uint32_t>& colours,
                              std::span<const LabelledEdges> edges);

}  // namespace stepsim
