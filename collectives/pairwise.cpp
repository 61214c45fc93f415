#include "collectives/pairwise.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/member_links.h"
#include "collectives/refusal.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec) {
  const std::size_t n = members(spec.shape);
  SpecCheck check(spec, "pairwise");
  check.kinds({CollectiveKind::all_to_all}).bytes();
  check.expect(spec.sends.empty() || spec.sends.size() == n * n, "sends",
               "expected " + std::to_string(n) + " x " + std::to_string(n) + " sizes, found " +
                   std::to_string(spec.sends.size()));
  const auto negative = std::find_if(spec.sends.begin(), spec.sends.end(), [](Bytes bytes) { return bytes < 0; });
  if (negative != spec.sends.end())
    check.expect(false, "sends", "expected 0 or more, found " + std::to_string(*negative));
  check.done();
}

Bytes uniform(const CollectiveSpec& spec, std::uint32_t n) {
  return shard_bytes(shard_bytes(spec.bytes, n), n);
}

void add_lane(Role& role, std::uint32_t port, Bytes bytes) {
  if (bytes == 0) return;
  role.lanes.push_back({static_cast<std::uint32_t>(role.runs.size()), 1});
  role.runs.push_back({.port = port, .count = 1, .bytes = bytes});
}

// Uniform: one role for all. Ragged: one for each member.
std::vector<Role> roles_of(const CollectiveSpec& spec, std::uint32_t n) {
  std::vector<Role> roles(spec.sends.empty() ? 1 : n);
  for (std::uint32_t member = 0; member < roles.size(); ++member) {
    for (std::uint32_t d = 1; d < n; ++d) {
      const std::size_t pair = std::size_t{member} * n + (member + d) % n;
      add_lane(roles[member], d - 1, spec.sends.empty() ? uniform(spec, n) : spec.sends[pair]);
    }
  }
  return roles;
}

}  // namespace

double busiest_member(const CollectiveSpec& spec) {
  const std::uint32_t n = members(spec.shape);
  if (spec.sends.empty()) return static_cast<double>(n - 1) * static_cast<double>(uniform(spec, n));
  std::vector<double> out(n, 0.0);
  std::vector<double> in(n, 0.0);
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const auto bytes = static_cast<double>(spec.sends[std::size_t{from} * n + to]);
      out[from] += bytes;
      in[to] += bytes;
    }
  }
  return std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
}

TransferPattern pairwise_pattern(const CollectiveSpec& spec) {
  validate(spec);
  const std::uint32_t n = members(spec.shape);
  TransferPattern pattern;
  pattern.members = n;
  pattern.ports = n - 1;
  pattern.roles = roles_of(spec, n);
  const bool alike = spec.sends.empty();
  pattern.role_of = [alike](std::uint32_t member) { return alike ? 0 : member; };
  pattern.port = [n, alike, used = ports_in_use(pattern)](std::uint32_t member, std::uint32_t p) {
    const bool sends = used[alike ? 0 : member][p];
    return Port{.to = sends ? static_cast<std::uint32_t>((std::uint64_t{member} + p + 1) % n) : no_member,
                .to_port = p};
  };
  return pattern;
}

double pairwise_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec);
  const double most = busiest_member(spec);
  if (most == 0) return 0;
  const double latency = best_link(rates).latency;
  return latency + most / member_rate(spec, rates);
}

}  // namespace stepsim
