#include "sim/open_collectives.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stepsim {
namespace {

constexpr std::uint32_t max_run = 0x3fffffff;

}  // namespace

OpenCollectives::OpenCollectives(const StepProgram& program, const Network& network, EventQueue& queue, Flows& flows)
    : program_(program), network_(network), queue_(queue), flows_(flows) {
  index_plans();
  index_channels();
}

void OpenCollectives::index_plans() {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> shapes;
  plans_.reserve(program_.plans.size());
  for (const TransferPlan& plan : program_.plans) {
    const PlanIndex& index = plans_.emplace_back(plan);
    const auto next = static_cast<std::uint32_t>(shapes.size());
    shape_of_.push_back(shapes.try_emplace({plan.members, plan.ports, index.lanes_max()}, next).first->second);
  }
  free_.resize(shapes.size());
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
        open_of_.resize(open_of_.size() + family.groups());
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
  const Collective& definition = program_.collectives[id];
  const std::uint32_t plan = definition.plan(group);
  std::vector<std::uint32_t>& free = free_[shape_of_[plan]];
  auto handle = static_cast<std::uint32_t>(pool_.size());
  if (free.empty()) {
    pool_.emplace_back();
  } else {
    handle = free.back();
    free.pop_back();
  }
  Open& one = pool_[handle];
  one.handle = handle;
  one.id = id;
  one.plan = plan;
  one.group = group;
  one.order = order;
  one.place = place;
  one.index = &plans_[plan];
  one.class_of = program_.communicators[definition.communicator].members(group).data();
  set_up_members(one);
  open_of_[place].push_back(handle);
  return handle;
}

void OpenCollectives::set_up_members(Open& one) const {
  const PlanIndex& index = *one.index;
  const std::uint32_t members = index.plan().members;
  const RouteId* const routes = program_.route_tables[program_.collectives[one.id].routes].data();
  one.members_left = members;
  one.width = std::max(index.ports(), index.lanes_max());
  one.members.assign(members, MemberState());
  one.slots.assign(static_cast<std::size_t>(members) * one.width, Slot());
  for (std::uint32_t m = 0; m < members; ++m) {
    one.members[m].sends_left = index.sends(m);
    one.members[m].receives_left = index.receives(m);
    if (index.plan().bystanders && index.sends(m) == 0 && index.receives(m) == 0) --one.members_left;
    Slot* const slots = one.of(m);
    for (std::uint32_t lane = 0; lane < index.lanes(m); ++lane) slots[lane].run = index.first_run(m, lane) & max_run;
    for (std::uint32_t p = 0; p < index.ports(); ++p) {
      const Port& port = index.port(m, p);
      slots[p].to = port.to;
      slots[p].to_port = port.to_port;
      const RouteId route = routes[static_cast<std::size_t>(one.class_of[m]) * index.ports() + p];
      if (route >= network_.routes()) continue;  // of a port that is not used
      slots[p].route = route;
      if (!network_.hops(route).empty()) slots[p].link = network_.hops(route)[0].link;
    }
  }
}

void OpenCollectives::close(std::uint32_t collective) {
  const Open& one = pool_[collective];
  std::erase(open_of_[one.place], collective);
  free_[shape_of_[one.plan]].push_back(collective);
}

void OpenCollectives::arrive(const OpInstance& op) {
  const std::uint32_t handle = find_or_open(op);
  Open& one = pool_[handle];
  const std::uint32_t member = program_.communicators[program_.collectives[one.id].communicator].rank_of[op.who];
  MemberState& state = one.members[member];
  state.arrived = true;
  state.op = op.op;
  state.step = op.step;
  state.still_since = queue_.now();
  note_arrival(one, member);
  if (state.sends_left == 0 && state.receives_left == 0) {
    queue_.push({queue_.now(), static_cast<std::uint32_t>(EventKind::member_leaves), handle, member, 0});
  }
}

bool OpenCollectives::both_arrived(const Open& one, std::uint32_t member, const IndexedRun& run) {
  if (!one.members[member].arrived) return false;
  return one.index->plan().eager || one.members[one.of(member)[run.port].to].arrived;
}

void OpenCollectives::watch(Slot* slots, std::uint32_t port, std::uint32_t lane, std::uint32_t least) {
  Watchers* at = &slots[port].watchers;
  while (at->first != none && at->least < least) at = &slots[at->first].next;
  slots[lane].watches = 1;
  slots[lane].next = std::exchange(*at, Watchers{lane, least});
}

bool OpenCollectives::watch_unmet_need(const PlanIndex& index, const IndexedRun& run, Slot* slots, std::uint32_t lane) {
  const std::uint32_t sent = slots[lane].sent;
  const Need* need = index.needs_of(run);
  const Need* const end = need + (sent == 0 ? run.needs : run.growing);
  for (; need != end; ++need) {
    const std::int64_t least = need->base + static_cast<std::int64_t>(need->stride) * sent;
    if (slots[need->port].received >= least) continue;
    watch(slots, need->port, lane, static_cast<std::uint32_t>(least));
    return true;
  }
  return false;
}

void OpenCollectives::make_ready(Open& one, std::uint32_t member, std::uint32_t lane) {
  one.of(member)[lane].busy = 1;
  ready_.push_back({one.handle, member, lane});
}

