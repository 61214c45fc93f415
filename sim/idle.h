// idle.h: what each class did in the reported step: which stretches it computed, and why it was idle in the others.
#pragma once

#include <vector>

#include "sim/causes.h"

namespace stepsim {

enum class Reason : std::uint8_t {
  compute,    // op: the compute op
  exposed,    // op: the collective or transfer in flight
  straggler,  // op: the open collective whose peer has nothing for this class yet (Tag::peer says what that counts as)
  run_ahead,  // the step before last had to end first
  end,        // no compute op follows
};

/// One stretch; the stretches of a class cover the step window without gap or overlap, in order.
struct Stretch {
  Reason reason = Reason::compute;
  OpInstance op;  // where the reason has one
  Picoseconds start;
  Picoseconds end;
};

std::vector<Stretch> stretches(const StepProgram& program, const Timeline& timeline, const Causes& causes, ClassId who);

}  // namespace stepsim
