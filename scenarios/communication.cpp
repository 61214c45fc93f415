#include "scenarios/communication.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scenarios/placement.h"

namespace stepsim {
namespace {

using Way = std::vector<std::pair<int, int>>;  // hardware axis, hops

/// What the members of a family's groups do, by rank.
struct Ranks {
  std::vector<std::uint32_t> colour;                         // equal only if all roles are
  std::map<Way, std::vector<bool>> moves;                    // hardware axis, hops: who sends so
  std::vector<std::pair<std::size_t, std::uint32_t>> sends;  // pattern, port: by the cluster's routes
  std::vector<Spread> spreads;                               // to or from all members
};

Ranks ranks(const Communication& all, std::size_t family) {
  const Groups& groups = all.families[family].groups;
  Ranks ranks;
  ranks.colour.assign(groups.members(), 0);
  for (std::size_t i = 0; i < all.patterns.size(); ++i) {
    if (all.patterns[i].family != family) continue;
    const TransferPattern& pattern = all.patterns[i].pattern;
    std::vector<std::uint32_t> role(groups.members(), 0);
    if (pattern.roles.size() > 1) {
      for (std::uint32_t rank = 0; rank < groups.members(); ++rank) role[rank] = pattern.role_of(rank);
      tell_apart(ranks.colour, role);
    }
    for (std::uint32_t p = 0; p < pattern.ports; ++p) {
      if (!pattern.spreads.empty() && pattern.spreads[p] != Spread::none) {
        ranks.spreads.push_back(pattern.spreads[p]);
        continue;
      }
      Way way;
      for (const Hops& leg : way_of(all.patterns[i], groups, p)) way.emplace_back(leg.axis, leg.hops);
      if (way.empty()) {
        ranks.sends.emplace_back(i, p);
        continue;
      }
      std::vector<bool>& by = ranks.moves[way];
      by.resize(groups.members(), false);
      for (std::uint32_t rank = 0; rank < groups.members(); ++rank) {
        if (all.patterns[i].used[role[rank]][p]) by[rank] = true;
      }
    }
  }
  return ranks;
}

bool all_true(const std::vector<bool>& list) {
  return std::find(list.begin(), list.end(), false) == list.end();
}

/// Adds the chips that send by this move; everyone stays everyone.
void add_move(std::map<Way, Move>& moves, const Cluster& cluster, const Groups& groups, const Way& way,
              const std::vector<bool>& by_rank, const std::function<bool(ChipId)>& takes_part) {
  if (std::find(by_rank.begin(), by_rank.end(), true) == by_rank.end()) return;
  const auto [known, is_new] = moves.try_emplace(way, Move{way[0].first, way[0].second, {}});
  Move& move = known->second;
  if (is_new) {
    for (std::size_t leg = 1; leg < way.size(); ++leg) move.then.push_back({way[leg].first, way[leg].second});
  }
  if (!is_new && move.by.empty()) return;
  if (all_true(by_rank) && !takes_part) {
    move.by.clear();
    return;
  }
  move.by.resize(cluster.chips(), false);
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    if (takes_part && !takes_part(chip)) continue;
    if (by_rank[groups.rank_of(chip)]) move.by[chip] = true;
  }
}

/// Kinds of sends in the order in which they appear: a pattern's port at the sender and at the receiver.
using Kinds = std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::uint32_t>;

void add_sends(std::vector<Send>& sends, const Cluster& cluster, const Communication& all,
               const std::pair<std::size_t, std::uint32_t>& way, Kinds& kinds) {
  const FamilyPattern& one = all.patterns[way.first];
  const Groups& groups = all.families[one.family].groups;
  std::map<std::uint32_t, std::uint32_t> own;  // by the receiver's port
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    if (all.takes_part && !all.takes_part(chip)) continue;
    const Port port = one.pattern.port(groups.rank_of(chip), way.second);
    if (port.to == no_member) continue;
    const auto [kind, is_new] = own.try_emplace(port.to_port);
    if (is_new) {
      kind->second = kinds.try_emplace({way.first, way.second, port.to_port}, static_cast<std::uint32_t>(kinds.size()))
                         .first->second;
    }
    sends.push_back({chip, groups.member(chip, port.to), 0, kind->second});
  }
}

/// A spread is alike where its ways to all members are: each distance between ranks is a kind of send. Where everyone
/// reaches everyone by jumps along direct axes, those jumps say the same.
void add_spreads(Traffic& all, std::map<Way, Move>& moves, const Cluster& cluster, const Groups& groups,
                 std::size_t family, Kinds& kinds) {
  const auto jumps = [&](const GroupAxis& axis) {
    return axis.closed && cluster.axes()[static_cast<std::size_t>(axis.hardware_axis)].direct;
  };
  if (std::all_of(groups.shape().begin(), groups.shape().end(), jumps)) {
    for (const GroupAxis& axis : groups.shape()) {
      for (int step = 1; step < axis.extent; ++step) {
        const Way way{{axis.hardware_axis, step * axis.hops}};
        moves.insert_or_assign(way, Move{axis.hardware_axis, step * axis.hops, {}});
      }
    }
    return;
  }
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const std::uint32_t rank = groups.rank_of(chip);
    for (std::uint32_t by = 1; by < groups.members(); ++by) {
      const auto kind = kinds.try_emplace({SIZE_MAX - family, by, 0}, static_cast<std::uint32_t>(kinds.size())).first;
      all.sends.push_back({chip, groups.member(chip, (rank + by) % groups.members()), 0, kind->second});
    }
  }
}

