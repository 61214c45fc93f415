#include "sim/flows.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr std::int64_t rate_unit = 27720;  // rates per byte/s
constexpr Int128 work_per_byte = static_cast<Int128>(rate_unit) * 1'000'000'000'000;

Picoseconds time_for(Int128 work, std::int64_t rate) {
  const Int128 time = (work + rate - 1) / rate;
  if (time > INT64_MAX) throw TimeOverflow();
  return Picoseconds(static_cast<std::int64_t>(time));
}

Int128 floor_divide(Int128 a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

[[noreturn]] void fail_for_lack_of_capacity() {
  throw InputError("capacity", "a link has too many flows for its capacity: less than 1/27720 B/s each");
}

void count_bytes(Bytes& total, Bytes bytes, std::uint32_t count) {
  Bytes all = 0;
  if (__builtin_mul_overflow(bytes, count, &all) || __builtin_add_overflow(total, all, &total)) {
    throw std::overflow_error("the bytes over a link do not fit 63 bits");
  }
}

}  // namespace

Flows::Flows(const Network& network, EventQueue& queue, std::uint32_t event_kind)
    : network_(network), queue_(queue), event_kind_(event_kind), links_(network.links()), scratch_(network.links()) {
  paths_.reserve(network.routes());
  for (RouteId route = 0; route < network.routes(); ++route) index_route(route);
}

void Flows::index_route(RouteId route) {
  const auto hops = network_.hops(route);
  Path path;
  path.hops = static_cast<std::uint32_t>(hops.size());
  path.latency = network_.route_latency(route);
  for (const auto [link, count] : hops) {
    const Rate whole = network_.capacity(link) * rate_unit;
    path.alone = std::min(path.alone, count == 1 ? whole : whole / count);
  }
  if (!hops.empty()) {
    path.first = hops[0];
    hop_bits_ = std::max(hop_bits_, static_cast<std::uint32_t>(std::bit_width(hops.size() - 1)));
  }
  paths_.push_back(path);
}

FlowId Flows::new_flow() {
  if (!ending_.empty()) {
    free_flows_.insert(free_flows_.end(), ending_.begin(), ending_.end());
    ending_.clear();
  }
  if (!free_flows_.empty()) {
    const FlowId id = free_flows_.back();
    free_flows_.pop_back();
    return id;
  }
  flows_.emplace_back();
  sharing_.emplace_back();
  marks_.push_back(Mark::none);
  nodes_.resize(flows_.size() << hop_bits_);
  return static_cast<FlowId>(flows_.size() - 1);
}

/// Is it the first on all its links?
bool Flows::link_in(FlowId id) {
  bool first = true;
  std::uint32_t node = id << hop_bits_;
  for (const auto [at, count] : hops(flows_[id].route)) {
    LinkState& link = links_[at];
    nodes_[node] = {nil, link.first};
    if (link.flows == 0) {
      link.busy -= queue_.now().count();
    } else {
      nodes_[link.first].previous = node;
      first = false;
    }
    link.first = node++;
    link.flows += count;
    link.peak_flows = std::max(link.peak_flows, link.flows);
  }
  return first;
}

void Flows::start_alone(FlowId id) {
  Flow& flow = flows_[id];
  const Rate rate = paths_[flow.route].alone;
  if (flow.bytes != last_alone_.bytes || rate != last_alone_.rate) {
    if (rate == 0) fail_for_lack_of_capacity();
    last_alone_ = {flow.bytes, rate, time_for(flow.bytes * work_per_byte, rate)};
  }
  flow.end = flow.start + last_alone_.time;
  flow.component = id;
  alone_.push_back({flow.end, id, flow.version});
}

FlowId Flows::start(RouteId route, Bytes bytes, const Cargo& cargo) {
  const FlowId id = new_flow();
  Flow& flow = flows_[id];
  flow.bytes = bytes;
  flow.start = queue_.now();
  flow.route = route;
  flow.link = paths_[route].first.link;
  flow.has_shared = 0;
  flow.cargo = cargo;
  if (link_in(id)) {
    start_alone(id);
  } else {
    sharers_.push_back(id);
  }
  return id;
}

