#include "scenarios/alone_time.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

namespace stepsim {
namespace {

/// A program whose only op is the first collective; the second program does nothing.
StepProgram one_collective(const StepProgram& like) {
  StepProgram program = stepsim::one_collective();
  program.names = like.names;
  program.programs.resize(2);
  return program;
}

Picoseconds latency(const Cluster& cluster, const std::vector<LinkId>& way) {
  Picoseconds sum;
  for (const LinkId id : way) sum += cluster.link(id).latency;
  return sum;
}

/// A network on which the ways of a group's members are apart. Chips stand for their classes.
class Ways {
 public:
  explicit Ways(const Cluster& cluster) : cluster_(cluster) {}

  RouteId route(ChipId from, ChipId to, int axis, int hops);
  [[nodiscard]] const Network& network() const { return network_; }

 private:
  enum class End { way, up, down };
  LinkId link(ChipId owner, End end, int axis, int hops, std::span<const LinkId> way);

  const Cluster& cluster_;
  Network network_;
  std::map<std::tuple<ChipId, End, int, int>, LinkId> links_;
};

/// These links, which the same flows cross, as one: the narrowest.
LinkId Ways::link(ChipId owner, End end, int axis, int hops, std::span<const LinkId> way) {
  const auto [known, is_new] = links_.try_emplace({owner, end, axis, hops});
  if (!is_new) return known->second;
  std::int64_t capacity = max_capacity;
  for (const LinkId id : way) capacity = std::min(capacity, cluster_.link(id).capacity);
  return known->second = network_.add_link(capacity, Picoseconds());
}

/// On a torus each direction is a way of its own. Between slices all that a chip sends goes up to its NIC, and all that
/// it receives comes down from there.
RouteId Ways::route(ChipId from, ChipId to, int axis, int hops) {
  const std::vector<LinkId> way = cluster_.along(from, axis, hops);
  std::vector<Hop> links;
  if (cluster_.axes()[static_cast<std::size_t>(axis)].direct) {
    const std::span<const LinkId> whole(way);
    links.push_back({link(from, End::up, axis, 0, whole.first(way.size() / 2)), 1});
    links.push_back({link(to, End::down, axis, 0, whole.last(way.size() / 2)), 1});
  } else {
    links.push_back({link(from, End::way, axis, hops, way), 1});
  }
  return network_.add_route(links, latency(cluster_, way));
}

}  // namespace

AloneTimes::AloneTimes(const Assembly& assembly, const RunOptions& options) : assembly_(assembly), options_(options) {
  options_.exact_steps = 1;
  options_.record_memory = false;
  options_.progress = nullptr;
}

Picoseconds AloneTimes::of(CollectiveId id, ClassId who) {
  const std::size_t pattern = assembly_.communication.pattern_of[id];
  const std::size_t family = assembly_.communication.patterns[pattern].family;
  if (ways_are_apart(pattern)) {
    const Communicator& groups = assembly_.plan.program.communicators[family];
    const auto [known, is_new] = by_group_.try_emplace({pattern, groups.group_of[who]});
    if (is_new) known->second = play_classes(pattern, groups.group_of[who]);
    return known->second[groups.rank_of[who]];
  }
  const auto [known, is_new] = by_chip_.try_emplace({pattern, assembly_.symmetry->first(who)});
  if (is_new) known->second = play_group(pattern, known->first.second);
  return known->second;
}

bool AloneTimes::ways_are_apart(std::size_t pattern) const {
  if (!assembly_.cluster->faulty_links().empty()) return false;
  const FamilyPattern& one = assembly_.communication.patterns[pattern];
  if (!one.hops.none()) return false;  // they are told by the links of the cluster
  for (std::uint32_t p = 0; p < one.pattern.ports; ++p) {
    if (one.pattern.port(0, p).axis < 0) return false;  // by the cluster's routes, which cross the axes
  }
  std::set<int> axes;
  bool direct = false;
  for (const GroupAxis& axis : assembly_.communication.families[one.family].groups.shape()) {
    if (!axes.insert(axis.hardware_axis).second) return false;
    direct = direct || assembly_.cluster->axes()[static_cast<std::size_t>(axis.hardware_axis)].direct;
  }
  return !direct || (axes.size() == 1 && assembly_.cluster->routes_are_words());
}

std::vector<Picoseconds> AloneTimes::play_classes(std::size_t pattern, std::uint32_t group) const {
  const FamilyPattern& one = assembly_.communication.patterns[pattern];
  const Groups& groups = assembly_.communication.families[one.family].groups;
  const StepProgram& whole = assembly_.plan.program;
  const auto classes = whole.communicators[one.family].members(group);
  const auto count = static_cast<std::uint32_t>(classes.size());
  const auto request =
      std::find(assembly_.communication.pattern_of.begin(), assembly_.communication.pattern_of.end(), pattern) -
      assembly_.communication.pattern_of.begin();
  const TransferPlan& plan = whole.plans[whole.collectives[static_cast<std::size_t>(request)].plan(group)];
  Ways ways(*assembly_.cluster);
  std::vector<RouteId> routes(plan.port.size(), none);
  for (std::uint32_t i = 0; i < routes.size(); ++i) {
    const Port& port = plan.port[i];
    if (port.to == no_member) continue;
    const GroupAxis& axis = groups.shape()[static_cast<std::size_t>(port.axis)];
    routes[i] = ways.route(assembly_.symmetry->first(classes[i / plan.ports]),
                           assembly_.symmetry->first(classes[port.to]), axis.hardware_axis, port.direction * axis.hops);
  }
  StepProgram program = one_collective(whole);
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0U);
  program.program_of.assign(count, 0);
  program.chips_of.assign(count, 1);
  program.communicators.push_back(communicator("alone", count, std::vector<std::uint32_t>(count, 0), ranks));
  program.plans.push_back(plan);
  program.route_tables.push_back(std::move(routes));
  program.collectives.push_back({0, {0}, 0, 0, 0, one.launch});
  const Timeline timeline = simulate(program, ways.network(), options_);
  std::vector<Picoseconds> ends;
  for (ClassId rank = 0; rank < count; ++rank) ends.push_back(timeline.at(0, rank, 0).end);
  return ends;
}

Picoseconds AloneTimes::play_group(std::size_t pattern, ChipId chip) const {
  const FamilyPattern& one = assembly_.communication.patterns[pattern];
  const GroupFamily& family = assembly_.communication.families[one.family];
  Communication alone;
  alone.families.push_back(family);
  alone.patterns.push_back(one);
  alone.patterns[0].family = 0;
  alone.pattern_of = {0};
  const std::vector<bool> issues = takes_part(one.pattern);
  alone.takes_part = [&groups = family.groups, &issues, leader = family.groups.member(chip, 0)](ChipId other) {
    return groups.member(other, 0) == leader && issues[groups.rank_of(other)];
  };
  const Symmetry symmetry = assembly_.folded ? Symmetry(*assembly_.cluster, traffic(*assembly_.cluster, alone))
                                             : Symmetry(*assembly_.cluster);
  StepProgram program = one_collective(assembly_.plan.program);
  Network network;
  lay_out(*assembly_.cluster, alone, {CollectiveRequest{}}, symmetry, program, network);
  for (ClassId who = 0; who < symmetry.classes(); ++who) {
    program.program_of[who] = alone.takes_part(symmetry.first(who)) ? 0 : 1;
  }
  return simulate(program, network, options_).at(0, symmetry.class_of(chip), 0).end;
}

}  // namespace stepsim
