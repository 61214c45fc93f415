#include "collectives/flat.h"

#include "collectives/member_links.h"
#include "collectives/rooted.h"

namespace stepsim {

namespace {

Bytes bytes_each(const CollectiveSpec& spec) {
  return in_shards(spec.kind) ? shard_bytes(spec.bytes, members(spec.shape)) : spec.bytes;
}

void add_lane(Role& role, std::uint32_t port, Bytes bytes) {
  role.lanes.push_back({static_cast<std::uint32_t>(role.runs.size()), 1});
  role.runs.push_back({.port = port, .count = 1, .bytes = bytes});
}

}  // namespace

// Port r - 1 stands for relative rank r: the root's way there, or what comes in from there. Others send through port 0,
// and receive there.
TransferPattern flat_pattern(const CollectiveSpec& spec) {
  check_rooted(spec, "flat");
  const std::uint32_t n = members(spec.shape);
  const bool down = from_root(spec.kind);
  TransferPattern pattern;
  pattern.members = n;
  pattern.ports = n - 1;
  pattern.roles.resize(2);  // root, other
  if (down) {
    for (std::uint32_t r = 1; r < n; ++r) add_lane(pattern.roles[0], r - 1, bytes_each(spec));
  } else {
    add_lane(pattern.roles[1], 0, bytes_each(spec));
  }
  if (n == 1) pattern.roles.resize(1);
  pattern.role_of = [root = spec.root](std::uint32_t member) { return member == root ? 0U : 1U; };
  pattern.port = [root = spec.root, n, down](std::uint32_t member, std::uint32_t p) {
    const std::uint32_t r = relative_rank(member, root, n);
    if (down) return Port{.to = r == 0 ? member_at(p + 1, root, n) : no_member, .to_port = 0};
    return Port{.to = r != 0 && p == 0 ? root : no_member, .to_port = r == 0 ? 0 : r - 1};
  };
  return pattern;
}

double flat_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  check_rooted(spec, "flat");
  const std::uint32_t n = members(spec.shape);
  if (n == 1) return 0;
  const double latency = best_link(rates).latency;
  return latency + static_cast<double>(n - 1) * static_cast<double>(bytes_each(spec)) / member_rate(spec, rates);
}

}  // namespace stepsim
