// breakdown.h: where the time of the reported step went, per class, exclusively and to the picosecond.
//
// Time in which a class computes counts under the phase of the op, whatever it communicates meanwhile. Idle time is
// classed by what the next compute op waits for at that instant; of several causes the one that ends last counts,
// ties by op id:
//   own transfer in flight                                     exposed.<axis>
//   the collective is open, but a peer has not arrived or
//   has nothing to pass on yet                                 straggler
//   that op has not started itself                             what it waits for, in the same way (a queue's op ahead too)
//   nothing is left to wait for                                idle.run_ahead (the step before last had to end),
//                                                              idle.end (no op follows)
#pragma once

#include <string>
#include <vector>

#include "sim/program.h"
#include "sim/timeline.h"

namespace stepsim {

struct BreakdownPart {
  std::string name;
  Picoseconds time;
};

struct ClassBreakdown {
  ClassId who = 0;
  std::uint64_t chips = 1;
  // Sums to the step time exactly. In this order: phases by NameId, exposed by NameId of the axis, straggler, idle.
  std::vector<BreakdownPart> parts;
};

/// Classes with equal parts are merged; `who` is the first of them.
std::vector<ClassBreakdown> breakdown(const StepProgram& program, const Timeline& timeline);

/// One kind of collective on one set of axes, over the reported step, per chip of class `who`.
struct CollectiveUse {
  std::string axis;  // "fsdp"
  std::string kind;  // "all-gather"
  std::uint32_t count = 0;
  Picoseconds issued;         // sum of spans from start to leaving
  Picoseconds hidden;         // of it, while the class computes
  Picoseconds exposed;        // idle time of the compute stream charged to it
  Picoseconds communicating;  // union of the spans
  Picoseconds overlapped;     // of the union, while computing
  Bytes array = 0;            // sum of the full arrays' bytes
  Bytes sent = 0;             // bytes this chip sends
  double achieved = 0;        // sent / communicating, bytes/s
  Picoseconds slack;          // sum over its ops: from issue to the instant the first op that needs it could else start
  double required = 0;        // bytes/s that would just hide it: sent / slack, 0 when there is no slack
};

std::vector<CollectiveUse> collective_uses(const StepProgram& program, const Timeline& timeline, ClassId who);

}  // namespace stepsim