/// Chips by speed: 0 where it is nominal.
std::vector<std::uint32_t> speeds(const Cluster& cluster) {
  std::vector<std::uint32_t> colours(cluster.chips(), 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (const auto& [chip, how] : slow_chips(cluster)) {
    colours[chip] =
        known.try_emplace({how.slower, how.than}, static_cast<std::uint32_t>(known.size() + 1)).first->second;
  }
  return colours;
}

}  // namespace

Communication lone_pattern(Groups groups, FamilyPattern pattern) {
  Communication all;
  all.families.push_back({"group", std::move(groups)});
  pattern.family = 0;
  all.patterns.push_back(std::move(pattern));
  all.pattern_of = {0};
  return all;
}

Communication lone_pattern(Groups groups, TransferPattern pattern) {
  FamilyPattern one;
  one.used = ports_in_use(pattern);
  one.pattern = std::move(pattern);
  return lone_pattern(std::move(groups), std::move(one));
}

StepProgram one_collective() {
  StepProgram program;
  Op op;
  op.stream = program.stream("collective", false);
  op.kind = OpKind::collective;
  op.collective = 0;
  program.programs.emplace_back().add(op);
  return program;
}

std::vector<LinkId> spread_links(const Cluster& cluster, const Groups& groups, const TransferPattern& pattern,
                                 ChipId chip, std::uint32_t port) {
  std::vector<LinkId> links;
  const auto add = [&](ChipId from, ChipId to) {
    const std::vector<LinkId> way = cluster.routes(from, to).front().links;
    links.insert(links.end(), way.begin(), way.end());
  };
  const std::uint32_t own = groups.rank_of(chip);
  for (std::uint32_t rank = 0; rank < groups.members(); ++rank) {
    if (!reaches(pattern, own, port, rank)) continue;
    const ChipId other = groups.member(chip, rank);
    if (pattern.spreads[port] != Spread::reduction) add(chip, other);
    if (pattern.spreads[port] != Spread::multicast) add(other, chip);
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

std::vector<Hops> way_of(const FamilyPattern& one, const Groups& groups, std::uint32_t port) {
  std::vector<Hops> way;
  const auto add = [&](int axis, int steps) {
    const GroupAxis& of = groups.shape()[static_cast<std::size_t>(axis)];
    way.push_back({of.hardware_axis, steps * of.hops});
  };
  if (!one.pattern.words.empty()) {
    for (const Leg& leg : one.pattern.words[port]) add(leg.axis, leg.steps);
    return way;
  }
  const Port first = one.pattern.port(0, port);
  if (first.axis >= 0) add(first.axis, first.direction);
  return way;
}

std::vector<std::pair<ChipId, Slowness>> slow_chips(const Cluster& cluster) {
  std::vector<std::pair<ChipId, Slowness>> slow;
  for (const ChipFault& fault : cluster.spec().chip_faults) {
    slow.push_back({cluster.chip_at(fault.at), {fault.slower, fault.than}});
  }
  return slow;
}

Traffic traffic(const Cluster& cluster, const Communication& communication) {
  Traffic all;
  all.colours = speeds(cluster);
  std::vector<std::uint32_t> feature(cluster.chips());
  if (communication.takes_part) {
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) feature[chip] = communication.takes_part(chip) ? 1 : 0;
    tell_apart(all.colours, feature);
  }
  if (!communication.program_of.empty()) tell_apart(all.colours, communication.program_of);
  Kinds kinds;
  std::map<Way, Move> moves;
  for (std::size_t family = 0; family < communication.families.size(); ++family) {
    const Groups& groups = communication.families[family].groups;
    const Ranks own = ranks(communication, family);
    if (std::any_of(own.colour.begin(), own.colour.end(), [&](std::uint32_t one) { return one != own.colour[0]; })) {
      for (ChipId chip = 0; chip < cluster.chips(); ++chip) feature[chip] = own.colour[groups.rank_of(chip)];
      tell_apart(all.colours, feature);
    }
    for (const auto& [way, by_rank] : own.moves) {
      add_move(moves, cluster, groups, way, by_rank, communication.takes_part);
    }
    for (const auto& way : own.sends) {
      add_sends(all.sends, cluster, communication, way, kinds);
    }
    if (!own.spreads.empty()) add_spreads(all, moves, cluster, groups, family, kinds);
  }
  for (auto& [way, move] : moves) all.moves.push_back(std::move(move));
  return all;
}

}  // namespace stepsim
