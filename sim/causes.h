// causes.h: what an op waited for, read off the timeline: its dependencies and the op ahead on its stream.
#pragma once

#include <optional>
#include <vector>

#include "sim/events.h"
#include "sim/program.h"
#include "sim/timeline.h"

namespace stepsim {

struct Cause {
  OpInstance op;
  Picoseconds at;  // when it released: its end, or when it drained
};

class Causes {
 public:
  Causes(const StepProgram& program, const Timeline& timeline);

  /// The cause that released `op` last, ties by the lower op id; nothing when it waited for no op whose times are
  /// kept.
  [[nodiscard]] std::optional<Cause> last(const OpInstance& op) const;

  /// The same without counting `ignored` (which may be last, and is looked for in every step).
  [[nodiscard]] std::optional<Cause> last_but(const OpInstance& op, OpId ignored) const;

  /// Has the op started and ended within what the timeline keeps? (The step in progress at the end is not complete.)
  [[nodiscard]] bool known(const OpInstance& op) const;

 private:
  void consider(std::optional<Cause>& best, const OpInstance& candidate, Event event) const;

  const StepProgram& program_;
  const Timeline& timeline_;
  std::vector<std::vector<OpId>> ahead_;  // [program][op]: the op before it on its stream
  std::vector<std::vector<bool>> wraps_;  // it is the last of the step before
};

}  // namespace stepsim
