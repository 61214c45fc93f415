#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/breakdown.h"
#include "sim/causes.h"
#include "sim/idle.h"

namespace stepsim {
namespace {

using Interval = std::pair<Picoseconds, Picoseconds>;

/// Time that [start, end) shares with disjoint intervals in order.
Picoseconds shared(const Interval& one, const std::vector<Interval>& others) {
  auto other = std::lower_bound(others.begin(), others.end(), one.first,
                                [](const Interval& a, Picoseconds t) { return a.second <= t; });
  Picoseconds sum;
  for (; other != others.end() && other->first < one.second; ++other) {
    sum += std::min(one.second, other->second) - std::max(one.first, other->first);
  }
  return sum;
}

std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> out;
  for (const Interval& one : intervals) {
    if (!out.empty() && one.first <= out.back().second) {
      out.back().second = std::max(out.back().second, one.second);
    } else if (one.second > one.first) {
      out.push_back(one);
    }
  }
  return out;
}

/// When this class computes, over all complete steps that are kept.
std::vector<Interval> compute_intervals(const StepProgram& program, const Timeline& timeline, ClassId who) {
  std::vector<Interval> all;
  const Program& own = program.run_by(who);
  for (std::uint32_t step = timeline.first_kept; step < timeline.steps; ++step) {
    for (OpId id = 0; id < own.ops.size(); ++id) {
      if (own.ops[id].kind != OpKind::compute || !program.compute_stream[own.ops[id].stream]) continue;
      const OpTimes& times = timeline.at(step, who, id);
      all.emplace_back(times.start, times.end);
    }
  }
  return merged(std::move(all));
}

/// The op's time; a message of a pipeline is not under way while its peer has not sent it (Tag::peer).
std::vector<Interval> under_way(const StepProgram& program, const Timeline& timeline, const OpInstance& op) {
  const OpTimes& times = timeline.at(op.step, op.who, op.op);
  if (op_of(program, op).tag.peer == 0) return {{times.start, times.end}};
  const auto key = [](const Wait& wait) { return std::tuple(wait.step, wait.who, wait.op); };
  const auto wanted = std::tuple(op.step, op.who, op.op);
  auto wait = std::lower_bound(timeline.waits.begin(), timeline.waits.end(), wanted,
                               [&](const Wait& a, const auto& b) { return key(a) < b; });
  std::vector<Interval> pieces;
  Picoseconds now = times.start;
  for (; wait != timeline.waits.end() && key(*wait) == wanted; ++wait) {
    if (wait->start > now) pieces.emplace_back(now, wait->start);
    now = std::max(now, wait->end);
  }
  if (times.end > now) pieces.emplace_back(now, times.end);
  return pieces;
}

/// How long after its start the collective could have ended without holding up the first op that needs it.
Picoseconds slack(const Timeline& timeline, const Causes& causes, const OpInstance& op,
                  const std::vector<std::pair<OpId, std::uint32_t>>& dependents) {
  const Picoseconds start = timeline.at(op.step, op.who, op.op).start;
  Picoseconds least = Picoseconds::max();
  for (const auto& [id, steps_back] : dependents) {
    const OpInstance dependent{op.who, id, op.step + steps_back};
    if (!causes.known(dependent)) continue;
    const auto other = causes.last_but(dependent, op.op);
    least = std::min(least, other ? std::max(Picoseconds(0), other->at - start) : Picoseconds(0));
  }
  return least == Picoseconds::max() ? Picoseconds(0) : least;
}

std::vector<std::vector<std::pair<OpId, std::uint32_t>>> dependents_of(const Program& program) {
  std::vector<std::vector<std::pair<OpId, std::uint32_t>>> all(program.ops.size());
  for (OpId id = 0; id < program.ops.size(); ++id) {
    for (std::uint32_t d = 0; d < program.ops[id].dependencies; ++d) {
      const Dependency& dependency = program.dependencies[program.ops[id].first_dependency + d];
      all[dependency.op].emplace_back(id, dependency.steps_back);
    }
  }
  return all;
}

}  // namespace

std::vector<CollectiveUse> collective_uses(const StepProgram& program, const Timeline& timeline, ClassId who) {
  if (timeline.steps == 0) return {};
  const Causes causes(program, timeline);
  const Program& own = program.run_by(who);
  const std::vector<Interval> computing = compute_intervals(program, timeline, who);
  const auto dependents = dependents_of(own);
  std::map<std::pair<NameId, NameId>, CollectiveUse> uses;
  std::map<std::pair<NameId, NameId>, std::vector<Interval>> spans;
  const auto key_of = [&](const Op& op) { return std::pair(op.tag.axis, program.collectives[op.collective].kind); };
  for (OpId id = 0; id < own.ops.size(); ++id) {
    const Op& op = own.ops[id];
    if (op.kind != OpKind::collective) continue;
    const Collective& collective = program.collectives[op.collective];
    const OpInstance instance{who, id, timeline.reported()};
    CollectiveUse& use = uses[key_of(op)];
    ++use.count;
    for (const Interval& piece : under_way(program, timeline, instance)) {
      use.issued += piece.second - piece.first;
      use.hidden += shared(piece, computing);
      spans[key_of(op)].push_back(piece);
    }
    use.array += collective.array;
    use.sent += bytes_sent(program, collective, who);
    use.slack += slack(timeline, causes, instance, dependents[id]);
  }
  for (const Stretch& stretch : stretches(program, timeline, causes, who)) {
    if (stretch.reason != Reason::exposed || own.ops[stretch.op.op].kind != OpKind::collective) continue;
    uses[key_of(own.ops[stretch.op.op])].exposed += stretch.end - stretch.start;
  }
  std::vector<CollectiveUse> out;
  for (auto& [key, use] : uses) {
    use.axis = program.names[key.first];
    use.kind = program.names[key.second];
    for (const Interval& span : merged(spans[key])) {
      use.communicating += span.second - span.first;
      use.overlapped += shared(span, computing);
    }
    if (use.communicating > Picoseconds(0))
      use.achieved = static_cast<double>(use.sent) / to_seconds(use.communicating);
    if (use.slack > Picoseconds(0)) use.required = static_cast<double>(use.sent) / to_seconds(use.slack);
    out.push_back(use);
  }
  return out;
}

}  // namespace stepsim
