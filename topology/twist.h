// twist.h: tori whose wraparounds are shifted, and the shortest ways in them.
//
// In a regular K x K x 2K torus the long axis is the bottleneck of uniform traffic. Twisted, the wraparound of each
// short axis also leads K chips on along each long one: K steps up x from (x, y, z) end at (x, y, z + K). Chips are
// then the points of Z^3 modulo a lattice, and one step along any axis looks the same from every chip:
//   K x K x 2K     (K, 0, K), (0, K, K), (0, 0, 2K)    face-centred cubic: N = 2 K^3, all three axes alike
//   K x 2K x 2K    (K, K, K), (0, 2K, 0), (0, 0, 2K)   body-centred cubic: N = 4 K^3, all three axes alike
// Both lattices are the same after any exchange or reversal of axes, so uniform traffic over shortest ways loads every
// link alike: by the sum of the distances / 6. Cuts are twice as wide as the narrowest of the regular torus, the
// longest way is 3K/2 hops instead of 2K and 5K/2.
// Sources: Camara, Moreto, Vallejo, Beivide et al. 2010, "Twisted torus topologies for enhanced interconnection
// networks" (IEEE TPDS 21); Camarero, Martinez & Beivide 2013, "Symmetric interconnection networks from cubic crystal
// lattices" (arXiv 1311.2019); Jouppi et al. 2023, "TPU v4" (ISCA), section 2.8; Cloud TPU docs, v4.
#pragma once

#include <optional>
#include <vector>

namespace stepsim {

/// Per axis the steps that going round it upward adds along each axis; empty: none.
using Twists = std::vector<std::vector<int>>;

/// Of a slice of K x K x 2K or K x 2K x 2K chips in any orientation, K at least 2; nothing for other extents.
std::optional<Twists> twists_of(const std::vector<int>& shape);

/// An axis of a torus or of a group that has the shape of one.
struct TwistAxis {
  int extent = 1;
  bool wraps = false;        // the ends are joined, with a shift or without
  std::vector<int> shift{};  // along each axis, none of them shifted itself; empty: none
};

/// Every shortest way over `displacement` (per axis) as steps per axis: one where it is the only one, several at
/// antipodes and where going round a shifted axis costs the same. Ways with more upward steps first.
std::vector<std::vector<int>> shortest_steps(const std::vector<TwistAxis>& axes, const std::vector<int>& displacement);

/// Where steps lead from a place; false past an open end.
bool walk(const std::vector<TwistAxis>& axes, const std::vector<int>& steps, std::vector<int>& place);

}  // namespace stepsim
