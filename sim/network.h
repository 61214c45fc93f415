// network.h: the links that flows share, flat, and the routes over them.
//
// A link is one direction of one cable: capacity in whole bytes/s (usable, one way) and latency. A vertex with a
// capacity of its own (host memory, a switch's core) is one more link on the route. A route is a set of links
// with its latency; each link carries a count: how many flows of a flow's class cross one member of the link's
// class (1 while every chip is played).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/time.h"

namespace stepsim {

using LinkId = std::uint32_t;
using RouteId = std::uint32_t;

/// Largest capacity a link may have, bytes/s: rates in 1/27720 byte/s must fit 63 bits (flows.h).
inline constexpr std::int64_t max_capacity = 300'000'000'000'000;

struct Hop {
  LinkId link = 0;
  std::uint32_t count = 1;
};

class Network {
 public:
  /// capacity in bytes/s, in 1..max_capacity, else InputError.
  LinkId add_link(std::int64_t capacity, Picoseconds latency);

  /// A route over these links in order; its latency is the sum of theirs. An empty route is a local copy: it takes
  /// no time. A link named twice counts twice.
  RouteId add_route(std::span<const LinkId> links);

  /// The folded form: hops with multiplicities, and the latency of the path they stand for.
  RouteId add_route(std::span<const Hop> hops, Picoseconds latency);

  [[nodiscard]] std::size_t links() const { return capacity_.size(); }
  [[nodiscard]] std::size_t routes() const { return latency_of_route_.size(); }
  [[nodiscard]] std::int64_t capacity(LinkId link) const { return capacity_[link]; }
  [[nodiscard]] Picoseconds latency(LinkId link) const { return latency_[link]; }
  [[nodiscard]] std::span<const Hop> hops(RouteId route) const {
    return {hops_.data() + first_hop_[route], hops_.data() + first_hop_[route + 1]};
  }
  [[nodiscard]] Picoseconds route_latency(RouteId route) const { return latency_of_route_[route]; }

  /// How long `bytes` take to stream over the route with no other flow: its slowest link decides.
  [[nodiscard]] Picoseconds alone(RouteId route, Bytes bytes) const;

 private:
  std::vector<std::int64_t> capacity_;
  std::vector<Picoseconds> latency_;
  std::vector<std::uint32_t> first_hop_{0};
  std::vector<Hop> hops_;
  std::vector<Picoseconds> latency_of_route_;
};

}  // namespace stepsim
