#include "sim/recorder.h"

#include <algorithm>
#include <tuple>

namespace stepsim {
namespace {

constexpr std::uint32_t kept_steps = 3;  // complete ones: the reported one and its neighbours

}  // namespace

Recorder::Recorder(const StepProgram& program) : program_(program) {
  std::vector<std::uint32_t> ends;
  for (const Program& one : program.programs) {
    const auto marked = std::count_if(one.ops.begin(), one.ops.end(), [](const Op& op) { return op.ends_step; });
    all_ends_.push_back(marked == 0);
    ends.push_back(static_cast<std::uint32_t>(marked == 0 ? one.ops.size() : marked));
  }
  timeline_.classes = static_cast<std::uint32_t>(program.program_of.size());
  timeline_.first_op.push_back(0);
  for (const std::uint32_t p : program.program_of) {
    const auto ops = static_cast<std::uint32_t>(program.programs[p].ops.size());
    timeline_.first_op.push_back(timeline_.first_op.back() + ops);
    whole_.ends_left += ends[p];
    whole_.ops_left += ops;
  }
}

void Recorder::open_step() {
  progress_.push_back(whole_);
  std::vector<OpTimes> fresh;
  // Classes that wait for nobody may be many steps ahead of others: a step goes only when all have ended it.
  // Its memory is reused: no allocation once the steps are steady.
  if (timeline_.first_kept + kept_steps < complete_) {
    fresh = std::move(timeline_.times.front());
    timeline_.times.erase(timeline_.times.begin());
    timeline_.links_at_end[timeline_.first_kept] = {};
    ++timeline_.first_kept;
  }
  fresh.assign(timeline_.first_op.back(), OpTimes());
  timeline_.times.push_back(std::move(fresh));
}

double Recorder::share_of_step() const {
  if (complete_ >= progress_.size() || whole_.ops_left == 0) return 0;
  return 1 - static_cast<double>(progress_[complete_].ops_left) / static_cast<double>(whole_.ops_left);
}

OpTimes& Recorder::times(const OpInstance& op) {
  while (op.step >= progress_.size()) open_step();
  return timeline_.times[op.step - timeline_.first_kept][timeline_.first_op[op.who] + op.op];
}

void Recorder::ended(const OpInstance& op, Picoseconds now) {
  const std::uint32_t p = program_.program_of[op.who];
  const Op& one = program_.programs[p].ops[op.op];
  OpTimes& record = times(op);
  record.end = now;
  if (one.kind != OpKind::transfer) record.drained = now;
  Progress& progress = progress_[op.step];
  if ((one.ends_step || all_ends_[p]) && --progress.ends_left == 0) timeline_.step_end.push_back(now);
  if (--progress.ops_left > 0) return;
  ++complete_;
  periodic_ = last_two_alike();
}

bool Recorder::last_two_alike() const {
  if (complete_ < 2) return false;
  const std::uint32_t last = complete_ - 1;
  const Picoseconds shift = start_of(last) - start_of(last - 1);
  const auto& a = timeline_.times[last - 1 - timeline_.first_kept];
  const auto& b = timeline_.times[last - timeline_.first_kept];
  return std::equal(a.begin(), a.end(), b.begin(), [&](const OpTimes& x, const OpTimes& y) {
    return x.start + shift == y.start && x.drained + shift == y.drained && x.end + shift == y.end;
  });
}

Timeline Recorder::take(std::vector<Wait> waits) {
  timeline_.steps = complete_;
  timeline_.periodic = periodic_;
  std::erase_if(waits, [&](const Wait& wait) { return wait.step < timeline_.first_kept; });
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::tie(a.step, a.who, a.op, a.start) < std::tie(b.step, b.who, b.op, b.start);
  });
  timeline_.waits = std::move(waits);
  return std::move(timeline_);
}

}  // namespace stepsim
