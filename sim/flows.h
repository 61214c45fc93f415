// flows.h: flows on shared links, streaming at max-min fair rates, in integers.
//
// Law (progressive filling): raise all rates together until a link is full; the flows through it are frozen at that
// rate; go on with the rest. Here in integers: the least floor(left / count) over the links freezes every flow of the
// links that show it, then each link loses frozen count x share. Rates are in 1/27720 byte/s (27720 = lcm of 1..12, so
// that common shares are exact), work is rate x ps in 128 bits. On a change of rate work -= rate x elapsed and
// end = now + ceil(work / rate). Nothing depends on the order in which flows are listed, and k flows behave as one of
// multiplicity k. A flow that never shared takes exactly ceil(bytes x 10^12 / capacity). No epsilons.
//
// A flow's end lies up to a picosecond after it has truly drained. Those that shared with it count as having had their
// new rates since then; without that, the roundings of many ends on shared links would add up.
//
// Rates change only in the connected component (flows joined by links) that a start or an end touches. A component
// has one queued end, its earliest; a flow alone on its links is a component of one and costs O(hops).
//
// Use: start() and finish_due() as things happen at one instant, then settle() once: it solves the touched components
// and queues their ends as events of `event_kind` {a: component, b: version}.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/int128.h"
#include "sim/network.h"
#include "sim/timeline.h"

namespace stepsim {

using FlowId = std::uint32_t;

class Flows {
 public:
  Flows(const Network& network, EventQueue& queue, std::uint32_t event_kind);

  /// Starts at queue.now(). bytes > 0 over a route with at least one link. Ids are small and reused after the end.
  FlowId start(RouteId route, Bytes bytes);

  /// Takes the flows that end at this instant out of the network. `ended` gets their ids; they stay valid until the
  /// next start(). A stale event ends nothing.
  void finish_due(const QueuedEvent& event, std::vector<FlowId>& ended);

  /// Solves rates for all that was touched at this instant.
  void settle();

  [[nodiscard]] Picoseconds started(FlowId flow) const { return flows_[flow].start; }
  [[nodiscard]] RouteId route(FlowId flow) const { return flows_[flow].route; }
  /// Totals per link so far; busy counts up to now().
  [[nodiscard]] std::vector<LinkUse> link_use() const;
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

 private:
  static constexpr std::uint32_t nil = UINT32_MAX;
  using Rate = std::int64_t;  // 1/27720 byte/s
  using Work = Int128;        // rate x ps

  struct Flow {
    Work work = 0;  // left at `since`
    Rate rate = 0;  // 0: not solved yet
    Picoseconds start;
    Picoseconds since;
    Picoseconds end;
    Rate late = 0;  // one that shared with it has drained late / late_of picoseconds before now
    Rate late_of = 1;
    Bytes bytes = 0;
    RouteId route = 0;
    std::uint32_t component = nil;
    std::uint32_t next_in_component = nil;
    bool frozen = false;
    bool visited = false;
  };
  struct Component {
    std::uint32_t first = nil;
    std::uint32_t version = 0;
  };
  struct LinkState {
    std::uint32_t first = nil;  // node
    std::uint32_t flows = 0;
    std::int64_t left = 0;   // scratch of a solve
    std::int64_t count = 0;  // scratch of a solve
    bool visited = false;
    LinkUse use;
    Picoseconds busy_since;
  };
  struct Node {  // hop h of flow f is node f * hops_max_ + h, in the list of its link
    std::uint32_t previous = nil;
    std::uint32_t next = nil;
    FlowId flow = nil;
  };

  void link_in(FlowId flow);
  void link_out(FlowId flow);
  [[nodiscard]] bool alone(FlowId flow) const;
  void settle_alone(FlowId flow);
  void settle_from(FlowId seed);
  void gather_component(FlowId seed);
  void visit(FlowId flow);
  void solve_rates();
  void freeze_flows_of(LinkId link, Rate share);
  void set_rate(FlowId flow, Rate rate);
  void note_late(std::uint32_t component, const std::vector<FlowId>& ended);
  void dissolve(std::uint32_t component);
  std::uint32_t new_component();
  void queue_end(std::uint32_t component, Picoseconds end);

  const Network& network_;
  EventQueue& queue_;
  std::uint32_t event_kind_;
  std::uint32_t hops_max_ = 1;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_flows_;
  std::vector<FlowId> ending_;  // ids that become free at the next start
  std::vector<Node> nodes_;
  std::vector<LinkState> links_;
  std::vector<Component> components_;
  std::vector<std::uint32_t> free_components_;
  std::vector<FlowId> started_;       // since the last settle
  std::vector<LinkId> touched_;       // links that flows left since the last settle
  std::vector<FlowId> members_;       // scratch: flows of the component being solved
  std::vector<LinkId> member_links_;  // scratch: its links
  std::vector<LinkId> open_links_;    // scratch: those not full yet
  std::vector<LinkId> tight_;         // scratch
  std::uint64_t solves_ = 0;
};

}  // namespace stepsim
