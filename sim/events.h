// events.h: the kinds of events that the clock queues, and what a, b, c of a QueuedEvent mean for each.
#pragma once

#include <cstdint>

#include "sim/flows.h"
#include "sim/program.h"

namespace stepsim {

enum class EventKind : std::uint32_t {
  flow_end,        // a component of flows, its version (flows.h)
  op_end,          // class, op, step: a compute op or marker is done, a transfer op is delivered
  op_launched,     // class, op, step: a member of a collective arrives
  op_drained,      // class, op, step: a transfer op with nothing to stream
  member_drained,  // open collective, member, lane: a transfer with nothing to stream
  delivered,       // open collective, receiving member, its incoming port
  member_leaves,   // open collective, member: nothing to send or to receive
};

/// One op of one class in one step.
struct OpInstance {
  ClassId who = 0;
  OpId op = 0;
  std::uint32_t step = 0;
};

inline const Op& op_of(const StepProgram& program, const OpInstance& op) {
  return program.run_by(op.who).ops[op.op];
}

/// What a flow carries (Cargo in flows.h): a transfer of an open collective {collective, sending member, lane}, or that
/// of a transfer op {none, class, op, step}.
inline Cargo cargo_of(const OpInstance& op) {
  return {none, op.who, op.op, op.step};
}

}  // namespace stepsim
