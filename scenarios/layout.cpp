#include "scenarios/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace stepsim {
namespace {

/// Classes that are joined by sending to each other.
class Joined {
 public:
  explicit Joined(std::uint32_t classes) : parent_(classes) { std::iota(parent_.begin(), parent_.end(), 0U); }

  std::uint32_t root(std::uint32_t one) {
    while (parent_[one] != one) one = parent_[one] = parent_[parent_[one]];
    return one;
  }
  /// The lower class is the root.
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

constexpr std::uint32_t no_role = UINT32_MAX;  // of a class that takes no part

/// A pattern as the classes see it: for each class its role, and for each port the class it leads to.
struct ByClass {
  std::vector<std::uint32_t> role;  // per class
  std::vector<Port> port;           // [class * ports + port]; `to` is a class, no_member where it is not used
};

class Layout {
 public:
  Layout(const Cluster& cluster, const Communication& all, const Symmetry& symmetry, StepProgram& program,
         Network& network)
      : cluster_(cluster), all_(all), symmetry_(symmetry), program_(program), network_(network) {}

  void classes();
  void communicators();
  void collective(const CollectiveRequest& request, std::size_t pattern);
  std::vector<LinkClass> take_links() { return std::move(link_classes_); }

 private:
  struct Laid {
    std::vector<std::uint32_t> plans;
    std::uint32_t routes = 0;
    bool done = false;
  };

  [[nodiscard]] ByClass by_class(const FamilyPattern& one) const;
  [[nodiscard]] Communicator communicator(std::size_t family) const;
  std::vector<std::uint32_t> plans(std::size_t pattern);
  std::uint32_t plan(std::size_t pattern, std::uint32_t group);
  std::uint32_t route_table(std::size_t pattern);
  RouteId route(ClassId who, std::uint32_t p, const FamilyPattern& one);
  RouteId folded(ClassId who, const std::vector<LinkId>& links, Picoseconds latency);
  [[nodiscard]] Picoseconds latency(const std::vector<LinkId>& links, const HopCosts& costs) const;
  RouteId spread(ClassId who, const FamilyPattern& one, std::uint32_t p);
  LinkId link(LinkId one);

