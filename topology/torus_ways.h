// torus_ways.h: the ways of transfers over the ICI links of a slice, and round links that are down.
//
// Ways go axis by axis, each axis the shorter way round; in a twisted torus, by the shortest steps of twist.h. A link that is down is replaced by the shortest path round
// it inside the slice; of several, the one whose ports compare least in order (x+, x-, y+, ...). Each hop is replaced
// by itself, so that the way along an axis stays on it wherever it can.
#pragma once

#include <map>
#include <vector>

#include "topology/torus_links.h"

namespace stepsim {

class TorusWays {
 public:
  explicit TorusWays(TorusLinks links) : links_(std::move(links)) {}

  [[nodiscard]] const TorusLinks& links() const { return links_; }

  /// Takes these links out of all ways. Returns those that nothing leads round; no way may be asked for then.
  std::vector<LinkId> take_down(const std::vector<LinkId>& down);

  /// Links over `hops` steps along an axis of the slice, appended; negative: downward. std::out_of_range past an
  /// open end.
  void along(ChipId from, int axis, int hops, std::vector<LinkId>& way) const;

  /// All routes of least hops that change axis only when done with it, in every rotation of the axes' order; without
  /// those that cross a link that is down, or one shortest path if none is left.
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const;

  [[nodiscard]] std::vector<Detour> detours() const;

 private:
  struct Move {
    int axis = 0;
    int hops = 0;
  };

  [[nodiscard]] std::vector<LinkId> shortest_path(ChipId from, ChipId to) const;
  [[nodiscard]] bool is_clear(const std::vector<LinkId>& way) const;
  [[nodiscard]] std::vector<WeightedRoute> straight_routes(ChipId from, ChipId to) const;
  ChipId walk(ChipId from, Move move, std::vector<LinkId>& way) const;
  [[nodiscard]] std::vector<int> shortest_hops(ChipId from, ChipId to, int axis) const;
  [[nodiscard]] std::vector<std::vector<Move>> shortest_moves(ChipId from, ChipId to) const;
  [[nodiscard]] std::vector<std::vector<Move>> twisted_moves(ChipId from, ChipId to) const;

  TorusLinks links_;
  std::map<LinkId, std::vector<LinkId>> round_;  // each link that is down: the path round it
};

}  // namespace stepsim
