#include "collectives/all_to_all.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "collectives/refusal.h"
#include "collectives/stage.h"
#include "collectives/twisted_ways.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "direct").kinds({CollectiveKind::all_to_all}).alike().bytes().done();
}

// Steps along one axis to any other member, and to itself. Antipodes of a ring are reached either way; behind a switch
// either way is the same, and one message goes to each.
std::vector<int> steps_along(const GroupAxis& axis) {
  std::vector<int> steps;
  const int n = axis.extent;
  const int most = axis.closed ? n / 2 : n - 1;
  const int least = axis.closed && axis.direct ? most - n + 1 : -most;
  for (int d = least; d <= most; ++d) steps.push_back(d);
  return steps;
}

// One way from a member to another.
struct Way {
  std::vector<int> steps;  // per axis
  Bytes bytes = 0;
};

bool is_antipode(const GroupAxis& axis, int steps) {
  return axis.is_ring() && 2 * std::abs(steps) == axis.extent;
}

// The bytes of a pair are cut evenly among the ways between them; what is left over goes first come, first served.
Bytes share_of(const std::vector<GroupAxis>& shape, const std::vector<int>& steps, Bytes chunk) {
  Bytes ways = 1;
  Bytes number = 0;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!is_antipode(shape[a], steps[a])) continue;
    ways *= 2;
    number = 2 * number + (steps[a] < 0 ? 1 : 0);
  }
  return chunk / ways + (number < chunk % ways ? 1 : 0);
}

std::vector<Way> ways_of_twisted(const std::vector<GroupAxis>& shape, Bytes chunk) {
  std::vector<Way> all;
  for (TwistedWay& way : twisted_ways(shape)) {
    const Bytes bytes = chunk / way.of + (way.number < chunk % way.of ? 1 : 0);
    if (bytes > 0) all.push_back({std::move(way.steps), bytes});
  }
  return all;
}

// Ways that carry anything, in the order of their steps.
std::vector<Way> ways(const CollectiveSpec& spec) {
  const std::uint32_t count = members(spec.shape);
  const Bytes chunk = shard_bytes(shard_bytes(spec.bytes, count), count);
  if (is_twisted(spec.shape)) return ways_of_twisted(spec.shape, chunk);
  std::vector<Way> all{{{}, 0}};
  for (const GroupAxis& axis : spec.shape) {
    std::vector<Way> longer;
    for (const Way& way : all) {
      for (const int d : steps_along(axis)) {
        longer.push_back(way);
        longer.back().steps.push_back(d);
      }
    }
    all = std::move(longer);
  }
  for (Way& way : all) way.bytes = share_of(spec.shape, way.steps, chunk);
  std::erase_if(all, [](const Way& way) {
    return way.bytes == 0 || std::all_of(way.steps.begin(), way.steps.end(), [](int d) { return d == 0; });
  });
  return all;
}

// Members in like positions along open axes have the same ways.
std::uint32_t role_number(const std::vector<GroupAxis>& shape, std::uint32_t member) {
  std::uint32_t role = 0;
  std::uint32_t unit = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    const auto n = static_cast<std::uint32_t>(shape[a].extent);
    if (!is_round(shape[a])) {
      role += unit * (member % n);
      unit *= n;
    }
    member /= n;
  }
  return role;
}

Role role_of(const std::vector<GroupAxis>& shape, std::uint32_t member, const std::vector<Way>& all) {
  Role role;
  for (std::uint32_t p = 0; p < all.size(); ++p) {
    if (end_of(shape, member, all[p].steps) == no_member) continue;
    role.lanes.push_back({static_cast<std::uint32_t>(role.runs.size()), 1});
    role.runs.push_back({.port = p, .count = 1, .bytes = all[p].bytes});
  }
  return role;
}

