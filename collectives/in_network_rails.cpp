#include "collectives/in_network_rails.h"

#include <algorithm>
#include <string>

#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

constexpr std::uint32_t most_pieces = 64;

struct Ports {
  std::uint32_t come = 0;  // to each other member of the node, by distance: g - 1 of them
  std::uint32_t done = 0;  // likewise
  std::uint32_t here = 0;  // to each other member of the rail: a piece is summed in this node; h - 1 of them
  std::uint32_t sent = 0;  // likewise: a leader's share of a piece is with everyone
  std::uint32_t pull = 0;
  std::uint32_t rail = 0;
  std::uint32_t push = 0;
  std::uint32_t count = 0;

  Ports(std::uint32_t h, std::uint32_t g)
      : done(g - 1),
        here(2 * (g - 1)),
        sent(here + h - 1),
        pull(sent + h - 1),
        rail(pull + 1),
        push(rail + 1),
        count(push + 1) {}
};

std::uint32_t node_size(const CollectiveSpec& spec) {
  return static_cast<std::uint32_t>(spec.shape.back().extent);
}

void validate(const CollectiveSpec& spec) {
  const std::uint32_t n = members(spec.shape);
  const bool nodes = spec.shape.size() > 1 && node_size(spec) > 1 && n >= 2 * node_size(spec);
  const bool switches = std::all_of(spec.shape.begin(), spec.shape.end(), [](const GroupAxis& axis) {
    return axis.extent == 1 || (axis.direct && axis.closed);
  });
  SpecCheck(spec, "in-network-rails")
      .kinds({CollectiveKind::all_reduce})
      .bytes()
      .expect(nodes, "shape", "'in-network-rails' is for several nodes of several members (in one: 'in-network')")
      .expect(switches, "shape", "'in-network-rails' is for switches in the nodes and between them")
      .done();
}

/// Legs to the member at a distance of `d` along all axes but the last, counted as ranks are.
std::vector<Leg> legs_on_rail(const std::vector<GroupAxis>& shape, std::uint32_t d) {
  std::vector<Leg> legs;
  for (std::size_t a = shape.size() - 1; a-- > 0;) {
    const auto extent = static_cast<std::uint32_t>(shape[a].extent);
    if (d % extent != 0) legs.insert(legs.begin(), {static_cast<int>(a), static_cast<int>(d % extent)});
    d /= extent;
  }
  return legs;
}

std::uint32_t end_of(const std::vector<GroupAxis>& shape, std::uint32_t member, const std::vector<Leg>& legs) {
  std::uint32_t stride = members(shape);
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const auto extent = static_cast<std::uint32_t>(shape[a].extent);
    stride /= extent;
    for (const Leg& leg : legs) {
      if (leg.axis != static_cast<int>(a)) continue;
      const std::uint32_t at = member / stride % extent;
      member = member - at * stride + (at + static_cast<std::uint32_t>(leg.steps)) % extent * stride;
    }
  }
  return member;
}

std::vector<std::vector<Leg>> words_of(const CollectiveSpec& spec, const Ports& ports) {
  const int last = static_cast<int>(spec.shape.size()) - 1;
  std::vector<std::vector<Leg>> words(ports.count);
  for (std::uint32_t p = 0; p < ports.done; ++p) {
    words[ports.come + p] = words[ports.done + p] = {{last, static_cast<int>(p) + 1}};
  }
  for (std::uint32_t p = 0; p < ports.sent - ports.here; ++p) {
    words[ports.here + p] = words[ports.sent + p] = legs_on_rail(spec.shape, p + 1);
  }
  return words;
}

/// A need of `port` and of the ports of a row, each `base` deliveries and `stride` more for each transfer.
std::vector<Need> needs_of(std::uint32_t port, std::uint32_t first, std::uint32_t end, std::int32_t stride) {
  std::vector<Need> needs{{port, 1, stride}};
  for (std::uint32_t p = first; p < end; ++p) needs.push_back({p, 1, stride});
  return needs;
}

Role role_of(const CollectiveSpec& spec, const Ports& ports) {
  const std::uint32_t h = members(spec.shape) / node_size(spec);
  const Bytes led = shard_bytes(spec.bytes, members(spec.shape));
  Bytes share = led;  // of a piece, of each leader
  std::uint32_t count = 1;
  if (led > 0 && spec.chunk > 0) {
    const Bytes most = std::min<Bytes>((led * h - 1) / spec.chunk + 1, most_pieces);
    share = (led - 1) / most + 1;
    count = static_cast<std::uint32_t>((led - 1) / share + 1);
  }
  RoleWriter role;
  for (std::uint32_t p = ports.come; p < ports.done; ++p) role.lane_of(p, 1, 0);
  role.lane_of(ports.pull, count, share * h, needs_of(ports.come, ports.come + 1, ports.done, 0));
  for (std::uint32_t p = ports.here; p < ports.sent; ++p) role.lane_of(p, count, 0, {{ports.pull, 1, 1}});
  role.lane_of(ports.rail, count, share, needs_of(ports.pull, ports.here, ports.sent, 1));
  for (std::uint32_t p = ports.sent; p < ports.pull; ++p) role.lane_of(p, count, 0, {{ports.rail, 1, 1}});
  role.lane_of(ports.push, count, share * h, needs_of(ports.rail, ports.sent, ports.pull, 1));
  const std::vector<Need> finished{{ports.push, static_cast<std::int32_t>(count), 0}};
  for (std::uint32_t p = ports.done; p < ports.here; ++p) role.lane_of(p, 1, 0, finished);
  return role.role();
}

}  // namespace

TransferPattern in_network_rails_pattern(const CollectiveSpec& spec) {
  validate(spec);
  const std::uint32_t g = node_size(spec);
  const Ports ports(members(spec.shape) / g, g);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = ports.count;
  pattern.roles = {role_of(spec, ports)};
  pattern.role_of = [](std::uint32_t) { return 0U; };
  pattern.words = words_of(spec, ports);
  pattern.port = [shape = spec.shape, words = pattern.words](std::uint32_t member, std::uint32_t port) {
    return Port{.to = end_of(shape, member, words[port]), .to_port = port};
  };
  pattern.row = g;
  pattern.spreads.assign(ports.count, Spread::none);
  pattern.spreads[ports.pull] = Spread::reduction;
  pattern.spreads[ports.rail] = Spread::both;
  pattern.spreads[ports.push] = Spread::multicast;
  pattern.among.assign(ports.count, Among::row);
  pattern.among[ports.rail] = Among::column;
  return pattern;
}

double in_network_rails_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec);
  const auto bytes = static_cast<double>(spec.bytes);
  const std::size_t last = spec.shape.size() - 1;
  double rate = 0;
  double latency = 0;
  for (std::size_t a = 0; a < last; ++a) {
    if (spec.shape[a].extent < 2) continue;
    latency = rate > 0 ? std::min(latency, rates.latency.at(a)) : rates.latency.at(a);
    rate = std::max(rate, rates.rate.at(a));
  }
  return std::max(bytes / rates.rate.at(last), bytes / node_size(spec) / rate) + 2 * rates.latency.at(last) + latency;
}

}  // namespace stepsim
