#include "collectives/rank_ring.h"

#include <algorithm>
#include <map>
#include <string>

#include "collectives/refusal.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

constexpr std::uint32_t most_pieces = 64;  // of a channel's part on a chain

void check_ring(std::vector<std::uint32_t> ring, std::uint32_t n, std::size_t number) {
  std::sort(ring.begin(), ring.end());
  bool whole = ring.size() == n;
  for (std::uint32_t rank = 0; whole && rank < n; ++rank) whole = ring[rank] == rank;
  if (whole) return;
  throw InputError("collectives.rings", "ring " + std::to_string(number) + ": expected each of the ranks 0 to " +
                                            std::to_string(n - 1) + " once");
}

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "ring")
      .kinds({CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
              CollectiveKind::broadcast, CollectiveKind::reduce})
      .bytes()
      .channels()
      .node()
      .root()
      .done();
  const std::uint32_t n = members(spec.shape);
  for (std::size_t i = 0; i < spec.rings.size(); ++i) check_ring(spec.rings[i], n, i);
}

bool is_chain(const CollectiveSpec& spec) {
  return spec.kind == CollectiveKind::broadcast || spec.kind == CollectiveKind::reduce;
}

std::uint32_t phases(const CollectiveSpec& spec) {
  return spec.kind == CollectiveKind::all_reduce ? 2 : 1;
}

/// Where channels are as many as local ranks, they are counted from the member's own: then members look alike.
bool counts_from_member(const CollectiveSpec& spec) {
  return spec.rings.empty() && !is_chain(spec) && spec.node > 1 && spec.channels == spec.node;
}

std::uint32_t port_of(const CollectiveSpec& spec, std::uint32_t member, std::uint32_t channel) {
  if (!counts_from_member(spec)) return channel;
  return (channel + spec.node - member % spec.node) % spec.node;
}

std::uint32_t channel_of(const CollectiveSpec& spec, std::uint32_t member, std::uint32_t port) {
  return counts_from_member(spec) ? (port + member) % spec.node : port;
}

/// For each channel, who follows whom; on a chain nobody follows the last.
struct Rings {
  std::vector<std::vector<std::uint32_t>> next;    // [channel][member]
  std::vector<std::vector<std::uint32_t>> before;  // [channel][member]
};

Rings make_rings(const CollectiveSpec& spec) {
  const std::uint32_t n = members(spec.shape);
  Rings rings;
  for (std::uint32_t c = 0; c < spec.channels; ++c) {
    std::vector<std::uint32_t> order = ring_order(spec, c);
    if (is_chain(spec)) {
      std::rotate(order.begin(), std::find(order.begin(), order.end(), spec.root), order.end());
      if (spec.kind == CollectiveKind::reduce) std::reverse(order.begin(), order.end());
    }
    std::vector<std::uint32_t>& next = rings.next.emplace_back(n, no_member);
    std::vector<std::uint32_t>& before = rings.before.emplace_back(n, no_member);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (is_chain(spec) && i + 1 == n) continue;
      next[order[i]] = order[(i + 1) % n];
      before[order[(i + 1) % n]] = order[i];
    }
  }
  return rings;
}

/// `first` pieces go at once, each of the `later` ones when one more has come in.
void add_lane(Role& role, std::uint32_t port, std::uint32_t first, std::uint32_t later, Bytes bytes) {
  Lane lane{static_cast<std::uint32_t>(role.runs.size()), 0};
  if (first > 0 && bytes > 0) {
    role.runs.push_back({.port = port, .count = first, .bytes = bytes});
    ++lane.runs;
  }
  if (later > 0 && bytes > 0) {
    role.runs.push_back({.port = port,
                         .count = later,
                         .bytes = bytes,
                         .first_need = static_cast<std::uint32_t>(role.needs.size()),
                         .needs = 1});
    role.needs.push_back({port, 1, 1});
    ++lane.runs;
  }
  role.lanes.push_back(lane);
}

/// Bytes cut evenly: how many pieces, and how large.
struct Pieces {
  std::uint32_t count = 1;
  Bytes bytes = 0;
};

Pieces cut(Bytes bytes, Bytes chunk) {
  if (chunk <= 0 || bytes <= 0) return {1, bytes};
  const Bytes most = std::min<Bytes>((bytes - 1) / chunk + 1, most_pieces);
  const Bytes piece = (bytes - 1) / most + 1;
  return {static_cast<std::uint32_t>((bytes - 1) / piece + 1), piece};  // no more than it takes: 100 in 64 are 50 of 2
}

Role ring_role(const CollectiveSpec& spec) {
  const std::uint32_t n = members(spec.shape);
  const Bytes shard = shard_bytes(shard_bytes(spec.bytes, n), spec.channels);
  Role role;
  for (std::uint32_t p = 0; p < spec.channels; ++p) {
    add_lane(role, p, 1, phases(spec) * (n - 1) - 1, shard);
  }
  return role;
}

