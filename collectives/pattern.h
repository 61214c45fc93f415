// pattern.h: a collective before it is laid out for a group: the same as a TransferPlan (transfer_plan.h), but as
// functions of the member, so that a group of half a million members costs no more than one of a few.
//
// Both sides are made from it: the edges between chips that the fold looks at, and the plan that the clock plays.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/transfer_plan.h"

namespace stepsim {

/// `steps` along an axis of the group, negative: downward.
struct Leg {
  int axis = 0;
  int steps = 0;
};

/// A port whose transfers go to, or come from, many members at once, over the links of the routes between them and the
/// sender, each link once: in-network multicast and reduction. `Port::to` is then the sender itself, which counts the
/// delivery; the latency is that of the longest of the routes.
enum class Spread : std::uint8_t {
  none,
  multicast,  // links of the routes from the sender to every other member
  reduction,  // links of the routes from every other member to the sender
  both        // both: what the network has added up it copies to all
};

/// Whom a spread reaches: all members, those in the sender's row (TransferPattern::row), or those at its place in other
/// rows.
enum class Among : std::uint8_t { all, row, column };

struct TransferPattern {
  std::uint32_t members = 0;
  std::uint32_t ports = 0;  // per member, outgoing and incoming alike
  std::vector<Role> roles;
  bool eager = false;
  bool bystanders = false;  // members that neither send nor receive do not issue it
  std::function<std::uint32_t(std::uint32_t member)> role_of;
  /// to: no_member where it is not used. Along an axis of the group, axis, direction and to_port depend on the port alone.
  std::function<Port(std::uint32_t member, std::uint32_t port)> port;
  std::vector<std::vector<Leg>> words;  // per port: the way of a transfer, leg by leg; empty: as Port says
  std::vector<Spread> spreads;          // per port; empty: none
  std::vector<Among> among;             // per port, where it is a spread; empty: all
  std::uint32_t row = 1;                // members of a row, ranks one after the other: those of a node
};

/// Per member: does it issue the collective? All do, unless there are bystanders.
std::vector<bool> takes_part(const TransferPattern& pattern);

/// Does a spread through the sender's port reach the other?
bool reaches(const TransferPattern& pattern, std::uint32_t sender, std::uint32_t port, std::uint32_t other);

/// The pattern written out, member by member.
TransferPlan tabulate(const TransferPattern& pattern);

/// Per role and port: does the role send through it?
std::vector<std::vector<bool>> ports_in_use(const TransferPattern& pattern);

}  // namespace stepsim
