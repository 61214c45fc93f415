#include "sim/critical_path.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/causes.h"
#include "sim/events.h"

namespace stepsim {
namespace {

/// When each member of one group would leave a collective if nothing else were on the network and all arrived at once.
class AloneTimes {
 public:
  AloneTimes(const StepProgram& program, const Network& network, const RunOptions& options)
      : program_(program), network_(network), options_(options) {
    options_.exact_steps = 1;
    options_.record_memory = false;
    options_.progress = nullptr;
  }

  Picoseconds of(CollectiveId id, ClassId who) {
    const Communicator& family = program_.communicators[program_.collectives[id].communicator];
    const std::uint32_t group = family.group_of[who];
    const auto [entry, is_new] = known_.try_emplace({id, group});
    if (is_new) {
      const Timeline timeline = simulate(alone(id, group), network_, options_);
      for (ClassId member = 0; member < timeline.classes; ++member) {
        const bool issues = timeline.first_op[member + 1] > timeline.first_op[member];
        entry->second.push_back(issues ? timeline.at(0, member, 0).end : Picoseconds(0));
      }
    }
    return entry->second[family.rank_of[who]];
  }

 private:
  [[nodiscard]] StepProgram alone(CollectiveId id, std::uint32_t group) const;

  const StepProgram& program_;
  const Network& network_;
  RunOptions options_;
  std::map<std::pair<CollectiveId, std::uint32_t>, std::vector<Picoseconds>> known_;  // [rank]
};

/// A program of the members of one group only, renumbered, whose single op is the collective.
StepProgram AloneTimes::alone(CollectiveId id, std::uint32_t group) const {
  const Collective& collective = program_.collectives[id];
  const Communicator& family = program_.communicators[collective.communicator];
  const auto group_members = family.members(group);
  const auto count = static_cast<std::uint32_t>(group_members.size());
  const TransferPlan& plan = program_.plans[collective.plan(group)];
  StepProgram one;
  one.names = program_.names;
  one.stream("collective", false);
  Op op;
  op.kind = OpKind::collective;
  op.collective = 0;
  one.programs.emplace_back().add(op);
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0U);
  std::vector<RouteId> routes;
  for (const ClassId who : group_members) {
    const auto first = program_.route_tables[collective.routes].begin() + static_cast<std::ptrdiff_t>(who) * plan.ports;
    routes.insert(routes.end(), first, first + static_cast<std::ptrdiff_t>(plan.ports));
  }
  one.programs.emplace_back();  // of those who do not issue it
  for (std::uint32_t rank = 0; rank < count; ++rank) one.program_of.push_back(plan.takes_part(rank) ? 0 : 1);
  one.chips_of.assign(count, 1);
  one.communicators.push_back(communicator(family.name, count, std::vector<std::uint32_t>(count, 0), ranks));
  one.collectives.push_back({0, {0}, 0, collective.kind, collective.array, collective.launch});
  one.plans.push_back(plan);
  one.route_tables.push_back(std::move(routes));
  return one;
}

class PathReader {
 public:
  PathReader(const StepProgram& program, const Network& network, const Timeline& timeline, const RunOptions& options,
             const AloneTime& alone)
      : program_(program),
        network_(network),
        timeline_(timeline),
        options_(options),
        causes_(program, timeline),
        alone_(alone) {}

  std::vector<PathPiece> read();

 private:
  [[nodiscard]] const OpTimes& times(const OpInstance& op) const { return timeline_.at(op.step, op.who, op.op); }
  [[nodiscard]] std::optional<OpInstance> last_of_step() const;
  [[nodiscard]] OpInstance peer_of(const OpInstance& op, ClassId who) const;
  [[nodiscard]] static bool may_hold_up(const TransferPlan& plan, std::uint32_t rank, std::uint32_t own);
  [[nodiscard]] OpInstance last_to_arrive(const OpInstance& op) const;
  void add(const OpInstance& op, Picoseconds start, Picoseconds end);
  [[nodiscard]] Picoseconds alone_time(const Op& transfer, bool until_drained) const;
  [[nodiscard]] Picoseconds contention(const OpInstance& op, Picoseconds start, Picoseconds end);

