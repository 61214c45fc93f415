#include "topology/torus_ways.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace stepsim {

namespace {

constexpr LinkId no_link = std::numeric_limits<LinkId>::max();

}  // namespace

std::vector<LinkId> TorusWays::take_down(const std::vector<LinkId>& down) {
  for (const LinkId link : down) round_[link] = {};
  std::vector<LinkId> cut_off;
  for (auto& [link, path] : round_) {
    const TorusLinks::Sender sender = links_.sender(link);
    path = shortest_path(sender.chip, links_.neighbour(sender.chip, sender.port));
    if (path.empty()) cut_off.push_back(link);
  }
  return cut_off;
}

// Breadth first over links that are up, ports in order and first-in first-out, so the first path to a chip is the
// least. Empty when there is none.
std::vector<LinkId> TorusWays::shortest_path(ChipId from, ChipId to) const {
  const ChipId first = from / links_.chips_per_slice() * links_.chips_per_slice();
  std::vector<LinkId> reached_by(links_.chips_per_slice(), no_link);
  std::vector<ChipId> queue{from};
  for (std::size_t next = 0; next < queue.size() && reached_by[to - first] == no_link; ++next) {
    const ChipId chip = queue[next];
    for (int port = 0; port < links_.ports(); ++port) {
      if (!links_.has(chip, port)) continue;
      const ChipId neighbour = links_.neighbour(chip, port);
      const LinkId link = links_.id(chip, port);
      if (neighbour == from || reached_by[neighbour - first] != no_link || round_.contains(link)) continue;
      reached_by[neighbour - first] = link;
      queue.push_back(neighbour);
    }
  }
  std::vector<LinkId> path;
  for (ChipId at = to; at != from && reached_by[at - first] != no_link; at = links_.sender(path.back()).chip) {
    path.push_back(reached_by[at - first]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

ChipId TorusWays::walk(ChipId from, Move move, std::vector<LinkId>& way) const {
  const int port = 2 * move.axis + (move.hops < 0 ? 1 : 0);
  for (int hop = 0; hop < std::abs(move.hops); ++hop) {
    if (!links_.has(from, port)) {
      throw std::out_of_range("past the open end of axis " + torus_axis_name(move.axis));
    }
    way.push_back(links_.id(from, port));
    from = links_.neighbour(from, port);
  }
  return from;
}

void TorusWays::along(ChipId from, int axis, int hops, std::vector<LinkId>& way) const {
  if (round_.empty()) {
    walk(from, {axis, hops}, way);
    return;
  }
  std::vector<LinkId> straight;
  walk(from, {axis, hops}, straight);
  for (const LinkId link : straight) {
    const auto path = round_.find(link);
    if (path == round_.end()) {
      way.push_back(link);
    } else {
      way.insert(way.end(), path->second.begin(), path->second.end());
    }
  }
}

// The shorter way along an axis; at a ring's antipode both.
std::vector<int> TorusWays::shortest_hops(ChipId from, ChipId to, int axis) const {
  const int direct = links_.coordinate(to, axis) - links_.coordinate(from, axis);
  if (direct == 0) return {};
  const int round = direct > 0 ? direct - links_.extent(axis) : direct + links_.extent(axis);
  if (!links_.wraps(axis) || std::abs(direct) < std::abs(round)) return {direct};
  if (std::abs(round) < std::abs(direct)) return {round};
  return {std::max(direct, round), std::min(direct, round)};
}

// One list of moves per choice of ways round.
std::vector<std::vector<TorusWays::Move>> TorusWays::shortest_moves(ChipId from, ChipId to) const {
  if (links_.twisted()) return twisted_moves(from, to);
  std::vector<std::vector<Move>> ways{{}};
  for (int axis = 0; axis < links_.axes(); ++axis) {
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

std::vector<std::vector<TorusWays::Move>> TorusWays::twisted_moves(ChipId from, ChipId to) const {
  std::vector<int> displacement;
  for (int axis = 0; axis < links_.axes(); ++axis) {
    displacement.push_back(links_.coordinate(to, axis) - links_.coordinate(from, axis));
  }
  std::vector<std::vector<Move>> ways;
  for (const std::vector<int>& steps : shortest_steps(links_.twist_axes(), displacement)) {
    std::vector<Move>& way = ways.emplace_back();
    for (int axis = 0; axis < links_.axes(); ++axis) {
      if (steps[axis] != 0) way.push_back({axis, steps[axis]});
    }
  }
  return ways;
}

// As if all links were up.
std::vector<WeightedRoute> TorusWays::straight_routes(ChipId from, ChipId to) const {
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

bool TorusWays::is_clear(const std::vector<LinkId>& way) const {
  return std::none_of(way.begin(), way.end(), [&](LinkId link) { return round_.contains(link); });
}

std::vector<WeightedRoute> TorusWays::routes(ChipId from, ChipId to) const {
  std::vector<WeightedRoute> routes = straight_routes(from, to);
  if (round_.empty()) return routes;
  std::erase_if(routes, [&](const WeightedRoute& route) { return !is_clear(route.links); });
  if (routes.empty()) routes.push_back({shortest_path(from, to)});
  return routes;
}

std::vector<Detour> TorusWays::detours() const {
  std::vector<Detour> all;
  for (const auto& [link, path] : round_) {
    const TorusLinks::Sender sender = links_.sender(link);
    Detour detour{sender.chip, links_.neighbour(sender.chip, sender.port), torus_port_name(sender.port), {}};
    for (std::size_t hop = 1; hop < path.size(); ++hop) detour.through.push_back(links_.sender(path[hop]).chip);
    all.push_back(std::move(detour));
  }
  return all;
}

}  // namespace stepsim
