#include "sim/causes.h"

namespace stepsim {

Causes::Causes(const StepProgram& program, const Timeline& timeline) : program_(program), timeline_(timeline) {
  for (const Program& one : program.programs) {
    std::vector<OpId> last_of(program.streams.size(), none);
    for (OpId id = 0; id < one.ops.size(); ++id) last_of[one.ops[id].stream] = id;
    std::vector<OpId> previous = last_of;
    std::vector<bool> first(program.streams.size(), true);
    auto& ahead = ahead_.emplace_back(one.ops.size());
    auto& wraps = wraps_.emplace_back(one.ops.size());
    for (OpId id = 0; id < one.ops.size(); ++id) {
      const StreamId stream = one.ops[id].stream;
      ahead[id] = previous[stream];
      wraps[id] = first[stream];
      previous[stream] = id;
      first[stream] = false;
    }
  }
}

bool Causes::known(const OpInstance& op) const {
  return op.step >= timeline_.first_kept && op.step < timeline_.steps;
}

void Causes::consider(std::optional<Cause>& best, const OpInstance& candidate, Event event) const {
  if (!known(candidate)) return;
  const OpTimes& times = timeline_.at(candidate.step, candidate.who, candidate.op);
  const Picoseconds at = event == Event::drained ? times.drained : times.end;
  if (!best || at > best->at || (at == best->at && candidate.op < best->op.op)) best = Cause{candidate, at};
}

std::optional<Cause> Causes::last(const OpInstance& op) const {
  return last_but(op, none);
}

std::optional<Cause> Causes::last_but(const OpInstance& op, OpId ignored) const {
  const std::uint32_t p = program_.program_of[op.who];
  const Program& program = program_.programs[p];
  const Op& one = program.ops[op.op];
  std::optional<Cause> best;
  for (std::uint32_t d = 0; d < one.dependencies; ++d) {
    const Dependency& dependency = program.dependencies[one.first_dependency + d];
    if (dependency.op == ignored || dependency.steps_back > op.step) continue;
    consider(best, {op.who, dependency.op, op.step - dependency.steps_back}, dependency.event);
  }
  const bool wraps = wraps_[p][op.op];
  if (ahead_[p][op.op] != ignored && (!wraps || op.step > 0)) {
    consider(best, {op.who, ahead_[p][op.op], wraps ? op.step - 1 : op.step}, Event::end);
  }
  return best;
}

}  // namespace stepsim
