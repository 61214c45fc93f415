// communication.h: the collectives of a plan on a mesh, before anyone decides which chips are played.
#pragma once

#include <string>
#include <vector>

#include "collectives/pattern.h"
#include "collectives/protocol.h"
#include "scenarios/scenario.h"
#include "topology/groups.h"
#include "topology/symmetry.h"

namespace stepsim {

/// All groups along one set of mesh axes.
struct GroupFamily {
  std::string name;
  Groups groups;
};

/// One kind of collective in all groups of a family.
struct FamilyPattern {
  std::size_t family = 0;
  TransferPattern pattern;
  std::vector<std::vector<bool>> used;  // [role][port]
  HopCosts hops = {};                   // on top of the links' own latencies
  Picoseconds launch = {};              // before a member's first transfer
};

struct MethodTime {
  std::string method;  // "ring, LL128"
  Picoseconds time;
};

/// How a pattern was picked.
struct MethodPick {
  std::string method;
  std::vector<MethodTime> tried = {};  // fastest first, each alone on the network; empty where there was no choice
};

struct Communication {
  std::vector<GroupFamily> families;
  std::vector<FamilyPattern> patterns;
  std::vector<MethodPick> picks;           // of each pattern
  std::vector<std::size_t> pattern_of;     // per request of the plan
  std::function<bool(ChipId)> takes_part;  // empty: every chip does
  std::vector<std::uint32_t> program_of;   // per chip: what it runs; empty: all the same
};

/// Each request by the method that the scenario names, or by the one that is fastest by itself. As with placements, a
/// method is picked as if there were no faults.
Communication communication(const Scenario& scenario, const std::vector<CollectiveRequest>& requests,
                            const Cluster& cluster, const Mesh& mesh);

/// InputError (under "collectives") with all requests that no method does, of those the scenario allows.
void check_methods(const Scenario& scenario, const std::vector<CollectiveRequest>& requests, const Cluster& cluster,
                   const Mesh& mesh);

/// One kind of collective in all groups of one shape, and nothing else.
Communication lone_pattern(Groups groups, TransferPattern pattern);
/// The same with what driving it costs.
Communication lone_pattern(Groups groups, FamilyPattern pattern);

/// A program to lay it on: the collective is its only op.
StepProgram one_collective();

/// Links that the transfers of a spread port hold (pattern.h): those between a chip and the members that it reaches.
std::vector<LinkId> spread_links(const Cluster& cluster, const Groups& groups, const TransferPattern& pattern,
                                 ChipId chip, std::uint32_t port);

/// The way of a port on the hardware axes; empty for ports that go by the cluster's own routes.
std::vector<Hops> way_of(const FamilyPattern& one, const Groups& groups, std::uint32_t port);

/// The cluster's slow chips: how many times longer each computes (nominal where it is not listed).
std::vector<std::pair<ChipId, Slowness>> slow_chips(const Cluster& cluster);

/// What the fold looks at: chips are told apart by speed and by their roles, edges are what they send.
Traffic traffic(const Cluster& cluster, const Communication& communication);

}  // namespace stepsim
