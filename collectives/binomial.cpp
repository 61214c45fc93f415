#include "collectives/binomial.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "collectives/member_links.h"
#include "collectives/rooted.h"

namespace stepsim {

namespace {

// ceil(log2 n): the root's children, and the ports of a member: port k leads to, or comes from, 2^k away.
std::uint32_t levels(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

// 2^k under this one stand below r.
std::uint32_t level_of(std::uint32_t r, std::uint32_t n) {
  return r == 0 ? levels(n) : static_cast<std::uint32_t>(std::countr_zero(r));
}

bool has_child(std::uint32_t r, std::uint32_t k, std::uint32_t n) {
  return k < level_of(r, n) && (std::uint64_t{1} << k) < n - r;
}

std::uint32_t subtree(std::uint32_t r, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{1} << level_of(r, n), n - r));
}

// What passes between r and the member above it.
Bytes block(const CollectiveSpec& spec, std::uint32_t r, std::uint32_t n) {
  return in_shards(spec.kind) ? shard_bytes(spec.bytes, n) * subtree(r, n) : spec.bytes;
}

// The largest subtree first; each send needs what came from above (all but the root).
Role sends_down(const CollectiveSpec& spec, std::uint32_t r, std::uint32_t n) {
  Role role;
  if (r != 0) role.needs = {{level_of(r, n), 1, 0}};
  for (std::uint32_t k = level_of(r, n); k-- > 0;) {
    if (!has_child(r, k, n)) continue;
    role.runs.push_back({.port = k, .count = 1, .bytes = block(spec, r + (1U << k), n)});
    role.runs.back().needs = static_cast<std::uint32_t>(role.needs.size());
  }
  role.lanes = {{0, static_cast<std::uint32_t>(role.runs.size())}};
  return role;
}

Role sends_up(const CollectiveSpec& spec, std::uint32_t r, std::uint32_t n) {
  Role role;
  role.lanes = {{0, r == 0 ? 0U : 1U}};
  if (r == 0) return role;
  for (std::uint32_t k = 0; k < level_of(r, n); ++k) {
    if (has_child(r, k, n)) role.needs.push_back({k, 1, 0});
  }
  role.runs = {{.port = level_of(r, n), .count = 1, .bytes = block(spec, r, n)}};
  role.runs[0].needs = static_cast<std::uint32_t>(role.needs.size());
  return role;
}

Port port_of(const CollectiveSpec& spec, std::uint32_t member, std::uint32_t k, std::uint32_t n) {
  const std::uint32_t r = relative_rank(member, spec.root, n);
  Port port{.to = no_member, .to_port = k};
  if (from_root(spec.kind)) {
    if (has_child(r, k, n)) port.to = member_at(r + (1U << k), spec.root, n);
  } else if (r != 0 && k == level_of(r, n)) {
    port.to = member_at(r - (1U << k), spec.root, n);
  }
  return port;
}

// When the last member has what comes down to it. Members above come first in order of rank.
double latest_down(const CollectiveSpec& spec, std::uint32_t n, const LinkCost& link) {
  std::vector<double> has(n, 0.0);
  for (std::uint32_t r = 0; r < n; ++r) {
    double free = has[r];
    for (std::uint32_t k = level_of(r, n); k-- > 0;) {
      if (!has_child(r, k, n)) continue;
      free += static_cast<double>(block(spec, r + (1U << k), n)) / link.rate;
      has[r + (1U << k)] = free + link.latency;
    }
  }
  return *std::max_element(has.begin(), has.end());
}

// When the root has everything: what comes up to a member shares its link, which is busy whenever anything is under way.
double latest_up(const CollectiveSpec& spec, std::uint32_t n, const LinkCost& link) {
  std::vector<double> ready(n, 0.0);
  for (std::uint32_t r = n; r-- > 0;) {
    std::vector<std::pair<double, double>> coming;  // from when, for how long
    for (std::uint32_t k = 0; k < level_of(r, n); ++k) {
      if (!has_child(r, k, n)) continue;
      const std::uint32_t child = r + (1U << k);
      coming.emplace_back(ready[child], static_cast<double>(block(spec, child, n)) / link.rate);
    }
    std::sort(coming.begin(), coming.end());
    double busy_until = 0;
    for (const auto& [from, time] : coming) busy_until = std::max(busy_until, from) + time;
    if (!coming.empty()) ready[r] = busy_until + link.latency;
  }
  return ready[0];
}

}  // namespace

TransferPattern binomial_pattern(const CollectiveSpec& spec) {
  check_rooted(spec, "binomial");
  const std::uint32_t n = members(spec.shape);
  TransferPattern pattern;
  pattern.members = n;
  pattern.ports = levels(n);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // level and size of the subtree -> role
  std::vector<std::uint32_t> role_of(n);                                   // by relative rank
  for (std::uint32_t r = 0; r < n; ++r) {
    const auto role = static_cast<std::uint32_t>(pattern.roles.size());
    const auto [at, is_new] = known.try_emplace({r == 0 ? UINT32_MAX : level_of(r, n), subtree(r, n)}, role);
    if (is_new) pattern.roles.push_back(from_root(spec.kind) ? sends_down(spec, r, n) : sends_up(spec, r, n));
    role_of[r] = at->second;
  }
  pattern.role_of = [role_of, root = spec.root, n](std::uint32_t member) {
    return role_of[relative_rank(member, root, n)];
  };
  pattern.port = [spec, n](std::uint32_t member, std::uint32_t p) { return port_of(spec, member, p, n); };
  return pattern;
}

double binomial_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  check_rooted(spec, "binomial");
  const std::uint32_t n = members(spec.shape);
  if (n == 1) return 0;
  return from_root(spec.kind) ? latest_down(spec, n, best_link(rates)) : latest_up(spec, n, best_link(rates));
}

}  // namespace stepsim