  const StepProgram& program_;
  const Network& network_;
  const Timeline& timeline_;
  const RunOptions& options_;
  Causes causes_;
  const AloneTime& alone_;
  std::vector<PathPiece> backward_;
};

std::optional<OpInstance> PathReader::last_of_step() const {
  const std::uint32_t step = timeline_.reported();
  for (ClassId who = 0; who < timeline_.classes; ++who) {
    const Program& own = program_.run_by(who);
    const bool marked = std::any_of(own.ops.begin(), own.ops.end(), [](const Op& op) { return op.ends_step; });
    for (OpId id = 0; id < own.ops.size(); ++id) {
      if (marked && !own.ops[id].ends_step) continue;
      if (timeline_.at(step, who, id).end == timeline_.window_end()) return OpInstance{who, id, step};
    }
  }
  return std::nullopt;
}

/// The op of the same collective in another program: the same one in order on its stream.
OpInstance PathReader::peer_of(const OpInstance& op, ClassId who) const {
  const std::uint32_t own = program_.program_of[op.who];
  const std::uint32_t other = program_.program_of[who];
  if (own == other) return {who, op.op, op.step};
  const CommunicatorId communicator = program_.collectives[op_of(program_, op).collective].communicator;
  const auto on_channel = [&](const Op& one) {
    return one.kind == OpKind::collective && one.stream == op_of(program_, op).stream &&
           program_.collectives[one.collective].communicator == communicator;
  };
  const auto& ops = program_.programs[own].ops;
  const auto& others = program_.programs[other].ops;
  auto ahead = std::count_if(ops.begin(), ops.begin() + op.op, on_channel);
  OpId id = 0;
  while (!on_channel(others[id]) || ahead-- > 0) ++id;
  return {who, id, op.step};
}

/// May the arrival of `rank` hold up `own`? With eager sends only that of a member that sends to it.
bool PathReader::may_hold_up(const TransferPlan& plan, std::uint32_t rank, std::uint32_t own) {
  if (!plan.eager) return true;
  const Role& role = plan.roles[plan.role_of[rank]];
  return std::any_of(role.lanes.begin(), role.lanes.end(), [&](const Lane& lane) {
    return std::any_of(role.runs.begin() + lane.first_run, role.runs.begin() + lane.first_run + lane.runs,
                       [&](const Run& run) { return plan.port[rank * plan.ports + run.port].to == own; });
  });
}

/// The member of op's group whose arrival was the last before op ended (ties: the lowest rank, but `op` itself where it
/// is among them).
OpInstance PathReader::last_to_arrive(const OpInstance& op) const {
  const Collective& collective = program_.collectives[op_of(program_, op).collective];
  const Communicator& family = program_.communicators[collective.communicator];
  const std::uint32_t group = family.group_of[op.who];
  const TransferPlan& plan = program_.plans[collective.plan(group)];
  OpInstance last = op;
  for (std::uint32_t rank = 0; rank < plan.members; ++rank) {
    if (!plan.takes_part(rank) || !may_hold_up(plan, rank, family.rank_of[op.who])) continue;
    const OpInstance peer = peer_of(op, family.members(group)[rank]);
    const Picoseconds arrival = times(peer).start;
    if (arrival > times(last).start && arrival <= times(op).end) last = peer;
  }
  return last;
}

/// How long a transfer takes on an idle network, until it is drained or until it is delivered.
Picoseconds PathReader::alone_time(const Op& transfer, bool until_drained) const {
  const Picoseconds streaming = network_.alone(transfer.route, transfer.bytes);
  const Picoseconds latency = network_.route_latency(transfer.route);
  if (until_drained) return streaming;
  return options_.latency_model == LatencyModel::additive ? streaming + latency : std::max(streaming, latency);
}

/// Of op's time in [start, end), in which all members were there: what it would not have taken alone.
Picoseconds PathReader::contention(const OpInstance& op, Picoseconds start, Picoseconds end) {
  const Op& one = op_of(program_, op);
  Picoseconds alone = end - start;
  if (one.kind == OpKind::transfer) {
    alone = alone_time(one, end < times(op).end);
  } else if (one.kind == OpKind::collective) {
    alone = alone_(one.collective, op.who);
  }
  return std::max(Picoseconds(0), end - start - alone);
}

void PathReader::add(const OpInstance& op, Picoseconds start, Picoseconds end) {
  const Picoseconds from = std::max(start, timeline_.window_start());
  if (end <= from) return;
  PathPiece piece{op.who, op.op, op.step, from, end, Picoseconds(0)};
  if (op.op != none) piece.contention = std::min(contention(op, start, end), end - from);
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
    const OpInstance begun = op_of(program_, *at).kind == OpKind::collective ? last_to_arrive(*at) : *at;
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
                                     const RunOptions& options, const AloneTime& alone) {
  if (timeline.steps == 0) return {};
  return PathReader(program, network, timeline, options, alone).read();
}

std::vector<PathPiece> critical_path(const StepProgram& program, const Network& network, const Timeline& timeline,
                                     const RunOptions& options) {
  AloneTimes times(program, network, options);
  return critical_path(program, network, timeline, options,
                       [&](CollectiveId id, ClassId who) { return times.of(id, who); });
}

}  // namespace stepsim
