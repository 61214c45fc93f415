// transfer_plan.h: the narrow interface between a collective and the clock.
//
// A collective on a group of members is written down as what each member sends, in a form so compact that it is
// shared by all groups of one shape and never grows with steps. collectives/ makes plans; the clock plays them.
//
// A member owns *lanes*. A lane is first-in first-out: its next transfer starts when the one before has drained.
// A lane is a list of *runs*, a run is `count` equal transfers through one *port*, and a port says who receives
// them. Transfer i of a run (i from 0) may start once, for each need of the run, at least base + i * stride
// transfers have been delivered to this member through its incoming port `need.port`.
//
// Ports are numbered alike at the sender and the receiver: what member a sends through port p, whose `to_port` is
// q, is counted at the receiver under q. An example, all-gather one way round a ring of N with shards of s bytes:
// one role, one port (to: next member, to_port: 0), one lane with one run {port 0, count N-1, bytes s,
// need {port 0, base 0, stride 1}}: transfer i passes on the shard that delivery i brought.
//
// Members may start at different times: a transfer starts when its sender has arrived and, unless the plan is
// eager, its receiver has arrived. A member leaves when all it sends has drained and all it receives is delivered.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace stepsim {

inline constexpr std::uint32_t no_member = UINT32_MAX;

struct Need {
  std::uint32_t port = 0;   // incoming port of this member
  std::int32_t base = 0;    // deliveries that transfer 0 of the run waits for
  std::int32_t stride = 0;  // and how many more each later transfer of the run waits for
};

struct Run {
  std::uint32_t port = 0;        // outgoing port
  std::uint32_t count = 0;       // transfers, > 0
  Bytes bytes = 0;               // of each
  std::uint32_t first_need = 0;  // in Role::needs
  std::uint32_t needs = 0;
};

struct Lane {
  std::uint32_t first_run = 0;  // in Role::runs
  std::uint32_t runs = 0;       // may be 0
};

/// What a member does; members in like positions share one.
struct Role {
  std::vector<Lane> lanes;
  std::vector<Run> runs;
  std::vector<Need> needs;
};

/// Where an outgoing port of one member leads.
struct Port {
  std::uint32_t to = 0;       // receiving member, which may be the sender: a class of like chips; no_member: not used
  std::uint32_t to_port = 0;  // the number it is counted under there
  // How the transfer travels: along an axis of the group (index) one neighbour up (+1) or down (-1); or, with
  // axis -1, by the cluster's own routes between the two chips.
  std::int32_t axis = -1;
  std::int32_t direction = 0;
};

struct TransferPlan {
  std::uint32_t members = 0;
  std::uint32_t ports = 0;  // per member, outgoing and incoming alike
  std::vector<Role> roles;
  std::vector<std::uint32_t> role_of;  // per member
  std::vector<Port> port;              // [member * ports + port]
  bool eager = false;                  // sends do not wait for the receiver's arrival
  bool bystanders = false;             // members that neither send nor receive do not issue it

  /// Does the member issue it?
  [[nodiscard]] bool takes_part(std::uint32_t member) const;
};

/// Checks that the plan is whole: indices in range, every need can be met, nothing is delivered to a port that no
/// one counts. Throws std::logic_error naming the member and port.
void check(const TransferPlan& plan);

/// Bytes that `member` sends in all.
Bytes bytes_sent(const TransferPlan& plan, std::uint32_t member);

}  // namespace stepsim
