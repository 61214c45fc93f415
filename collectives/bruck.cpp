#include "collectives/bruck.h"

#include <algorithm>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "bruck").kinds({CollectiveKind::all_gather, CollectiveKind::all_to_all}).alike().bytes().done();
}

// Distances of the steps: 1, 2, 4, ...
std::vector<std::uint32_t> steps_of(std::uint32_t count) {
  std::vector<std::uint32_t> steps;
  for (std::uint64_t distance = 1; distance < count; distance *= 2) {
    steps.push_back(static_cast<std::uint32_t>(distance));
  }
  return steps;
}

// How many of 0 ... below - 1 have this bit set.
Bytes having(Bytes bit, Bytes below) {
  return below / (2 * bit) * bit + std::max<Bytes>(0, below % (2 * bit) - bit);
}

Bytes bytes_of(const CollectiveSpec& spec, std::uint32_t distance) {
  const std::uint32_t count = members(spec.shape);
  const Bytes shard = shard_bytes(spec.bytes, count);
  if (spec.kind == CollectiveKind::all_gather) return shard * std::min(distance, count - distance);
  return shard_bytes(shard, count) * having(distance, count);
}

// Ranks up to the receiver: the shards of an all-gather go down, the blocks of an all-to-all up.
std::uint32_t ahead(const CollectiveSpec& spec, std::uint32_t count, std::uint32_t distance) {
  return spec.kind == CollectiveKind::all_gather ? count - distance : distance;
}

Role role_of(const CollectiveSpec& spec, const std::vector<std::uint32_t>& steps) {
  RoleWriter role;
  std::vector<Need> came_in;
  role.lane();
  for (std::uint32_t s = 0; s < steps.size() && spec.bytes > 0; ++s) {
    role.run(s, 1, bytes_of(spec, steps[s]), came_in);
    came_in.push_back({s, 1, 0});
  }
  return role.role();
}

}  // namespace

TransferPattern bruck_pattern(const CollectiveSpec& spec) {
  validate(spec);
  const std::uint32_t count = members(spec.shape);
  const std::vector<std::uint32_t> steps = steps_of(count);
  std::vector<std::uint32_t> way;
  for (const std::uint32_t distance : steps) way.push_back(ahead(spec, count, distance));
  TransferPattern pattern;
  pattern.members = count;
  pattern.ports = static_cast<std::uint32_t>(steps.size());
  pattern.roles = {role_of(spec, steps)};
  pattern.role_of = [](std::uint32_t) { return 0U; };
  pattern.port = [count, way](std::uint32_t member, std::uint32_t port) {
    const std::uint64_t to = (std::uint64_t{member} + way[port]) % count;
    return Port{.to = static_cast<std::uint32_t>(to), .to_port = port};
  };
  if (spec.shape.size() == 1 && spec.shape[0].closed) {
    const auto n = static_cast<int>(count);
    for (const std::uint32_t up : way) {
      const auto hops = static_cast<int>(up);
      pattern.words.push_back({Leg{0, 2 * hops > n ? hops - n : hops}});
    }
  }
  return pattern;
}

double bruck_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec);
  const std::uint32_t count = members(spec.shape);
  if (count < 2 || spec.bytes == 0) return 0;
  const LinkCost link = best_link(rates);
  double time = 0;
  for (const std::uint32_t distance : steps_of(count)) time += link.transfer(bytes_of(spec, distance));
  return time;
}

}  // namespace stepsim
