#include "collectives/in_network.h"

#include <algorithm>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

constexpr std::uint32_t most_pieces = 64;

// Ports: to each other member by rank distance (ready, done), then the sum that is pulled, then the multicast.
struct Ports {
  std::uint32_t ready = 0;  // n - 1 of them
  std::uint32_t done = 0;   // n - 1 of them
  std::uint32_t pull = 0;
  std::uint32_t push = 0;
  std::uint32_t count = 0;

  explicit Ports(std::uint32_t n) : done(n - 1), pull(2 * (n - 1)), push(pull + 1), count(push + 1) {}
};

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "in-network")
      .kinds({CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
              CollectiveKind::broadcast, CollectiveKind::reduce})
      .bytes()
      .root()
      .done();
}

bool rooted(const CollectiveSpec& spec) {
  return spec.kind == CollectiveKind::broadcast || spec.kind == CollectiveKind::reduce;
}

bool pulls(const CollectiveSpec& spec) {
  return spec.kind != CollectiveKind::all_gather && spec.kind != CollectiveKind::broadcast;
}

bool pushes(const CollectiveSpec& spec) {
  return spec.kind != CollectiveKind::reduce_scatter && spec.kind != CollectiveKind::reduce;
}

struct Pieces {
  std::uint32_t count = 1;
  Bytes bytes = 0;
};

Pieces pieces_of(const CollectiveSpec& spec) {
  const Bytes own = rooted(spec) ? spec.bytes : shard_bytes(spec.bytes, members(spec.shape));
  if (own < 1 || spec.chunk < 1) return {1, own};
  const Bytes most = std::min<Bytes>((own - 1) / spec.chunk + 1, most_pieces);
  const Bytes bytes = (own - 1) / most + 1;
  return {static_cast<std::uint32_t>((own - 1) / bytes + 1),
          bytes};  // no more than it takes: 100 bytes in 64 are 50 of 2
}

Role role_of(const CollectiveSpec& spec, const Ports& ports, bool works) {
  const bool pulling = works && pulls(spec);
  const bool pushing = works && pushes(spec);
  const Pieces pieces = pieces_of(spec);
  const auto all = static_cast<std::int32_t>(pieces.count);
  std::vector<Need> ready;
  for (std::uint32_t p = ports.ready; p < ports.done; ++p) ready.push_back({p, 1, 0});
  std::vector<Need> finished = ready;
  RoleWriter role;
  for (std::uint32_t p = ports.ready; p < ports.done; ++p) role.lane_of(p, 1, 0);
  if (pulling) {
    role.lane_of(ports.pull, pieces.count, pieces.bytes, ready);
    finished = {{ports.pull, all, 0}};
  }
  if (pushing) {
    role.lane_of(ports.push, pieces.count, pieces.bytes, pulling ? std::vector<Need>{{ports.pull, 1, 1}} : ready);
    finished = {{ports.push, all, 0}};
  }
  for (std::uint32_t p = ports.done; p < ports.pull; ++p) role.lane_of(p, 1, 0, finished);
  return role.role();
}

}  // namespace

TransferPattern in_network_pattern(const CollectiveSpec& spec) {
  validate(spec);
  const std::uint32_t n = members(spec.shape);
  TransferPattern pattern;
  pattern.members = n;
  if (n < 2) {
    pattern.roles.resize(1);
    pattern.role_of = [](std::uint32_t) { return 0U; };
    pattern.port = [](std::uint32_t, std::uint32_t) { return Port{.to = no_member}; };
    return pattern;
  }
  const Ports ports(n);
  pattern.ports = ports.count;
  pattern.roles = {role_of(spec, ports, true)};
  if (rooted(spec)) pattern.roles.push_back(role_of(spec, ports, false));
  pattern.role_of = [root = spec.root, rooted = rooted(spec)](std::uint32_t member) {
    return rooted && member != root ? 1U : 0U;
  };
  pattern.port = [n, ports](std::uint32_t member, std::uint32_t port) {
    if (port >= ports.pull) return Port{.to = member, .to_port = port};
    return Port{.to = (member + port % (n - 1) + 1) % n, .to_port = port};
  };
  if (spec.shape.size() == 1 && spec.shape[0].closed) {
    for (std::uint32_t p = 0; p < ports.pull; ++p) pattern.words.push_back({{0, static_cast<int>(p % (n - 1)) + 1}});
    pattern.words.resize(ports.count);
  }
  pattern.spreads.assign(ports.count, Spread::none);
  pattern.spreads[ports.pull] = Spread::reduction;
  pattern.spreads[ports.push] = Spread::multicast;
  return pattern;
}

double in_network_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  const std::uint32_t n = members(spec.shape);
  if (n < 2) return 0;
  const double w = member_rate(spec, rates);
  const double latency = *std::min_element(rates.latency.begin(), rates.latency.end());
  const auto bytes = static_cast<double>(spec.bytes);
  const bool half = spec.kind == CollectiveKind::all_gather || spec.kind == CollectiveKind::reduce_scatter;
  return (half ? bytes * (n - 1) / n : bytes) / w + 2 * latency;
}

}  // namespace stepsim
