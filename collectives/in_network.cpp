#include "collectives/in_network.h"

#include <algorithm>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "sim/input_error.h"

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
  check_kind(spec, "in-network",
             {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
              CollectiveKind::broadcast, CollectiveKind::reduce});
  if (spec.bytes < 0) throw InputError("collectives.bytes", "expected 0 or more, found " + std::to_string(spec.bytes));
  if (spec.root >= members(spec.shape)) {
    throw InputError("collectives.root", "expected a rank below " + std::to_string(members(spec.shape)));
  }
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

class RoleWriter {
 public:
  RoleWriter(const CollectiveSpec& spec, const Ports& ports, bool works) : ports_(ports), works_(works) {
    const std::uint32_t n = members(spec.shape);
    const Bytes own = rooted(spec) ? spec.bytes : shard_bytes(spec.bytes, n);
    bytes_ = own;
    if (own < 1 || spec.chunk < 1) return;
    const Bytes most = std::min<Bytes>((own - 1) / spec.chunk + 1, most_pieces);
    bytes_ = (own - 1) / most + 1;
    count_ = static_cast<std::uint32_t>((own - 1) / bytes_ + 1);  // no more than it takes: 100 bytes in 64 are 50 of 2
  }

  Role write(const CollectiveSpec& spec) {
    const bool pulling = works_ && pulls(spec);
    const bool pushing = works_ && pushes(spec);
    for (std::uint32_t p = ports_.ready; p < ports_.done; ++p) lane({.port = p, .count = 1}, {});
    std::vector<Need> ready;
    for (std::uint32_t p = ports_.ready; p < ports_.done; ++p) ready.push_back({p, 1, 0});
    if (pulling) lane({.port = ports_.pull, .count = count_, .bytes = bytes_}, ready);
    if (pushing) {
      std::vector<Need> needs = pulling ? std::vector<Need>{{ports_.pull, 1, 1}} : ready;
      lane({.port = ports_.push, .count = count_, .bytes = bytes_}, needs);
    }
    std::vector<Need> finished = ready;
    const auto all = static_cast<std::int32_t>(count_);
    if (pulling) finished = {{ports_.pull, all, 0}};
    if (pushing) finished = {{ports_.push, all, 0}};
    for (std::uint32_t p = ports_.done; p < ports_.pull; ++p) lane({.port = p, .count = 1}, finished);
    return role_;
  }

 private:
  void lane(Run run, const std::vector<Need>& needs) {
    run.first_need = static_cast<std::uint32_t>(role_.needs.size());
    run.needs = static_cast<std::uint32_t>(needs.size());
    role_.needs.insert(role_.needs.end(), needs.begin(), needs.end());
    role_.lanes.push_back({static_cast<std::uint32_t>(role_.runs.size()), 1});
    role_.runs.push_back(run);
  }

  Ports ports_;
  bool works_;
  std::uint32_t count_ = 1;
  Bytes bytes_ = 0;
  Role role_;
};

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
  pattern.roles = {RoleWriter(spec, ports, true).write(spec)};
  if (rooted(spec)) pattern.roles.push_back(RoleWriter(spec, ports, false).write(spec));
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