  const Cluster& cluster_;
  const Communication& all_;
  const Symmetry& symmetry_;
  StepProgram& program_;
  Network& network_;
  std::vector<ByClass> patterns_;
  std::vector<Laid> laid_;
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::uint32_t> plans_;  // pattern, roles and receivers
  std::map<std::vector<RouteId>, std::uint32_t> tables_;
  std::map<std::tuple<ClassId, int, int, std::size_t>, RouteId> along_;  // class, axis, hops, pattern if it has costs
  std::map<std::vector<std::uint64_t>, RouteId> routes_;                 // latency, then links and counts
  std::map<std::uint64_t, LinkId> links_;                                // by Symmetry::LinkClass::key
  std::vector<LinkClass> link_classes_;
};

void Layout::classes() {
  program_.program_of.assign(symmetry_.classes(), 0);
  if (!all_.program_of.empty()) {
    for (ClassId who = 0; who < symmetry_.classes(); ++who) {
      program_.program_of[who] = all_.program_of[symmetry_.first(who)];
    }
  }
  program_.chips_of.clear();
  for (ClassId who = 0; who < symmetry_.classes(); ++who) program_.chips_of.push_back(symmetry_.size(who));
  const auto slow = slow_chips(cluster_);
  if (slow.empty()) return;
  program_.slowness.resize(symmetry_.classes());
  for (const auto& [chip, how] : slow) program_.slowness[symmetry_.class_of(chip)] = how;
}

ByClass Layout::by_class(const FamilyPattern& one) const {
  const Groups& groups = all_.families[one.family].groups;
  ByClass laid;
  for (ClassId who = 0; who < symmetry_.classes(); ++who) {
    const ChipId chip = symmetry_.first(who);
    const std::uint32_t rank = groups.rank_of(chip);
    const bool absent = all_.takes_part && !all_.takes_part(chip);
    laid.role.push_back(absent ? no_role : one.pattern.role_of(rank));
    for (std::uint32_t p = 0; p < one.pattern.ports; ++p) {
      Port port = one.pattern.port(rank, p);
      if (absent) port.to = no_member;
      if (port.to != no_member) port.to = symmetry_.class_of(groups.member(chip, port.to));
      laid.port.push_back(port);
    }
  }
  return laid;
}

/// Groups of classes that send to each other in any of the family's collectives; members by the rank of their lowest
/// chips. Where every chip is a class these are the groups of the mesh.
Communicator Layout::communicator(std::size_t family) const {
  Joined joined(symmetry_.classes());
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (all_.patterns[i].family != family) continue;
    const std::uint32_t ports = all_.patterns[i].pattern.ports;
    for (std::size_t at = 0; at < patterns_[i].port.size(); ++at) {
      const std::uint32_t to = patterns_[i].port[at].to;
      if (to != no_member) joined.join(static_cast<ClassId>(at / ports), to);
    }
  }
  const Groups& groups = all_.families[family].groups;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, ClassId>> order;  // group, rank, class
  for (ClassId who = 0; who < symmetry_.classes(); ++who) {
    order.emplace_back(joined.root(who), groups.rank_of(symmetry_.first(who)), who);
  }
  std::sort(order.begin(), order.end());
  Communicator made;
  made.name = all_.families[family].name;
  made.group_of.resize(symmetry_.classes());
  made.rank_of.resize(symmetry_.classes());
  std::vector<ClassId> members;
  for (std::size_t i = 0; i < order.size(); ++i) {
    members.push_back(std::get<2>(order[i]));
    if (i + 1 < order.size() && std::get<0>(order[i + 1]) == std::get<0>(order[i])) continue;
    made.add_group(members);
    members.clear();
  }
  return made;
}

void Layout::communicators() {
  for (const FamilyPattern& one : all_.patterns) patterns_.push_back(by_class(one));
  laid_.resize(patterns_.size());
  for (std::size_t family = 0; family < all_.families.size(); ++family) {
    program_.communicators.push_back(communicator(family));
  }
}

void Layout::collective(const CollectiveRequest& request, std::size_t pattern) {
  Laid& laid = laid_[pattern];
  if (!laid.done) laid = {plans(pattern), route_table(pattern), true};
  program_.collectives.push_back({static_cast<CommunicatorId>(all_.patterns[pattern].family), laid.plans, laid.routes,
                                  program_.name(to_string(request.kind)), request.bytes,
                                  all_.patterns[pattern].launch});
}

std::vector<std::uint32_t> Layout::plans(std::size_t pattern) {
  const std::uint32_t groups = program_.communicators[all_.patterns[pattern].family].groups();
  std::vector<std::uint32_t> plans;
  for (std::uint32_t group = 0; group < groups; ++group) plans.push_back(plan(pattern, group));
  if (std::all_of(plans.begin(), plans.end(), [&](std::uint32_t one) { return one == plans[0]; })) plans.resize(1);
  return plans;
}

/// Groups that look alike share a plan.
std::uint32_t Layout::plan(std::size_t pattern, std::uint32_t group) {
  const TransferPattern& whole = all_.patterns[pattern].pattern;
  const ByClass& by_class = patterns_[pattern];
  const Communicator& family = program_.communicators[all_.patterns[pattern].family];
  std::vector<std::uint32_t> looks;
  for (const ClassId who : family.members(group)) {
    looks.push_back(by_class.role[who]);
    for (std::uint32_t p = 0; p < whole.ports; ++p) {
      const std::uint32_t to = by_class.port[who * whole.ports + p].to;
      looks.push_back(to == no_member ? no_member : family.rank_of[to]);
    }
  }
  const auto [known, is_new] = plans_.try_emplace({pattern, looks}, static_cast<std::uint32_t>(program_.plans.size()));
  if (!is_new) return known->second;

  TransferPlan plan;
  plan.members = static_cast<std::uint32_t>(family.members(group).size());
  plan.ports = whole.ports;
  plan.eager = whole.eager;
  plan.bystanders = whole.bystanders;
  std::map<std::uint32_t, std::uint32_t> roles;  // of the pattern -> of the plan
  for (const ClassId who : family.members(group)) {
    const auto [role, is_first] = roles.try_emplace(by_class.role[who], static_cast<std::uint32_t>(plan.roles.size()));
    if (is_first) plan.roles.push_back(role->first == no_role ? Role() : whole.roles[role->first]);
    plan.role_of.push_back(role->second);
    for (std::uint32_t p = 0; p < whole.ports; ++p) {
      Port port = by_class.port[who * whole.ports + p];
      if (port.to != no_member) port.to = family.rank_of[port.to];
      plan.port.push_back(port);
    }
  }
  check(plan);
  program_.plans.push_back(std::move(plan));
  return known->second;
}

std::uint32_t Layout::route_table(std::size_t pattern) {
  const FamilyPattern& one = all_.patterns[pattern];
  std::vector<RouteId> table(patterns_[pattern].port.size(), none);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (patterns_[pattern].port[i].to == no_member) continue;
    const auto p = static_cast<std::uint32_t>(i % one.pattern.ports);
    table[i] = route(static_cast<ClassId>(i / one.pattern.ports), p, one);
  }
  const auto [entry, is_new] = tables_.try_emplace(table, static_cast<std::uint32_t>(program_.route_tables.size()));
  if (is_new) program_.route_tables.push_back(std::move(table));
  return entry->second;
}

