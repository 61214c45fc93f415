#include "collectives/one_shot.h"

#include <algorithm>
#include <memory>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec, bool two_shot) {
  SpecCheck check(spec, two_shot ? "two-shot" : "one-shot");
  if (two_shot) {
    check.kinds({CollectiveKind::all_reduce});
  } else {
    check.kinds({CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce});
  }
  check.bytes().done();
}

bool is_torus(const CollectiveSpec& spec) {
  return !spec.shape.empty() && std::all_of(spec.shape.begin(), spec.shape.end(),
                                            [](const GroupAxis& axis) { return axis.closed || axis.extent == 1; });
}

// Ranks are row-major over the shape. Port d - 1 on a torus: the displacement whose coordinates spell d.
std::uint32_t displaced(const std::vector<GroupAxis>& shape, std::uint32_t member, std::uint32_t distance) {
  std::uint32_t to = 0;
  std::uint32_t unit = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    const auto n = static_cast<std::uint32_t>(shape[a].extent);
    to += unit * ((member % n + distance % n) % n);
    member /= n;
    distance /= n;
    unit *= n;
  }
  return to;
}

// The same displacement as legs, the shorter way round.
std::vector<Leg> legs_of(const std::vector<GroupAxis>& shape, std::uint32_t distance) {
  std::vector<Leg> legs;
  for (std::size_t a = shape.size(); a-- > 0;) {
    const int n = shape[a].extent;
    const int up = static_cast<int>(distance % static_cast<std::uint32_t>(n));
    distance /= static_cast<std::uint32_t>(n);
    if (up != 0) legs.push_back({static_cast<int>(a), up > n / 2 ? up - n : up});
  }
  std::reverse(legs.begin(), legs.end());
  return legs;
}

// Bytes that a member sends to each other in one step.
Bytes bytes_each(const CollectiveSpec& spec, bool two_shot) {
  const bool whole = spec.kind == CollectiveKind::all_reduce && !two_shot;
  return whole ? spec.bytes : shard_bytes(spec.bytes, members(spec.shape));
}

// One lane per other member; the second step waits for all of the first.
Role role_of(std::uint32_t others, Bytes bytes, bool two_shot) {
  std::vector<Need> all;
  for (std::uint32_t port = 0; port < others; ++port) all.push_back({port, 1, 0});
  RoleWriter role;
  for (std::uint32_t port = 0; port < others; ++port) {
    role.lane();
    role.run(port, 1, bytes);
    if (two_shot) role.run(others + port, 1, bytes, all);
  }
  return role.role();
}

TransferPattern pattern_of(const CollectiveSpec& spec, bool two_shot) {
  validate(spec, two_shot);
  const std::uint32_t count = members(spec.shape);
  const std::uint32_t others = count - 1;
  const Bytes bytes = bytes_each(spec, two_shot);
  const bool torus = is_torus(spec);
  TransferPattern pattern;
  pattern.members = count;
  pattern.ports = others * (two_shot ? 2 : 1);
  pattern.roles = {role_of(bytes == 0 ? 0 : others, bytes, two_shot)};
  pattern.role_of = [](std::uint32_t) { return 0U; };
  pattern.port = [shape = spec.shape, torus, count](std::uint32_t member, std::uint32_t port) {
    const std::uint32_t distance = port % (count - 1) + 1;
    const auto far = static_cast<std::uint32_t>((std::uint64_t{member} + distance) % count);
    return Port{.to = torus ? displaced(shape, member, distance) : far, .to_port = port};
  };
  for (std::uint32_t port = 0; torus && port < pattern.ports; ++port) {
    pattern.words.push_back(legs_of(spec.shape, port % others + 1));
  }
  return pattern;
}

// Hops to the member that is farthest away, each with its axis' latency.
double farthest(const CollectiveSpec& spec, const AxisRates& rates) {
  double latency = 0;
  for (std::size_t a = 0; a < spec.shape.size(); ++a) {
    const int hops = spec.shape[a].extent / 2;
    latency += hops * rates.latency.at(a);
  }
  return latency;
}

// On a torus: the upward links of an axis of n carry 1 + 2 + ... + n/2 transfers from each line of it, N/n times over.
// On one ring these are all, share alike and end together.
double on_torus(const CollectiveSpec& spec, const AxisRates& rates, Bytes bytes) {
  const std::uint32_t count = members(spec.shape);
  double bound = farthest(spec, rates) + static_cast<double>(bytes) / best_link(rates).rate;
  for (std::size_t a = 0; a < spec.shape.size(); ++a) {
    const auto n = static_cast<std::uint32_t>(spec.shape[a].extent);
    if (n == 1) continue;
    const std::uint64_t half = n / 2;
    const std::uint64_t crossings = count / n * (half * (half + 1) / 2);
    const double latency = spec.shape.size() == 1 ? farthest(spec, rates) : rates.latency.at(a);
    bound = std::max(bound, latency + static_cast<double>(bytes) * static_cast<double>(crossings) / rates.rate.at(a));
  }
  return bound;
}

double step_time(const CollectiveSpec& spec, const AxisRates& rates, Bytes bytes) {
  const std::uint32_t count = members(spec.shape);
  if (count < 2 || bytes == 0) return 0;
  const bool jumps =
      std::any_of(spec.shape.begin(), spec.shape.end(), [](const GroupAxis& axis) { return axis.direct; });
  if (!jumps && is_torus(spec)) return on_torus(spec, rates, bytes);
  return best_link(rates).latency + static_cast<double>(bytes) * (count - 1) / member_rate(spec, rates);
}

}  // namespace

TransferPattern one_shot_pattern(const CollectiveSpec& spec) {
  return pattern_of(spec, false);
}

TransferPattern two_shot_pattern(const CollectiveSpec& spec) {
  return pattern_of(spec, true);
}

double one_shot_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec, false);
  return step_time(spec, rates, bytes_each(spec, false));
}

double two_shot_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  validate(spec, true);
  return 2 * step_time(spec, rates, bytes_each(spec, true));
}

}  // namespace stepsim
