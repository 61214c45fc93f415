// star.h: plays one collective on stars: every member has one up and one down link to a non-blocking switch.
//
// A group of several axes has a star for each of them (a switch in the node, rails); a transfer goes over the star of its
// axis, or of its word's first leg; one by the cluster's own routes over the first star. A spread (pattern.h) holds its
// owner's link one way and those of the others the other way.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/input_error.h"
#include "tests/collectives/play.h"

namespace stepsim {

/// An axis of a group along which everyone reaches everyone through a switch.
inline GroupAxis jumps_of(int n) {
  return {.extent = n, .closed = true, .direct = true};
}

/// Every link of one star; all of the latency is on the way up.
struct Star {
  std::int64_t rate = 0;
  Picoseconds latency{};
};

/// A spread over a row is on the last of the stars, others on the first.
inline std::size_t star_of(const TransferPattern& pattern, std::uint32_t member, std::uint32_t port,
                           std::size_t stars) {
  if (!pattern.among.empty() && pattern.spreads[port] != Spread::none && pattern.among[port] == Among::row)
    return stars - 1;
  if (!pattern.words.empty() && !pattern.words[port].empty())
    return static_cast<std::size_t>(pattern.words[port][0].axis);
  return static_cast<std::size_t>(std::max(pattern.port(member, port).axis, 0));
}

inline LinkId star_link(std::uint32_t member, std::size_t stars, std::size_t star, bool down) {
  return static_cast<LinkId>((member * stars + star) * 2 + (down ? 1 : 0));
}

/// Links of a transfer from a member through a port.
inline std::vector<Hop> star_way(const TransferPattern& pattern, std::uint32_t member, std::uint32_t port,
                                 std::size_t stars) {
  const Spread spread = pattern.spreads.empty() ? Spread::none : pattern.spreads[port];
  const std::size_t star = star_of(pattern, member, port, stars);
  if (spread == Spread::none) {
    const std::uint32_t to = pattern.port(member, port).to;
    return {{star_link(member, stars, star, false), 1},
            {star_link(to == no_member ? member : to, stars, star, true), 1}};
  }
  std::vector<Hop> hops;
  for (const bool in : {true, false}) {
    if (spread == (in ? Spread::multicast : Spread::reduction)) continue;
    hops.push_back({star_link(member, stars, star, in), 1});
    for (std::uint32_t other = 0; other < pattern.members; ++other) {
      if (reaches(pattern, member, port, other)) hops.push_back({star_link(other, stars, star, !in), 1});
    }
  }
  return hops;
}

/// late: when members arrive; those not named at 0.
inline LoneCollective set_up_on_stars(const TransferPattern& pattern, const std::vector<Star>& stars,
                                      const std::map<std::uint32_t, Picoseconds>& late = {}) {
  LoneCollective a;
  const TransferPlan plan = tabulate(pattern);
  check(plan);
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    for (const Star& star : stars) {
      a.network.add_link(star.rate, star.latency);
      a.network.add_link(star.rate, Picoseconds(0));
    }
  }
  std::vector<RouteId> table;
  for (std::uint32_t m = 0; m < plan.members; ++m) {
    for (std::uint32_t p = 0; p < plan.ports; ++p) {
      const std::vector<Hop> way = star_way(pattern, m, p, stars.size());
      table.push_back(
          a.network.add_route(std::span<const Hop>(way), stars[star_of(pattern, m, p, stars.size())].latency));
    }
  }
  add_communicator(a.program, plan.members);
  a.program.route_tables.push_back(std::move(table));
  a.program.collectives.push_back({.communicator = 0, .plans = {0}, .routes = 0, .kind = a.program.name("any")});
  a.program.plans.push_back(plan);
  a.program.programs.push_back(arrive_and_take_part(a.program, Picoseconds(0)));
  a.program.program_of.assign(plan.members, 0);
  a.program.chips_of.assign(plan.members, 1);
  for (const auto& [member, when] : late) {
    a.program.program_of[member] = static_cast<std::uint32_t>(a.program.programs.size());
    a.program.programs.push_back(arrive_and_take_part(a.program, when));
  }
  check(a.program, a.network);
  return a;
}

inline Played play_on_stars(const TransferPattern& pattern, const std::vector<Star>& stars,
                            const std::map<std::uint32_t, Picoseconds>& late = {}) {
  return played(set_up_on_stars(pattern, stars, late), {.exact_steps = 1});
}

inline TransferPattern pattern_of(const CollectiveSpec& spec) {
  return collective_algorithms().at("algorithm", spec.algorithm).pattern(spec);
}

/// How the algorithm refuses a spec; "none" when it does not.
inline std::string problem_of(const CollectiveSpec& spec) {
  try {
    pattern_of(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// The algorithm's own bound on these stars, rounded to the picosecond.
inline std::int64_t bound_ps(const CollectiveSpec& spec, const std::vector<Star>& stars) {
  AxisRates rates;
  for (const Star& star : stars) {
    rates.rate.push_back(static_cast<double>(star.rate));
    rates.latency.push_back(static_cast<double>(star.latency.count()) * 1e-12);
  }
  return std::llround(collective_algorithms().at("algorithm", spec.algorithm).bound(spec, rates) * 1e12);
}

}  // namespace stepsim
