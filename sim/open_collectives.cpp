#include "sim/open_collectives.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stepsim {

OpenCollectives::OpenCollectives(const StepProgram& program, const Network& network, EventQueue& queue, Flows& flows,
                                 std::vector<Carried>& carried)
    : program_(program),
      network_(network),
      queue_(queue),
      flows_(flows),
      carried_(carried),
      free_(program.plans.size()) {
  plans_.reserve(program.plans.size());
  for (const TransferPlan& plan : program.plans) plans_.emplace_back(plan);
  index_channels();
}

void OpenCollectives::index_channels() {
  std::map<std::pair<CommunicatorId, StreamId>, std::uint32_t> channels;
  for (const Program& one : program_.programs) {
    std::vector<std::uint32_t> orders(one.ops.size(), 0);
    std::vector<std::uint32_t> channel_of(one.ops.size(), none);
    std::vector<std::uint32_t> counts(channels.size(), 0);
    for (OpId id = 0; id < one.ops.size(); ++id) {
      if (one.ops[id].kind != OpKind::collective) continue;
      const CommunicatorId communicator = program_.collectives[one.ops[id].collective].communicator;
      const auto [entry, is_new] =
          channels.try_emplace({communicator, one.ops[id].stream}, static_cast<std::uint32_t>(channels.size()));
      if (is_new) {
        const Communicator& family = program_.communicators[communicator];
        first_place_.push_back(static_cast<std::uint32_t>(open_of_.size()));
        open_of_.resize(open_of_.size() + family.class_of.size() / family.members);
        counts.push_back(0);
      }
      channel_of[id] = entry->second;
      orders[id] = counts[entry->second]++;
    }
    order_in_step_.push_back(std::move(orders));
    channel_of_.push_back(std::move(channel_of));
    per_step_.push_back(std::move(counts));
  }
}

std::uint32_t OpenCollectives::find_or_open(const OpInstance& op) {
  const std::uint32_t p = program_.program_of[op.who];
  const std::uint32_t channel = channel_of_[p][op.op];
  const CollectiveId id = program_.programs[p].ops[op.op].collective;
  const std::uint32_t group = program_.communicators[program_.collectives[id].communicator].group_of[op.who];
  const std::uint64_t order = static_cast<std::uint64_t>(op.step) * per_step_[p][channel] + order_in_step_[p][op.op];
  const std::uint32_t place = first_place_[channel] + group;
  for (const std::uint32_t candidate : open_of_[place]) {
    if (pool_[candidate].order == order) return candidate;
  }
  return open(id, group, order, place);
}

std::uint32_t OpenCollectives::open(CollectiveId id, std::uint32_t group, std::uint64_t order, std::uint32_t place) {
  const std::uint32_t plan_id = program_.collectives[id].plan;
  const PlanIndex& index = plans_[plan_id];
  const std::uint32_t members = index.plan().members;
  std::uint32_t handle = static_cast<std::uint32_t>(pool_.size());
  if (free_[plan_id].empty()) {
    pool_.emplace_back();
  } else {
    handle = free_[plan_id].back();
    free_[plan_id].pop_back();
  }
  Open& one = pool_[handle];
  one.id = id;
  one.group = group;
  one.order = order;
  one.place = place;
  one.members_left = members;
  one.received.assign(static_cast<std::size_t>(members) * index.plan().ports, 0);
  one.lanes.assign(static_cast<std::size_t>(members) * index.lanes_max(), LaneState());
  one.members.assign(members, MemberState());
  for (std::uint32_t m = 0; m < members; ++m) {
    one.members[m].sends_left = index.sends(m);
    one.members[m].receives_left = index.receives(m);
  }
  open_of_[place].push_back(handle);
  return handle;
}

void OpenCollectives::close(std::uint32_t collective) {
  const Open& one = pool_[collective];
  std::erase(open_of_[one.place], collective);
  free_[program_.collectives[one.id].plan].push_back(collective);
}

void OpenCollectives::arrive(const OpInstance& op) {
  const std::uint32_t handle = find_or_open(op);
  Open& one = pool_[handle];
  const std::uint32_t member = program_.communicators[program_.collectives[one.id].communicator].rank_of[op.who];
  MemberState& state = one.members[member];
  state.arrived = true;
  state.op = op;
  state.still_since = queue_.now();
  note_arrival(handle, member);
  if (state.sends_left == 0 && state.receives_left == 0) {
    queue_.push({queue_.now(), static_cast<std::uint32_t>(EventKind::member_leaves), handle, member, 0});
  }
}

void OpenCollectives::note_arrival(std::uint32_t collective, std::uint32_t member) {
  const PlanIndex& index = plans_[program_.collectives[pool_[collective].id].plan];
  for (std::uint32_t lane = 0; lane < index.role(member).lanes.size(); ++lane) {
    tries_.push_back({collective, member, lane});
  }
  for (std::uint32_t port = 0; port < index.plan().ports; ++port) {
    const PlanIndex::Sender sender = index.sender(member, port);
    if (sender.member == UINT32_MAX || !pool_[collective].members[sender.member].arrived) continue;
    for (const std::uint32_t lane : index.sending(sender.member, sender.port)) {
      tries_.push_back({collective, sender.member, lane});
    }
  }
}

void OpenCollectives::start_ready() {
  for (const LaneTry& lane : tries_) try_lane(lane);
  tries_.clear();
}

