#include "sim/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/causes.h"
#include "sim/events.h"

namespace stepsim {
namespace {

/// What a collective of one group takes when nothing else is on the network and all members arrive at once.
class AloneTimes {
 public:
  AloneTimes(const StepProgram& program, const Network& network, const RunOptions& options)
      : program_(program), network_(network), options_(options) {
    options_.exact_steps = 1;
    options_.record_memory = false;
  }

  Picoseconds of(CollectiveId id, std::uint32_t group) {
    const auto [entry, is_new] = known_.try_emplace({id, group});
    if (is_new) entry->second = simulate(alone(id, group), network_, options_).window_end();
    return entry->second;
  }

 private:
  [[nodiscard]] StepProgram alone(CollectiveId id, std::uint32_t group) const;

  const StepProgram& program_;
  const Network& network_;
  RunOptions options_;
  std::map<std::pair<CollectiveId, std::uint32_t>, Picoseconds> known_;
};

/// A program of the members of one group only, renumbered, whose single op is the collective.
StepProgram AloneTimes::alone(CollectiveId id, std::uint32_t group) const {
  const Collective& collective = program_.collectives[id];
  const Communicator& family = program_.communicators[collective.communicator];
  const TransferPlan& plan = program_.plans[collective.plan];
  StepProgram one;
  one.names = program_.names;
  one.stream("collective", false);
  Op op;
  op.kind = OpKind::collective;
  op.collective = 0;
  one.programs.emplace_back().add(op);
  Communicator members{family.name, family.members, {}, {}, {}};
  std::vector<RouteId> routes;
  for (std::uint32_t rank = 0; rank < family.members; ++rank) {
    const ClassId who = family.class_of[group * family.members + rank];
    members.class_of.push_back(rank);
    members.group_of.push_back(0);
    members.rank_of.push_back(rank);
    const auto first = program_.route_tables[collective.routes].begin() + static_cast<std::ptrdiff_t>(who * plan.ports);
    routes.insert(routes.end(), first, first + static_cast<std::ptrdiff_t>(plan.ports));
  }
  one.program_of.assign(family.members, 0);
  one.chips_of.assign(family.members, 1);
  one.communicators.push_back(std::move(members));
  one.collectives.push_back({0, 0, 0, collective.kind, collective.array});
  one.plans.push_back(plan);
  one.route_tables.push_back(std::move(routes));
  return one;
}

class PathReader {
 public:
  PathReader(const StepProgram& program, const Network& network, const Timeline& timeline, const RunOptions& options)
      : program_(program),
        network_(network),
        timeline_(timeline),
        causes_(program, timeline),
        alone_(program, network, options) {}

  std::vector<PathPiece> read();

 private:
  [[nodiscard]] const Op& op_of(const OpInstance& op) const {
    return program_.programs[program_.program_of[op.who]].ops[op.op];
  }
  [[nodiscard]] const OpTimes& times(const OpInstance& op) const { return timeline_.at(op.step, op.who, op.op); }
  [[nodiscard]] std::optional<OpInstance> last_of_step() const;
  [[nodiscard]] OpInstance last_to_arrive(const OpInstance& op) const;
  void add(const OpInstance& op, Picoseconds start, Picoseconds end);
  [[nodiscard]] Picoseconds contention(const OpInstance& op, Picoseconds span);

  const StepProgram& program_;
  const Network& network_;
  const Timeline& timeline_;
  Causes causes_;
  AloneTimes alone_;
  std::vector<PathPiece> backward_;
};

std::optional<OpInstance> PathReader::last_of_step() const {
  const std::uint32_t step = timeline_.reported();
  for (ClassId who = 0; who < timeline_.classes; ++who) {
    const Program& own = program_.programs[program_.program_of[who]];
    const bool marked = std::any_of(own.ops.begin(), own.ops.end(), [](const Op& op) { return op.ends_step; });
    for (OpId id = 0; id < own.ops.size(); ++id) {
      if (marked && !own.ops[id].ends_step) continue;
      if (timeline_.at(step, who, id).end == timeline_.window_end()) return OpInstance{who, id, step};
    }
  }
  return std::nullopt;
}

/// The member of op's group whose arrival was last (ties: the lowest rank, but `op` itself where it is among them).
OpInstance PathReader::last_to_arrive(const OpInstance& op) const {
  const Collective& collective = program_.collectives[op_of(op).collective];
  const Communicator& family = program_.communicators[collective.communicator];
  OpInstance last = op;
  for (std::uint32_t rank = 0; rank < family.members; ++rank) {
    const ClassId who = family.class_of[family.group_of[op.who] * family.members + rank];
    if (program_.program_of[who] != program_.program_of[op.who]) continue;
    const OpInstance peer{who, op.op, op.step};
    if (times(peer).start > times(last).start) last = peer;
  }
  return last;
}

Picoseconds PathReader::contention(const OpInstance& op, Picoseconds span) {
  const Op& one = op_of(op);
  if (one.kind == OpKind::transfer) {
    return std::max(Picoseconds(0), span - network_.alone(one.route, one.bytes) - network_.route_latency(one.route));
  }
  if (one.kind != OpKind::collective) return Picoseconds(0);
  const Communicator& family = program_.communicators[program_.collectives[one.collective].communicator];
  return std::max(Picoseconds(0), span - alone_.of(one.collective, family.group_of[op.who]));
}

void PathReader::add(const OpInstance& op, Picoseconds start, Picoseconds end) {
  const Picoseconds from = std::max(start, timeline_.window_start());
  if (end <= from) return;
  PathPiece piece{op.who, op.op, op.step, from, end, Picoseconds(0)};
  if (op.op != none) piece.contention = std::min(contention(op, end - start), end - from);
  backward_.push_back(piece);
}

std::vector<PathPiece> PathReader::read() {
  Picoseconds now = timeline_.window_end();
  std::optional<OpInstance> at = last_of_step();
  while (now > timeline_.window_start()) {
    if (!at || !causes_.known(*at)) {
      add({at ? at->who : 0, none, 0}, timeline_.window_start(), now);
      break;
    }
    const OpInstance begun = op_of(*at).kind == OpKind::collective ? last_to_arrive(*at) : *at;
    const Picoseconds start = std::min(now, times(begun).start);
    add(*at, start, now);
    now = start;
    const auto cause = causes_.last(begun);
    if (cause && cause->at < now) {
      add({begun.who, none, 0}, cause->at, now);  // released, but held back by the step before last
      now = cause->at;
    }
    at = cause ? std::optional(cause->op) : std::nullopt;
  }
  std::reverse(backward_.begin(), backward_.end());
  return std::move(backward_);
}

}  // namespace

std::vector<PathPiece> critical_path(const StepProgram& program, const Network& network, const Timeline& timeline,
                                     const RunOptions& options) {
  if (timeline.steps == 0) return {};
  return PathReader(program, network, timeline, options).read();
}

}  // namespace stepsim