// Bytes over the busiest link of an axis, one way (all_to_all.h). Along direct axes a pair is joined at once, by links of
// the outermost axis on which it differs: those of axis a carry what stays within all axes outside of it.
double axis_load(const CollectiveSpec& spec, std::size_t a) {
  const GroupAxis& axis = spec.shape[a];
  const std::uint32_t count = members(spec.shape);
  const double n = axis.extent;
  const double chunk = static_cast<double>(shard_bytes(shard_bytes(spec.bytes, count), count));
  if (axis.direct) {
    double inside = 1;
    for (std::size_t b = a; b < spec.shape.size(); ++b) inside *= spec.shape[b].extent;
    return chunk * inside * (n - 1) / n;
  }
  const double pairs = axis.closed ? std::floor(n * n / 4) / 2 : std::floor(n / 2) * std::ceil(n / 2);
  return chunk * count / n * pairs;
}

// The part of all members that has a way: along an open axis those near enough to the other end stay inside.
double share_that_sends(const std::vector<GroupAxis>& shape, const std::vector<int>& steps) {
  double share = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (!is_round(shape[a])) share *= 1 - static_cast<double>(std::abs(steps[a])) / shape[a].extent;
  }
  return share;
}

// In a twisted torus links of a round axis are loaded alike, so all the steps along it are shared by both directions.
double twisted_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  const double count = members(spec.shape);
  std::vector<double> load(spec.shape.size(), 0);
  double latency = 0;
  for (const Way& way : ways(spec)) {
    const double bytes = static_cast<double>(way.bytes) * share_that_sends(spec.shape, way.steps);
    double own = 0;
    for (std::size_t a = 0; a < load.size(); ++a) {
      load[a] += bytes * std::abs(way.steps[a]) / 2;
      own += std::abs(way.steps[a]) * rates.latency.at(a);
    }
    latency = std::max(latency, own);
  }
  double bound = count > 1 ? latency : 0;
  for (std::size_t a = 0; a < load.size(); ++a) {
    if (!is_round(spec.shape[a])) load[a] = axis_load(spec, a);
    if (spec.shape[a].extent > 1) bound = std::max(bound, load[a] / rates.rate.at(a) + rates.latency.at(a));
  }
  return bound;
}

}  // namespace

TransferPattern all_to_all_pattern(const CollectiveSpec& spec) {
  validate(spec);
  const std::vector<Way> all = ways(spec);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  pattern.ports = static_cast<std::uint32_t>(all.size());
  std::map<std::uint32_t, std::uint32_t> first_of;  // role -> its lowest member
  for (std::uint32_t m = 0; m < pattern.members; ++m) first_of.try_emplace(role_number(spec.shape, m), m);
  for (const auto& [role, member] : first_of) pattern.roles.push_back(role_of(spec.shape, member, all));
  for (const Way& way : all) {
    std::vector<Leg>& legs = pattern.words.emplace_back();
    for (std::size_t a = 0; a < way.steps.size(); ++a) {
      if (way.steps[a] != 0) legs.push_back({static_cast<int>(a), way.steps[a]});
    }
  }
  pattern.role_of = [shape = spec.shape](std::uint32_t member) { return role_number(shape, member); };
  pattern.port = [shape = spec.shape, all](std::uint32_t member, std::uint32_t p) {
    return Port{.to = end_of(shape, member, all[p].steps), .to_port = p};
  };
  return pattern;
}

double all_to_all_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  if (is_twisted(spec.shape)) return twisted_bound(spec, rates);
  double latency = 0;
  double bound = 0;
  for (std::size_t a = 0; a < spec.shape.size(); ++a) {
    const GroupAxis& axis = spec.shape[a];
    const LinkCost link{rates.rate.at(a), rates.latency.at(a)};
    if (axis.extent < 2) continue;
    latency += axis.direct ? 0 : (axis.closed ? axis.extent / 2 : axis.extent - 1) * link.latency;
    bound = std::max(bound, axis_load(spec, a) / link.rate + link.latency);
  }
  return std::max(bound, latency);
}

}  // namespace stepsim
