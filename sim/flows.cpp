#include "sim/flows.h"

#include <algorithm>
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

void count_bytes(Bytes& total, Bytes bytes, std::uint32_t count) {
  Bytes all = 0;
  if (__builtin_mul_overflow(bytes, count, &all) || __builtin_add_overflow(total, all, &total)) {
    throw std::overflow_error("the bytes over a link do not fit 63 bits");
  }
}

}  // namespace

Flows::Flows(const Network& network, EventQueue& queue, std::uint32_t event_kind)
    : network_(network), queue_(queue), event_kind_(event_kind), links_(network.links()) {
  for (RouteId route = 0; route < network.routes(); ++route) {
    hops_max_ = std::max(hops_max_, static_cast<std::uint32_t>(network.hops(route).size()));
  }
}

FlowId Flows::start(RouteId route, Bytes bytes) {
  if (!ending_.empty()) {
    free_flows_.insert(free_flows_.end(), ending_.begin(), ending_.end());
    ending_.clear();
  }
  FlowId id = static_cast<FlowId>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
    nodes_.resize(flows_.size() * hops_max_);
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
    flows_[id] = Flow();
  }
  Flow& flow = flows_[id];
  flow.route = route;
  flow.bytes = bytes;
  flow.work = bytes * work_per_byte;
  flow.start = flow.since = queue_.now();
  link_in(id);
  started_.push_back(id);
  return id;
}

void Flows::link_in(FlowId id) {
  const auto hops = network_.hops(flows_[id].route);
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    LinkState& link = links_[hops[h].link];
    const std::uint32_t node = id * hops_max_ + h;
    nodes_[node] = {nil, link.first, id};
    if (link.first != nil) nodes_[link.first].previous = node;
    link.first = node;
    if (link.flows == 0) link.busy_since = queue_.now();
    link.flows += hops[h].count;
    link.use.peak_flows = std::max(link.use.peak_flows, link.flows);
  }
}

void Flows::link_out(FlowId id) {
  const auto hops = network_.hops(flows_[id].route);
  for (std::uint32_t h = 0; h < hops.size(); ++h) {
    LinkState& link = links_[hops[h].link];
    const Node node = nodes_[id * hops_max_ + h];
    if (node.previous == nil) {
      link.first = node.next;
    } else {
      nodes_[node.previous].next = node.next;
    }
    if (node.next != nil) nodes_[node.next].previous = node.previous;
    count_bytes(link.use.bytes, flows_[id].bytes, hops[h].count);
    link.flows -= hops[h].count;
    if (link.flows == 0) {
      link.use.busy += queue_.now() - link.busy_since;
    } else {
      touched_.push_back(hops[h].link);
    }
  }
}

void Flows::finish_due(const QueuedEvent& event, std::vector<FlowId>& ended) {
  ended.clear();
  if (components_[event.a].version != event.b) return;
  for (FlowId id = components_[event.a].first; id != nil; id = flows_[id].next_in_component) {
    if (flows_[id].end == event.time) ended.push_back(id);
  }
  note_late(event.a, ended);
  dissolve(event.a);
  // Those that stay keep their rates; they are found again from the links the others leave.
  for (const FlowId id : ended) link_out(id);
  ending_.insert(ending_.end(), ended.begin(), ended.end());
}

/// Tells all flows of the component how long ago, in less than a picosecond, the last of the ended has drained.
void Flows::note_late(std::uint32_t component, const std::vector<FlowId>& ended) {
  const FlowId first = components_[component].first;
  if (flows_[first].next_in_component == nil) return;  // a flow alone has nobody to tell
  Rate late = 1;
  Rate late_of = 1;
  for (const FlowId id : ended) {
    const Flow& flow = flows_[id];
    const auto over = static_cast<Rate>(static_cast<Work>(flow.rate) * (flow.end - flow.since).count() - flow.work);
    if (static_cast<Work>(over) * late_of >= static_cast<Work>(late) * flow.rate) continue;
    late = over;
    late_of = flow.rate;
  }
  for (FlowId id = first; id != nil; id = flows_[id].next_in_component) {
    flows_[id].late = late;
    flows_[id].late_of = late_of;
  }
}

void Flows::settle() {
  for (const FlowId id : started_) {
    if (flows_[id].component != nil) continue;  // solved together with another that started now
    if (alone(id)) {
      settle_alone(id);
    } else {
      settle_from(id);
    }
  }
  started_.clear();
  // A component that a flow has left is dissolved but not yet solved again: its flows have no component. Flows of one
  // link are always of one component, so the first tells for all.
  for (const LinkId link : touched_) {
    if (links_[link].first == nil) continue;  // the others left too
    const FlowId first = nodes_[links_[link].first].flow;
    if (flows_[first].component == nil) settle_from(first);
  }
  touched_.clear();
}

