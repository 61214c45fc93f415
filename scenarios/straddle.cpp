#include "scenarios/straddle.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "scenarios/link_rates.h"
#include "topology/groups.h"
#include "topology/ring_order.h"
#include "topology/summary.h"

namespace stepsim {

namespace {

struct Step {
  ChipId from = 0;
  ChipId to = 0;
  double rate = 0;
  std::string kind;  // of the link that sets it
};

bool is_slow(double rate, double fast) {
  return 2 * rate <= fast;
}

/// Steps of one group, in order.
using GroupSteps = std::vector<Step>;

/// What the steps say of an axis, but for `fits`.
std::optional<Straddle> judge(const MeshAxis& axis, const std::vector<GroupSteps>& groups) {
  Straddle found;
  found.axis = axis.name;
  found.extent = axis.extent;
  found.slow = std::numeric_limits<double>::infinity();
  for (const GroupSteps& group : groups) {
    for (const Step& step : group) {
      found.fast = std::max(found.fast, step.rate);
      found.slow = std::min(found.slow, step.rate);
    }
  }
  if (groups.empty() || !is_slow(found.slow, found.fast)) return std::nullopt;
  std::set<std::string> fast_kinds;
  std::set<std::string> slow_kinds;
  for (const GroupSteps& group : groups) {
    const bool first = found.slow_steps == 0;
    for (const Step& step : group) {
      (is_slow(step.rate, found.fast) ? slow_kinds : fast_kinds).insert(step.kind);
      if (!first || !is_slow(step.rate, found.fast)) continue;
      ++found.slow_steps;
      if (found.between.size() < most_straddling_steps) found.between.emplace_back(step.from, step.to);
    }
    if (first) found.steps = static_cast<std::uint32_t>(group.size());
  }
  found.fast_kinds.assign(fast_kinds.begin(), fast_kinds.end());
  found.slow_kinds.assign(slow_kinds.begin(), slow_kinds.end());
  return found;
}

/// Networks whose links are alike along each hardware axis: a step between two members goes along the outermost axis on
/// which their places differ, at the rate of that axis. The group of chip 0 stands for all.
std::optional<Straddle> by_hardware_axis(const Cluster& cluster, LinkRates& rates, const Mesh& mesh, int mesh_axis) {
  const std::vector<GroupAxis> shape = mesh.group_shape({mesh_axis});
  std::vector<Step> along;
  double fast = 0;
  for (GroupAxis axis : shape) {
    if (!axis.direct) axis.hops = 1;  // interleaved groups share the links between neighbours: those are no slower
    const LinkRates::Step step = rates.step(axis);
    along.push_back({0, 0, step.rate, cable_kind(cluster.link(step.narrowest).kind)});
    fast = std::max(fast, step.rate);
  }
  const auto slow = [&](const Step& step) { return is_slow(step.rate, fast); };
  if (std::none_of(along.begin(), along.end(), slow)) return std::nullopt;
  const Groups groups(mesh.hardware(), shape);
  GroupSteps steps;
  for (std::uint32_t rank = 0; rank + 1 < groups.members(); ++rank) {
    std::uint32_t inner = groups.members();
    std::size_t axis = 0;
    for (; axis < shape.size(); ++axis) {
      inner /= static_cast<std::uint32_t>(shape[axis].extent);
      if ((rank + 1) % inner == 0) break;
    }
    Step step = along[axis];
    step.from = groups.member(0, rank);
    step.to = groups.member(0, rank + 1);
    steps.push_back(std::move(step));
  }
  std::optional<Straddle> found = judge(mesh.axes()[static_cast<std::size_t>(mesh_axis)], {steps});
  for (std::size_t axis = 0; found && axis < shape.size(); ++axis) {
    if (!slow(along[axis])) found->fits *= shape[axis].extent;
  }
  return found;
}

/// Members in the order of the first ring that NCCL's search finds.
std::vector<ChipId> ring_of(const Cluster& cluster, const std::vector<ChipId>& members) {
  if (members.size() < 3 || members.size() > most_members_to_order) return members;
  const std::vector<std::vector<std::uint32_t>> orders = ring_orders(cluster, members);
  std::vector<ChipId> order;
  for (const std::uint32_t rank : orders[0]) order.push_back(members[rank]);
  return order;
}

std::vector<LinkId> route(const Cluster& cluster, ChipId from, ChipId to) {
  return cluster.routes(from, to)[0].links;
}

Step slowest_link(const Cluster& cluster, ChipId from, ChipId to, const std::map<LinkId, int>& flows) {
  Step step{from, to, std::numeric_limits<double>::infinity(), ""};
  for (const LinkId id : route(cluster, from, to)) {
    const GraphLink link = cluster.link(id);
    const double rate = static_cast<double>(link.capacity) / flows.at(id);
    if (rate < step.rate) step.kind = cable_kind(link.kind);
    step.rate = std::min(step.rate, rate);
  }
  return step;
}

/// Rings through lists of members, all at once, on links as they are listed.
std::vector<GroupSteps> ring_steps(const Cluster& cluster, const std::vector<std::vector<ChipId>>& groups,
                                   bool both_ways) {
  std::vector<std::vector<ChipId>> rings;
  std::map<LinkId, int> flows;
  const auto cross = [&](ChipId from, ChipId to) {
    for (const LinkId link : route(cluster, from, to)) ++flows[link];
  };
  for (const std::vector<ChipId>& members : groups) {
    const std::vector<ChipId>& ring = rings.emplace_back(ring_of(cluster, members));
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const ChipId next = ring[(i + 1) % ring.size()];
      cross(ring[i], next);
      if (both_ways && ring.size() > 2) cross(next, ring[i]);
    }
  }
  std::vector<GroupSteps> all;
  for (const std::vector<ChipId>& ring : rings) {
    GroupSteps& steps = all.emplace_back();
    for (std::size_t i = 0; i < ring.size(); ++i) {
      steps.push_back(slowest_link(cluster, ring[i], ring[(i + 1) % ring.size()], flows));
    }
  }
  return all;
}

std::vector<std::vector<ChipId>> members_of(const Mesh::Groups& groups) {
  std::vector<std::vector<ChipId>> members(groups.group_of.size() / groups.members,
                                           std::vector<ChipId>(groups.members));
  for (ChipId chip = 0; chip < groups.group_of.size(); ++chip) {
    members[groups.group_of[chip]][groups.rank_of[chip]] = chip;
  }
  return members;
}

/// The largest part of the groups, cut evenly, that is fast throughout.
int largest_fast(const Cluster& cluster, const std::vector<std::vector<ChipId>>& groups, double fast, bool both_ways) {
  const std::size_t extent = groups[0].size();
  for (std::size_t part = extent / 2; part > 1; --part) {
    if (extent % part != 0) continue;
    std::vector<std::vector<ChipId>> parts;
    for (const std::vector<ChipId>& group : groups) {
      for (auto first = group.begin(); first != group.end(); first += static_cast<std::ptrdiff_t>(part)) {
        parts.emplace_back(first, first + static_cast<std::ptrdiff_t>(part));
      }
    }
    bool all_fast = true;
    for (const GroupSteps& steps : ring_steps(cluster, parts, both_ways)) {
      for (const Step& step : steps) all_fast = all_fast && !is_slow(step.rate, fast);
    }
    if (all_fast) return static_cast<int>(part);
  }
  return 1;
}

std::optional<Straddle> by_rings(const Cluster& cluster, bool both_ways, const Mesh& mesh, int mesh_axis) {
  const std::vector<std::vector<ChipId>> groups = members_of(mesh.groups({mesh_axis}));
  std::optional<Straddle> found =
      judge(mesh.axes()[static_cast<std::size_t>(mesh_axis)], ring_steps(cluster, groups, both_ways));
  if (found) found->fits = largest_fast(cluster, groups, found->fast, both_ways);
  return found;
}

}  // namespace

std::vector<Straddle> straddles(const Scenario& scenario, const Cluster& cluster, const Mesh& mesh) {
  const bool both_ways = scenario.ring != RingStyle::one_way;
  ClusterSpec spec = cluster.spec();
  spec.link_faults.clear();
  std::optional<Cluster> healthy;
  if (!cluster.spec().link_faults.empty()) healthy.emplace(build(spec));
  const Cluster& links = healthy ? *healthy : cluster;
  LinkRates rates(links, both_ways);
  std::vector<Straddle> all;
  for (int axis = 0; axis < static_cast<int>(mesh.axes().size()); ++axis) {
    if (mesh.axes()[static_cast<std::size_t>(axis)].extent < 2) continue;
    const std::optional<Straddle> found =
        links.routes_are_words() ? by_hardware_axis(links, rates, mesh, axis) : by_rings(links, both_ways, mesh, axis);
    if (found) all.push_back(*found);
  }
  return all;
}

}  // namespace stepsim