void OpenCollectives::try_lane(const LaneTry& at) {
  Open& one = pool_[at.collective];
  const PlanIndex& index = plans_[program_.collectives[one.id].plan];
  const Role& role = index.role(at.member);
  LaneState& state = one.lanes[at.member * index.lanes_max() + at.lane];
  if (state.busy || state.run == role.lanes[at.lane].runs) return;
  const Run& run = role.runs[role.lanes[at.lane].first_run + state.run];
  if (!may_start(one, at.member, run, state.sent)) return;
  state.busy = true;
  start_transfer(at.collective, at.member, at.lane, run);
}

bool OpenCollectives::may_start(const Open& one, std::uint32_t member, const Run& run, std::uint32_t sent) const {
  const TransferPlan& plan = program_.plans[program_.collectives[one.id].plan];
  if (!one.members[member].arrived) return false;
  if (!plan.eager && !one.members[plan.port[member * plan.ports + run.port].to].arrived) return false;
  const Role& role = plan.roles[plan.role_of[member]];
  for (std::uint32_t n = 0; n < run.needs; ++n) {
    const Need& need = role.needs[run.first_need + n];
    const std::int64_t least = need.base + static_cast<std::int64_t>(need.stride) * sent;
    if (one.received[member * plan.ports + need.port] < least) return false;
  }
  return true;
}

void OpenCollectives::start_transfer(std::uint32_t collective, std::uint32_t member, std::uint32_t lane,
                                     const Run& run) {
  Open& one = pool_[collective];
  const Collective& definition = program_.collectives[one.id];
  const TransferPlan& plan = program_.plans[definition.plan];
  const Communicator& family = program_.communicators[definition.communicator];
  const ClassId sender = family.class_of[one.group * family.members + member];
  const Port& port = plan.port[member * plan.ports + run.port];
  const RouteId route = program_.route_tables[definition.routes][sender * plan.ports + run.port];
  ++transfers_;
  take_off(one, member);
  take_off(one, port.to);
  if (run.bytes == 0 || network_.hops(route).empty()) {
    queue_.push({queue_.now(), static_cast<std::uint32_t>(EventKind::member_drained), collective, member, lane});
    queue_.push({queue_.now() + network_.route_latency(route), static_cast<std::uint32_t>(EventKind::delivered),
                 collective, port.to, port.to_port});
    return;
  }
  const FlowId flow = flows_.start(route, run.bytes);
  if (flow >= carried_.size()) carried_.resize(flow + 1);
  carried_[flow] = {collective, member, lane, port.to, port.to_port, {}};
}

void OpenCollectives::take_off(Open& one, std::uint32_t member) {
  MemberState& state = one.members[member];
  if (state.flying++ == 0 && state.arrived && state.still_since < queue_.now()) {
    waits_.push_back({state.op.who, state.op.op, state.op.step, state.still_since, queue_.now()});
  }
}

void OpenCollectives::touch_down(Open& one, std::uint32_t member) {
  if (--one.members[member].flying == 0) one.members[member].still_since = queue_.now();
}

void OpenCollectives::drained(std::uint32_t collective, std::uint32_t member, std::uint32_t lane) {
  Open& one = pool_[collective];
  const PlanIndex& index = plans_[program_.collectives[one.id].plan];
  const Role& role = index.role(member);
  LaneState& state = one.lanes[member * index.lanes_max() + lane];
  state.busy = false;
  if (++state.sent == role.runs[role.lanes[lane].first_run + state.run].count) {
    ++state.run;
    state.sent = 0;
  }
  touch_down(one, member);
  --one.members[member].sends_left;
  tries_.push_back({collective, member, lane});
  leave_if_done(collective, member);
}

void OpenCollectives::delivered(std::uint32_t collective, std::uint32_t member, std::uint32_t in_port) {
  Open& one = pool_[collective];
  const PlanIndex& index = plans_[program_.collectives[one.id].plan];
  ++one.received[member * index.plan().ports + in_port];
  touch_down(one, member);
  --one.members[member].receives_left;
  for (const std::uint32_t lane : index.waiting(member, in_port)) tries_.push_back({collective, member, lane});
  leave_if_done(collective, member);
}

void OpenCollectives::leave_if_done(std::uint32_t collective, std::uint32_t member) {
  const MemberState& state = pool_[collective].members[member];
  if (state.arrived && state.sends_left == 0 && state.receives_left == 0) leave(collective, member);
}

void OpenCollectives::leave(std::uint32_t collective, std::uint32_t member) {
  Open& one = pool_[collective];
  one.members[member].left = true;
  left_.push_back(one.members[member].op);
  if (--one.members_left == 0) close(collective);
}

void OpenCollectives::take_left(std::vector<OpInstance>& left) {
  left.clear();
  left.swap(left_);
}

void OpenCollectives::forget_waits_before(std::uint32_t step) {
  std::erase_if(waits_, [step](const Wait& wait) { return wait.step < step; });
}

std::string OpenCollectives::describe(const OpInstance& op) const {
  for (const auto& list : open_of_) {
    for (const std::uint32_t handle : list) {
      const Open& one = pool_[handle];
      const Communicator& family = program_.communicators[program_.collectives[one.id].communicator];
      const MemberState& own = one.members[family.rank_of[op.who]];
      const bool here = family.class_of[one.group * family.members + family.rank_of[op.who]] == op.who;
      if (!here || !own.arrived || own.left || own.op.op != op.op || own.op.step != op.step) continue;
      std::string text = program_.names[program_.collectives[one.id].kind] + " on " + family.name;
      for (std::uint32_t m = 0; m < family.members; ++m) {
        if (one.members[m].arrived) continue;
        return text + ": class " + std::to_string(family.class_of[one.group * family.members + m]) + " has not arrived";
      }
      return text + ": all members have arrived, " + std::to_string(own.receives_left) + " transfers are missing";
    }
  }
  return "a collective that is not open";
}

}  // namespace stepsim