void Flows::link_out(FlowId id) {
  const Flow& flow = flows_[id];
  const Node* node = nodes_.data() + (static_cast<std::size_t>(id) << hop_bits_);
  for (const auto [at, count] : hops(flow.route)) {
    const auto [previous, next] = *node++;
    LinkState& link = links_[at];
    (previous == nil ? link.first : nodes_[previous].next) = next;
    if (next != nil) nodes_[next].previous = previous;
    count_bytes(link.bytes, flow.bytes, count);
    link.flows -= count;
    if (link.flows == 0) {
      link.busy += queue_.now().count();
    } else {
      touched_.push_back(at);
    }
  }
}

void Flows::dissolve(FlowId component) {
  ++flows_[component].version;  // its queued end is stale now
  for (FlowId id = component; id != nil;) {
    flows_[id].component = nil;
    id = std::exchange(flows_[id].next_in_component, nil);
  }
}

void Flows::finish_due(const QueuedEvent& event, std::vector<FlowId>& ended) {
  ended.clear();
  const FlowId component = event.a;
  if (flows_[component].version != event.b) return;
  if (flows_[component].next_in_component == nil) {
    ended.push_back(component);
  } else {
    for (FlowId id = component; id != nil; id = flows_[id].next_in_component) {
      if (flows_[id].end == event.time) ended.push_back(id);
    }
    note_late(component, ended);
  }
  dissolve(component);
  // Those that stay keep their rates; they are found again from the links the others leave.
  for (const FlowId id : ended) {
    link_out(id);
    ending_.push_back(id);
  }
}

/// Tells all flows of the component how long ago, in less than a picosecond, the last of the ended has drained.
void Flows::note_late(FlowId component, const std::vector<FlowId>& ended) {
  Rate late = 1;
  Rate late_of = 1;
  for (const FlowId id : ended) {
    const Sharing& one = sharing_[id];
    const Work done = static_cast<Work>(one.rate) * (flows_[id].end - one.since).count();
    const auto over = static_cast<Rate>(done - one.work);
    if (static_cast<Work>(over) * late_of >= static_cast<Work>(late) * one.rate) continue;
    late = over;
    late_of = one.rate;
  }
  for (FlowId id = component; id != nil; id = flows_[id].next_in_component) {
    sharing_[id].late = late;
    sharing_[id].late_of = late_of;
  }
}

inline void Flows::prefetch_sharers(LinkId link) const {
  prefetch(&scratch_[link]);
  if (links_[link].first == nil) return;
  const FlowId one = flow_of(links_[link].first);
  prefetch(&flows_[one]);
  prefetch(&sharing_[one]);
  const std::uint32_t next = nodes_[links_[link].first].next;
  if (next == nil) return;
  prefetch(&flows_[flow_of(next)]);
  prefetch(&sharing_[flow_of(next)]);
}

void Flows::settle() {
  settle_sharers();
  settle_alone();
  sharers_.clear();
  settle_touched();
  touched_.clear();
}

void Flows::settle_sharers() {
  for (std::size_t i = 0; i < sharers_.size(); ++i) {
    if (i + prefetch_far < sharers_.size()) prefetch(&links_[flows_[sharers_[i + prefetch_far]].link]);
    if (i + prefetch_near < sharers_.size()) prefetch_sharers(flows_[sharers_[i + prefetch_near]].link);
    if (flows_[sharers_[i]].component == nil) settle_from(sharers_[i]);  // else solved together with another
  }
}

/// A component that a flow has left is dissolved but not yet solved again: its flows have no component. Flows of one
/// link are always of one component, so the first tells for all.
void Flows::settle_touched() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + prefetch_far < touched_.size()) prefetch(&links_[touched_[i + prefetch_far]]);
    if (i + prefetch_near < touched_.size()) prefetch_sharers(touched_[i + prefetch_near]);
    if (links_[touched_[i]].first == nil) continue;  // the others left too
    const FlowId first = flow_of(links_[touched_[i]].first);
    if (flows_[first].component == nil) settle_from(first);
  }
}

/// Those that started alone have their ends; without any sharer at this instant they are still alone.
void Flows::settle_alone() {
  for (const Alone& one : alone_) {
    if (!sharers_.empty() && flows_[one.flow].version != one.version) continue;
    queue_.push({one.end, event_kind_, one.flow, one.version, 0});
  }
  alone_.clear();
}