/// Per channel: first (sends what it has), between, or last of the chain.
enum class Place : std::uint8_t { first, between, last };

Role chain_role(const CollectiveSpec& spec, const std::vector<Place>& places) {
  const Pieces pieces = cut(shard_bytes(spec.bytes, spec.channels), spec.chunk);
  Role role;
  for (std::uint32_t c = 0; c < spec.channels; ++c) {
    const bool first = places[c] == Place::first;
    const bool between = places[c] == Place::between;
    add_lane(role, c, first ? pieces.count : 0, between ? pieces.count : 0, pieces.bytes);
  }
  return role;
}

void add_chain_roles(const CollectiveSpec& spec, const Rings& rings, TransferPattern& pattern) {
  std::map<std::vector<Place>, std::uint32_t> known;
  std::vector<std::uint32_t> role_of;
  for (std::uint32_t m = 0; m < pattern.members; ++m) {
    std::vector<Place> places;
    for (std::uint32_t c = 0; c < spec.channels; ++c) {
      const bool last = rings.next[c][m] == no_member;
      places.push_back(last ? Place::last : rings.before[c][m] == no_member ? Place::first : Place::between);
    }
    const auto [entry, is_new] = known.try_emplace(places, static_cast<std::uint32_t>(pattern.roles.size()));
    if (is_new) pattern.roles.push_back(chain_role(spec, places));
    role_of.push_back(entry->second);
  }
  pattern.role_of = [role_of](std::uint32_t member) { return role_of[member]; };
}

}  // namespace

std::vector<std::uint32_t> ring_order(const CollectiveSpec& spec, std::uint32_t channel) {
  if (!spec.rings.empty()) return spec.rings[channel % spec.rings.size()];
  const std::uint32_t nodes = members(spec.shape) / spec.node;
  const std::uint32_t first = channel * std::max(spec.node / spec.channels, 1U);  // channels on NICs of their own
  std::vector<std::uint32_t> order;
  for (std::uint32_t k = 0; k < nodes; ++k) {
    for (std::uint32_t i = 0; i < spec.node; ++i) {
      const std::uint32_t local = k % 2 == 0 ? first + i : first + spec.node - 1 - i;
      order.push_back(k * spec.node + local % spec.node);
    }
  }
  return order;
}

TransferPattern rank_ring_pattern(const CollectiveSpec& spec) {
  validate(spec);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = spec.channels;
  if (pattern.members < 2) {
    pattern.roles.resize(1);
    pattern.role_of = [](std::uint32_t) { return 0U; };
    pattern.port = [](std::uint32_t, std::uint32_t) { return Port{.to = no_member}; };
    return pattern;
  }
  Rings rings = make_rings(spec);
  if (is_chain(spec)) {
    add_chain_roles(spec, rings, pattern);
  } else {
    pattern.roles = {ring_role(spec)};
    pattern.role_of = [](std::uint32_t) { return 0U; };
  }
  CollectiveSpec shape = spec;
  pattern.port = [shape, next = std::move(rings.next)](std::uint32_t member, std::uint32_t port) {
    const std::uint32_t channel = channel_of(shape, member, port);
    const std::uint32_t to = next[channel][member];
    return Port{.to = to, .to_port = to == no_member ? 0 : port_of(shape, to, channel)};
  };
  return pattern;
}

double rank_ring_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  const std::uint32_t n = members(spec.shape);
  if (n < 2) return 0;
  const double least = *std::min_element(rates.latency.begin(), rates.latency.end());
  if (is_chain(spec)) {
    const double fastest = *std::max_element(rates.rate.begin(), rates.rate.end());
    return least * (n - 1) + static_cast<double>(spec.bytes) / fastest / spec.channels;
  }
  const double steps = phases(spec) * (n - 1.0);
  const auto shard = static_cast<double>(shard_bytes(spec.bytes, n));
  const double fastest = *std::max_element(rates.rate.begin(), rates.rate.end());
  double bound = steps * (least + shard / spec.channels / fastest);
  if (!spec.rings.empty()) return bound;
  // All channels go through a member, but the last of a node's sends its own to the next node. They leave every block of
  // ranks once, by the links of all of it. Where not all links are alike a busy one need not wait for the others' latency.
  const double leaving = spec.node > 1 && spec.node < n ? (spec.channels + spec.node - 1) / spec.node : 0;
  double share = (spec.channels - leaving) / spec.channels;
  double block = 1;
  for (std::size_t a = rates.rate.size(); a-- > 0;) {
    const double latency = rates.rate.size() == 1 ? steps * least : least;
    bound = std::max(bound, latency + steps * shard * share / (rates.rate[a] * block));
    share = 1;
    block *= spec.shape[a].extent;
  }
  return bound;
}

}  // namespace stepsim