bool Flows::alone(FlowId id) const {
  const auto hops = network_.hops(flows_[id].route);
  return std::all_of(hops.begin(), hops.end(), [&](const Hop& hop) { return links_[hop.link].flows == hop.count; });
}

void Flows::settle_alone(FlowId id) {
  Rate least = INT64_MAX;
  for (const Hop& hop : network_.hops(flows_[id].route)) {
    least = std::min(least, network_.capacity(hop.link) * rate_unit / hop.count);
  }
  set_rate(id, least);
  const std::uint32_t component = new_component();
  components_[component].first = id;
  flows_[id].component = component;
  flows_[id].next_in_component = nil;
  queue_end(component, flows_[id].end);
}

void Flows::settle_from(FlowId seed) {
  gather_component(seed);
  solve_rates();
  const std::uint32_t component = new_component();
  Picoseconds earliest = Picoseconds::max();
  std::uint32_t next = nil;
  for (const FlowId id : members_) {
    Flow& flow = flows_[id];
    if (flow.component != nil) dissolve(flow.component);
    flow.component = component;
    flow.next_in_component = next;
    flow.visited = flow.frozen = false;
    next = id;
    earliest = std::min(earliest, flow.end);
  }
  components_[component].first = next;
  for (const LinkId link : member_links_) links_[link].visited = false;
  queue_end(component, earliest);
}

void Flows::visit(FlowId id) {
  if (flows_[id].visited) return;
  flows_[id].visited = true;
  members_.push_back(id);
}

void Flows::gather_component(FlowId seed) {
  members_.clear();
  member_links_.clear();
  visit(seed);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (const Hop& hop : network_.hops(flows_[members_[i]].route)) {
      LinkState& link = links_[hop.link];
      if (link.visited) continue;
      link.visited = true;
      link.left = network_.capacity(hop.link) * rate_unit;
      link.count = link.flows;
      member_links_.push_back(hop.link);
      for (std::uint32_t node = link.first; node != nil; node = nodes_[node].next) visit(nodes_[node].flow);
    }
  }
}

void Flows::solve_rates() {
  ++solves_;
  open_links_ = member_links_;
  while (!open_links_.empty()) {
    Rate share = INT64_MAX;
    tight_.clear();
    std::erase_if(open_links_, [&](LinkId id) { return links_[id].count == 0; });
    for (const LinkId id : open_links_) {
      const LinkState& link = links_[id];
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
    const FlowId id = nodes_[node].flow;
    if (flows_[id].frozen) continue;
    flows_[id].frozen = true;
    for (const Hop& hop : network_.hops(flows_[id].route)) {
      links_[hop.link].left -= share * hop.count;
      links_[hop.link].count -= hop.count;
    }
    set_rate(id, share);
  }
}

void Flows::set_rate(FlowId id, Rate rate) {
  Flow& flow = flows_[id];
  if (rate <= 0) throw InputError("capacity", "a link has too many flows for its capacity: less than 1/27720 B/s each");
  const Rate late = std::exchange(flow.late, 0);
  if (flow.rate == rate) return;
  const Picoseconds now = queue_.now();
  flow.work -= static_cast<Work>(flow.rate) * (now - flow.since).count();
  if (late > 0) flow.work -= floor_divide(static_cast<Work>(rate - flow.rate) * late, flow.late_of);
  flow.work = std::max<Work>(flow.work, 1);  // this instant's ends are over
  flow.since = now;
  flow.rate = rate;
  flow.end = now + time_for(flow.work, rate);
}

std::uint32_t Flows::new_component() {
  if (!free_components_.empty()) {
    const std::uint32_t id = free_components_.back();
    free_components_.pop_back();
    return id;
  }
  components_.emplace_back();
  return static_cast<std::uint32_t>(components_.size() - 1);
}

void Flows::dissolve(std::uint32_t component) {
  for (FlowId id = components_[component].first; id != nil; id = flows_[id].next_in_component) {
    flows_[id].component = nil;
  }
  components_[component].first = nil;
  ++components_[component].version;  // its queued end is stale now
  free_components_.push_back(component);
}

void Flows::queue_end(std::uint32_t component, Picoseconds end) {
  queue_.push({end, event_kind_, component, components_[component].version, 0});
}

std::vector<LinkUse> Flows::link_use() const {
  std::vector<LinkUse> uses(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    uses[i] = links_[i].use;
    if (links_[i].flows > 0) uses[i].busy += queue_.now() - links_[i].busy_since;
  }
  return uses;
}

}  // namespace stepsim
