#include "sim/idle.h"

#include <algorithm>
#include <tuple>

namespace stepsim {
namespace {

/// Walks one class through the step window.
class Walk {
 public:
  Walk(const StepProgram& program, const Timeline& timeline, const Causes& causes, ClassId who)
      : program_(program), timeline_(timeline), causes_(causes), who_(who) {}

  std::vector<Stretch> run();

 private:
  [[nodiscard]] const OpTimes& times(const OpInstance& op) const { return timeline_.at(op.step, op.who, op.op); }
  [[nodiscard]] std::vector<OpInstance> computes() const;
  void add(Reason reason, const OpInstance& op, Picoseconds start, Picoseconds end);
  void idle_before(const OpInstance& op, Picoseconds start, Picoseconds end);
  void in_progress(const OpInstance& op, Picoseconds start, Picoseconds end);

  const StepProgram& program_;
  const Timeline& timeline_;
  const Causes& causes_;
  ClassId who_;
  std::vector<Stretch> out_;
};

/// Compute ops that take time and reach into the window or follow it, by start.
std::vector<OpInstance> Walk::computes() const {
  std::vector<OpInstance> all;
  const Program& program = program_.run_by(who_);
  const std::uint32_t first = std::max(timeline_.first_kept, timeline_.reported() == 0 ? 0 : timeline_.reported() - 1);
  const std::uint32_t last = std::min(timeline_.reported() + 1, timeline_.steps - 1);
  for (std::uint32_t step = first; step <= last; ++step) {
    for (OpId id = 0; id < program.ops.size(); ++id) {
      const OpInstance op{who_, id, step};
      if (program.ops[id].kind != OpKind::compute || !program_.compute_stream[program.ops[id].stream]) continue;
      if (times(op).end > times(op).start && times(op).end > timeline_.window_start()) all.push_back(op);
    }
  }
  std::sort(all.begin(), all.end(), [&](const OpInstance& a, const OpInstance& b) {
    return std::tuple(times(a).start, a.step, a.op) < std::tuple(times(b).start, b.step, b.op);
  });
  return all;
}

void Walk::add(Reason reason, const OpInstance& op, Picoseconds start, Picoseconds end) {
  if (end > start) out_.push_back({reason, op, start, end});
}

std::vector<Stretch> Walk::run() {
  const Picoseconds window_end = timeline_.window_end();
  Picoseconds now = timeline_.window_start();
  for (const OpInstance& op : computes()) {
    if (now >= window_end) break;
    const Picoseconds start = std::min(times(op).start, window_end);
    if (start > now) {
      idle_before(op, now, start);
      now = start;
    }
    const Picoseconds end = std::min(times(op).end, window_end);
    if (end <= now) continue;  // under another compute stream's op
    add(Reason::compute, op, now, end);
    now = end;
  }
  add(Reason::end, {who_, none, 0}, now, window_end);
  std::stable_sort(out_.begin(), out_.end(), [](const Stretch& a, const Stretch& b) { return a.start < b.start; });
  return std::move(out_);
}

/// `op` has not started in [start, end): charge what it waits for.
void Walk::idle_before(const OpInstance& op, Picoseconds start, Picoseconds end) {
  const auto cause = causes_.last(op);
  if (!cause) {
    add(Reason::run_ahead, op, start, end);  // an op of the first step that waits for no op starts at 0
    return;
  }
  if (cause->at < end) {  // released, but the step before last had not ended
    add(Reason::run_ahead, op, std::max(start, cause->at), end);
    end = std::max(start, cause->at);
  }
  const Picoseconds begun = std::clamp(times(cause->op).start, start, end);
  if (begun > start) idle_before(cause->op, start, begun);
  in_progress(cause->op, begun, end);
}

void Walk::in_progress(const OpInstance& op, Picoseconds start, Picoseconds end) {
  if (start >= end) return;
  if (op_of(program_, op).kind == OpKind::compute) {
    add(Reason::compute, op, start, end);
    return;
  }
  const auto key = [](const Wait& wait) { return std::tuple(wait.step, wait.who, wait.op); };
  const auto wanted = std::tuple(op.step, op.who, op.op);
  auto wait = std::lower_bound(timeline_.waits.begin(), timeline_.waits.end(), wanted,
                               [&](const Wait& a, const auto& b) { return key(a) < b; });
  for (; wait != timeline_.waits.end() && key(*wait) == wanted && start < end; ++wait) {
    const Picoseconds from = std::clamp(wait->start, start, end);
    const Picoseconds to = std::clamp(wait->end, start, end);
    add(Reason::exposed, op, start, from);
    add(Reason::straggler, op, from, to);
    start = to;
  }
  add(Reason::exposed, op, start, end);
}

}  // namespace

std::vector<Stretch> stretches(const StepProgram& program, const Timeline& timeline, const Causes& causes,
                               ClassId who) {
  if (timeline.steps == 0) return {};
  return Walk(program, timeline, causes, who).run();
}

}  // namespace stepsim