RouteId Layout::route(ClassId who, std::uint32_t p, const FamilyPattern& one) {
  if (!one.pattern.spreads.empty() && one.pattern.spreads[p] != Spread::none) {
    return spread(who, one, p);
  }
  const Groups& groups = all_.families[one.family].groups;
  const ChipId from = symmetry_.first(who);
  const std::vector<Hops> way = way_of(one, groups, p);
  const auto laid = [&](const std::vector<LinkId>& links) { return folded(who, links, latency(links, one.hops)); };
  if (way.empty()) {
    const std::uint32_t to = one.pattern.port(groups.rank_of(from), p).to;
    return laid(cluster_.routes(from, groups.member(from, to)).front().links);
  }
  if (way.size() > 1)
    return laid(Move{way[0].axis, way[0].hops, {}, {way.begin() + 1, way.end()}}.route(cluster_, from));
  const auto costs = one.hops.none() ? 0 : static_cast<std::size_t>(&one - all_.patterns.data()) + 1;
  const auto [entry, is_new] = along_.try_emplace({who, way[0].axis, way[0].hops, costs});
  if (is_new) entry->second = laid(cluster_.along(from, way[0].axis, way[0].hops));
  return entry->second;
}

/// A spread holds its links together, and is delivered when the farthest member has it.
RouteId Layout::spread(ClassId who, const FamilyPattern& one, std::uint32_t p) {
  const Groups& groups = all_.families[one.family].groups;
  const ChipId chip = symmetry_.first(who);
  const std::uint32_t own = groups.rank_of(chip);
  Picoseconds longest;
  for (std::uint32_t rank = 0; rank < groups.members(); ++rank) {
    if (!reaches(one.pattern, own, p, rank)) continue;
    const ChipId other = groups.member(chip, rank);
    longest = std::max(longest, latency(cluster_.routes(chip, other).front().links, one.hops));
  }
  return folded(who, spread_links(cluster_, groups, one.pattern, chip, p), longest);
}

/// What the links take, and what driving them costs by the slowest kind among them.
Picoseconds Layout::latency(const std::vector<LinkId>& links, const HopCosts& costs) const {
  Picoseconds sum;
  bool network = false;
  bool direct = true;
  for (const LinkId one : links) {
    const GraphLink link = cluster_.link(one);
    sum += link.latency;
    if (costs.none()) continue;
    for (const VertexId end : {link.from, link.to}) {
      const VertexKind kind = end < cluster_.chips() ? VertexKind::chip : cluster_.vertex(end).kind;
      network = network || kind == VertexKind::nic || kind == VertexKind::network_switch;
      direct = direct && (kind == VertexKind::chip || kind == VertexKind::nvlink_switch);
    }
  }
  return sum + (network ? costs.network : direct ? costs.direct : costs.pcie);
}

/// The route of one chip of a class, on classes of links. Each flow of the class crosses links of a class equally
/// often, and each of those links is crossed equally often: flows x crossings / links times.
RouteId Layout::folded(ClassId who, const std::vector<LinkId>& links, Picoseconds latency) {
  std::vector<Hop> hops;
  for (const LinkId one : links) {
    const LinkId id = link(one);
    const auto same = std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.link == id; });
    if (same == hops.end()) {
      hops.push_back({id, 1});
    } else {
      ++same->count;
    }
  }
  std::vector<std::uint64_t> looks{static_cast<std::uint64_t>(latency.count())};
  for (Hop& hop : hops) {
    const std::uint64_t crossings = std::uint64_t{hop.count} * symmetry_.size(who);
    const std::uint32_t shared_by = link_classes_[hop.link].links;
    if (crossings % shared_by != 0) throw std::logic_error("fold: links of a class are crossed unequally often");
    hop.count = static_cast<std::uint32_t>(crossings / shared_by);
    looks.insert(looks.end(), {hop.link, hop.count});
  }
  const auto [entry, is_new] = routes_.try_emplace(looks);
  if (is_new) entry->second = network_.add_route(hops, latency);
  return entry->second;
}

LinkId Layout::link(LinkId one) {
  const Symmetry::LinkClass like = symmetry_.link_class(one);
  const auto [entry, is_new] = links_.try_emplace(like.key);
  if (is_new) {
    const GraphLink link = cluster_.link(one);
    entry->second = network_.add_link(link.capacity, link.latency);
    link_classes_.push_back({one, like.links});
  }
  return entry->second;
}

}  // namespace

std::vector<LinkClass> lay_out(const Cluster& cluster, const Communication& communication,
                               const std::vector<CollectiveRequest>& requests, const Symmetry& symmetry,
                               StepProgram& program, Network& network) {
  Layout layout(cluster, communication, symmetry, program, network);
  layout.classes();
  layout.communicators();
  for (std::size_t i = 0; i < requests.size(); ++i) layout.collective(requests[i], communication.pattern_of[i]);
  return layout.take_links();
}

}  // namespace stepsim
