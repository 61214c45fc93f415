// torus_links.h: the ICI links of slices, and the ways over them.
//
// Every chip has a link to its neighbour up and down each axis; an axis that wraps also joins its last chip and its
// first (at extent 2 that is a second pair of links between the same chips). Ways go axis by axis, each axis the
// shorter way round.
#pragma once

#include <vector>

#include "topology/cluster.h"

namespace stepsim {

class TorusLinks {
 public:
  /// Appends the links of `slices` slices to `links`; chips of a slice count row-major, slice after slice.
  TorusLinks(std::vector<int> shape, std::vector<bool> wraps, int slices, const ChipSpec& chip,
             std::vector<GraphLink>& links);

  /// Links over `hops` steps along an axis of the slice; negative: downward. std::out_of_range past an open end.
  [[nodiscard]] std::vector<LinkId> along(ChipId from, int axis, int hops) const;

  /// All routes of least hops that change axis only when done with it, in every rotation of the axes' order.
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const;

 private:
  struct Move {
    int axis = 0;
    int hops = 0;
  };

  [[nodiscard]] int coordinate(ChipId chip, int axis) const;
  [[nodiscard]] bool at_end(ChipId chip, int axis, bool down) const;
  [[nodiscard]] ChipId neighbour(ChipId chip, int axis, bool down) const;
  ChipId walk(ChipId from, Move move, std::vector<LinkId>& links) const;
  [[nodiscard]] std::vector<int> shortest_hops(ChipId from, ChipId to, int axis) const;
  [[nodiscard]] std::vector<std::vector<Move>> shortest_moves(ChipId from, ChipId to) const;

  std::vector<int> shape_;
  std::vector<bool> wraps_;
  std::vector<ChipId> strides_;  // of chip ids, per axis
  std::vector<LinkId> step_;     // [(chip * axes + axis) * 2 + down]; unused past an open end
};

/// "x", "y", "z"
std::string torus_axis_name(int axis);

}  // namespace stepsim
