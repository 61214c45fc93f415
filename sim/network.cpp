#include "sim/network.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/input_error.h"

namespace stepsim {

LinkId Network::add_link(std::int64_t capacity, Picoseconds latency) {
  if (capacity < 1 || capacity > max_capacity) {
    throw InputError("capacity",
                     "a link's capacity must be 1 B/s to 300 TB/s, got " + std::to_string(capacity) + " B/s");
  }
  if (latency < Picoseconds(0)) throw InputError("latency", "a link's latency must not be negative");
  capacity_.push_back(capacity);
  latency_.push_back(latency);
  return static_cast<LinkId>(capacity_.size() - 1);
}

RouteId Network::add_route(std::span<const LinkId> links) {
  Picoseconds latency;
  std::vector<Hop> hops;
  for (const LinkId link : links) {
    latency += latency_.at(link);
    const auto same = std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.link == link; });
    if (same != hops.end()) {
      ++same->count;
    } else {
      hops.push_back({link, 1});
    }
  }
  return add_route(hops, latency);
}

RouteId Network::add_route(std::span<const Hop> hops, Picoseconds latency) {
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const LinkId link = hops[h].link;
    const auto like = [link](const Hop& hop) { return hop.link == link; };
    if (link >= links()) throw std::logic_error("route: no link " + std::to_string(link));
    if (hops[h].count == 0) throw std::logic_error("route: link " + std::to_string(link) + " crossed by no flow");
    if (std::any_of(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(h), like)) {
      throw std::logic_error("route: link " + std::to_string(link) + " listed twice");
    }
  }
  hops_.insert(hops_.end(), hops.begin(), hops.end());
  first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
  latency_of_route_.push_back(latency);
  return static_cast<RouteId>(latency_of_route_.size() - 1);
}

Picoseconds Network::alone(RouteId route, Bytes bytes) const {
  Picoseconds longest;
  for (const Hop& hop : hops(route)) {
    longest = std::max(longest, streaming_time(bytes * hop.count, capacity_[hop.link]));
  }
  return longest;
}

}  // namespace stepsim
