#include "topology/torus_links.h"

#include <algorithm>
#include <stdexcept>

namespace stepsim {

std::string torus_axis_name(int axis) {
  return std::string(1, static_cast<char>('x' + axis));
}

TorusLinks::TorusLinks(std::vector<int> shape, std::vector<bool> wraps, int slices, const ChipSpec& chip,
                       std::vector<GraphLink>& links)
    : shape_(std::move(shape)), wraps_(std::move(wraps)), strides_(shape_.size()) {
  ChipId chips = 1;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    strides_[axis] = chips;
    chips *= static_cast<ChipId>(shape_[axis]);
  }
  chips *= static_cast<ChipId>(slices);
  const int axes = static_cast<int>(shape_.size());
  step_.assign(static_cast<std::size_t>(chips) * axes * 2, UINT32_MAX);
  for (ChipId id = 0; id < chips; ++id) {
    for (int port = 0; port < axes * 2; ++port) {
      const int axis = port / 2;
      const bool down = port % 2 == 1;
      if (at_end(id, axis, down)) continue;
      step_[static_cast<std::size_t>(id) * axes * 2 + port] = static_cast<LinkId>(links.size());
      links.push_back({id, neighbour(id, axis, down), chip.link_rate, chip.link_latency,
                       "ici " + torus_axis_name(axis) + (down ? "-" : "+")});
    }
  }
}

int TorusLinks::coordinate(ChipId chip, int axis) const {
  return static_cast<int>(chip / strides_[axis] % static_cast<ChipId>(shape_[axis]));
}

bool TorusLinks::at_end(ChipId chip, int axis, bool down) const {
  return !wraps_[axis] && coordinate(chip, axis) == (down ? 0 : shape_[axis] - 1);
}

ChipId TorusLinks::neighbour(ChipId chip, int axis, bool down) const {
  const ChipId lap = strides_[axis] * static_cast<ChipId>(shape_[axis] - 1);  // from the first chip to the last
  if (down) return coordinate(chip, axis) == 0 ? chip + lap : chip - strides_[axis];
  return coordinate(chip, axis) == shape_[axis] - 1 ? chip - lap : chip + strides_[axis];
}

ChipId TorusLinks::walk(ChipId from, Move move, std::vector<LinkId>& links) const {
  const bool down = move.hops < 0;
  for (int hop = 0; hop < std::abs(move.hops); ++hop) {
    if (at_end(from, move.axis, down)) {
      throw std::out_of_range("past the open end of axis " + torus_axis_name(move.axis));
    }
    links.push_back(step_[(static_cast<std::size_t>(from) * shape_.size() + move.axis) * 2 + (down ? 1 : 0)]);
    from = neighbour(from, move.axis, down);
  }
  return from;
}

std::vector<LinkId> TorusLinks::along(ChipId from, int axis, int hops) const {
  std::vector<LinkId> links;
  walk(from, {axis, hops}, links);
  return links;
}

// The shorter way along an axis; at a ring's antipode both.
std::vector<int> TorusLinks::shortest_hops(ChipId from, ChipId to, int axis) const {
  const int direct = coordinate(to, axis) - coordinate(from, axis);
  if (direct == 0) return {};
  const int round = direct > 0 ? direct - shape_[axis] : direct + shape_[axis];
  if (!wraps_[axis] || std::abs(direct) < std::abs(round)) return {direct};
  if (std::abs(round) < std::abs(direct)) return {round};
  return {std::max(direct, round), std::min(direct, round)};
}

// One list of moves per choice of ways round.
std::vector<std::vector<TorusLinks::Move>> TorusLinks::shortest_moves(ChipId from, ChipId to) const {
  std::vector<std::vector<Move>> ways{{}};
  for (int axis = 0; axis < static_cast<int>(shape_.size()); ++axis) {
    const std::vector<int> choices = shortest_hops(from, to, axis);
    if (choices.empty()) continue;
    std::vector<std::vector<Move>> longer;
    for (const std::vector<Move>& way : ways) {
      for (const int hops : choices) {
        longer.push_back(way);
        longer.back().push_back({axis, hops});
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

std::vector<WeightedRoute> TorusLinks::routes(ChipId from, ChipId to) const {
  std::vector<WeightedRoute> routes;
  for (std::vector<Move>& moves : shortest_moves(from, to)) {
    for (std::size_t rotation = 0; rotation < moves.size(); ++rotation) {
      WeightedRoute route;
      ChipId at = from;
      for (const Move& move : moves) at = walk(at, move, route.links);
      routes.push_back(std::move(route));
      std::rotate(moves.begin(), moves.begin() + 1, moves.end());
    }
  }
  return routes;
}

}  // namespace stepsim