void Flows::settle_from(FlowId seed) {
  gather_component(seed);
  solve_rates();
  Picoseconds earliest = Picoseconds::max();
  FlowId next = nil;
  for (std::size_t i = members_.size(); i-- > 0;) {  // the seed comes first and names the component
    Flow& flow = flows_[members_[i]];
    if (flow.component != nil) dissolve(flow.component);
    flow.component = seed;
    flow.next_in_component = next;
    marks_[members_[i]] = Mark::none;
    next = members_[i];
    earliest = std::min(earliest, flow.end);
  }
  for (const LinkId link : member_links_) scratch_[link].visited = false;
  queue_end(seed, earliest);
}

void Flows::visit(FlowId id) {
  if (marks_[id] != Mark::none) return;
  marks_[id] = Mark::visited;
  members_.push_back(id);
  Flow& flow = flows_[id];
  if (flow.has_shared != 0) return;
  flow.has_shared = 1;
  const Rate rate = flow.component == nil ? 0 : paths_[flow.route].alone;
  sharing_[id] = {.work = flow.bytes * work_per_byte, .rate = rate, .since = flow.start};
}

void Flows::gather_component(FlowId seed) {
  members_.clear();
  member_links_.clear();
  visit(seed);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (const Hop& hop : hops(flows_[members_[i]].route)) {
      LinkScratch& scratch = scratch_[hop.link];
      if (scratch.visited) continue;
      scratch.visited = true;
      scratch.left = network_.capacity(hop.link) * rate_unit;
      scratch.count = links_[hop.link].flows;
      member_links_.push_back(hop.link);
      for (std::uint32_t node = links_[hop.link].first; node != nil; node = nodes_[node].next) visit(flow_of(node));
    }
  }
}

void Flows::solve_rates() {
  ++solves_;
  open_links_ = member_links_;
  while (!open_links_.empty()) {
    Rate share = INT64_MAX;
    tight_.clear();
    std::erase_if(open_links_, [&](LinkId id) { return scratch_[id].count == 0; });
    for (const LinkId id : open_links_) {
      const LinkScratch& link = scratch_[id];
      const Rate offered = link.left / link.count;
      if (offered < share) {
        share = offered;
        tight_.clear();
      }
      if (offered == share) tight_.push_back(id);
    }
    for (const LinkId id : tight_) freeze_flows_of(id, share);
  }
}

void Flows::freeze_flows_of(LinkId tight, Rate share) {
  for (std::uint32_t node = links_[tight].first; node != nil; node = nodes_[node].next) {
    const FlowId id = flow_of(node);
    if (std::exchange(marks_[id], Mark::frozen) == Mark::frozen) continue;
    for (const Hop& hop : hops(flows_[id].route)) {
      scratch_[hop.link].left -= share * hop.count;
      scratch_[hop.link].count -= hop.count;
    }
    set_rate(id, share);
  }
}

void Flows::set_rate(FlowId id, Rate rate) {
  Sharing& flow = sharing_[id];
  if (rate <= 0) fail_for_lack_of_capacity();
  const Rate late = std::exchange(flow.late, 0);
  if (flow.rate == rate) return;
  const Picoseconds now = queue_.now();
  flow.work -= static_cast<Work>(flow.rate) * (now - flow.since).count();
  if (late > 0) flow.work -= floor_divide(static_cast<Work>(rate - flow.rate) * late, flow.late_of);
  flow.work = std::max<Work>(flow.work, 1);  // this instant's ends are over
  flow.since = now;
  flow.rate = rate;
  flows_[id].end = now + time_for(flow.work, rate);
}

void Flows::queue_end(FlowId component, Picoseconds end) {
  queue_.push({end, event_kind_, component, flows_[component].version, 0});
}

std::vector<LinkUse> Flows::link_use() const {
  std::vector<LinkUse> uses(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const LinkState& link = links_[i];
    const std::int64_t busy = link.busy + (link.flows > 0 ? queue_.now().count() : 0);
    uses[i] = {link.bytes, Picoseconds(busy), link.peak_flows};
  }
  return uses;
}

}  // namespace stepsim