/// Notes the lane as ready if its next transfer may start. What allows that holds for good, so once is enough.
void OpenCollectives::offer(Open& one, std::uint32_t member, std::uint32_t lane) {
  Slot* const slots = one.of(member);
  Slot& state = slots[lane];
  const IndexedRun& run = one.index->run(state.run);
  if (state.busy != 0 || state.watches != 0 || run.count == 0) return;
  if (state.sent == 0 && !both_arrived(one, member, run)) return;
  if (watch_unmet_need(*one.index, run, slots, lane)) return;
  make_ready(one, member, lane);
}

void OpenCollectives::note_arrival(Open& one, std::uint32_t member) {
  const PlanIndex& index = *one.index;
  for (std::uint32_t lane = 0; lane < index.lanes(member); ++lane) offer(one, member, lane);
  for (std::uint32_t port = 0; port < index.ports(); ++port) {
    const PlanIndex::Sender sender = index.sender(member, port);
    if (sender.member == no_member || !one.members[sender.member].arrived) continue;
    for (const std::uint32_t lane : index.sending(sender.member, sender.port)) offer(one, sender.member, lane);
  }
}

void OpenCollectives::take_off(Open& one, std::uint32_t member) {
  MemberState& state = one.members[member];
  if (state.flying++ == 0 && state.arrived && state.still_since < queue_.now()) {
    waits_.push_back({one.class_of[member], state.op, state.step, state.still_since, queue_.now()});
  }
}

void OpenCollectives::touch_down(MemberState& member) {
  if (--member.flying == 0) member.still_since = queue_.now();
}

void OpenCollectives::start_transfer(const ReadyLane& at) {
  Open& one = pool_[at.collective];
  const Slot* const slots = one.of(at.member);
  const IndexedRun& run = one.index->run(slots[at.lane].run);
  const Slot& port = slots[run.port];
  ++transfers_;
  take_off(one, at.member);
  take_off(one, port.to);
  if (run.bytes == 0 || network_.hops(port.route).empty()) {
    queue_.push(
        {queue_.now(), static_cast<std::uint32_t>(EventKind::member_drained), at.collective, at.member, at.lane});
    queue_.push({queue_.now() + network_.route_latency(port.route), static_cast<std::uint32_t>(EventKind::delivered),
                 at.collective, port.to, port.to_port});
    return;
  }
  flows_.start(port.route, run.bytes, {at.collective, at.member, at.lane, 0});
}

void OpenCollectives::start_ready() {
  for (const ReadyLane& lane : ready_) start_transfer(lane);
  ready_.clear();
}

void OpenCollectives::drained(Open& one, std::uint32_t member, std::uint32_t lane) {
  Slot& state = one.of(member)[lane];
  state.busy = 0;
  if (++state.sent == one.index->run(state.run).count) {
    ++state.run;
    state.sent = 0;
  }
  MemberState& own = one.members[member];
  touch_down(own);
  offer(one, member, lane);
  if (--own.sends_left == 0) leave_if_done(one, member);
}

/// Lanes that have what they watched for may start, or look for another need that is unmet.
void OpenCollectives::flow_drained(const Cargo& cargo, Picoseconds delivery) {
  Open& one = pool_[cargo.owner];
  const Slot* const slots = one.of(cargo.a);
  const Slot& port = slots[one.index->run(slots[cargo.b].run).port];
  queue_.push({delivery, static_cast<std::uint32_t>(EventKind::delivered), cargo.owner, port.to, port.to_port});
  drained(one, cargo.a, cargo.b);
}

void OpenCollectives::drained(std::uint32_t collective, std::uint32_t member, std::uint32_t lane) {
  drained(pool_[collective], member, lane);
}

void OpenCollectives::wake_watchers(Open& one, std::uint32_t member, std::uint32_t in_port) {
  Slot* const slots = one.of(member);
  Slot& port = slots[in_port];
  while (port.watchers.first != none && port.watchers.least <= port.received) {
    const std::uint32_t lane = port.watchers.first;
    port.watchers = slots[lane].next;
    slots[lane].watches = 0;
    if (slots[lane].sent > 0 && one.index->run(slots[lane].run).growing == 1) {
      make_ready(one, member, lane);  // within a run that was all it needed
    } else {
      offer(one, member, lane);
    }
  }
}

void OpenCollectives::delivered(std::uint32_t collective, std::uint32_t member, std::uint32_t in_port) {
  Open& one = pool_[collective];
  Slot& port = one.of(member)[in_port];
  ++port.received;
  MemberState& own = one.members[member];
  touch_down(own);
  wake_watchers(one, member, in_port);
  if (--own.receives_left == 0) leave_if_done(one, member);
}

void OpenCollectives::leave_if_done(const Open& one, std::uint32_t member) {
  const MemberState& state = one.members[member];
  if (state.arrived && state.sends_left == 0 && state.receives_left == 0) leave(one.handle, member);
}

void OpenCollectives::leave(std::uint32_t collective, std::uint32_t member) {
  Open& one = pool_[collective];
  MemberState& state = one.members[member];
  state.left = true;
  left_.push_back({one.class_of[member], state.op, state.step});
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
      const bool here = family.group_of[op.who] == one.group;
      if (!here || !own.arrived || own.left || own.op != op.op || own.step != op.step) continue;
      std::string text = program_.names[program_.collectives[one.id].kind] + " on " + family.name;
      for (std::uint32_t m = 0; m < family.members(one.group).size(); ++m) {
        if (one.members[m].arrived) continue;
        return text + ": class " + std::to_string(family.members(one.group)[m]) + " has not arrived";
      }
      return text + ": all members have arrived, " + std::to_string(own.receives_left) + " transfers are missing";
    }
  }
  return "a collective that is not open";
}

}  // namespace stepsim
