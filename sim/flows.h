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
// is named by one of its flows and has one queued end, its earliest. A flow alone on its links is a component of one:
// O(hops) to start and to end, and no solve. What only sharing flows need lies apart, so that a flow alone is one
// cache line (64 bytes) and a link half a line: with tens of thousands in progress it is memory that costs time.
//
// Use: start() and finish_due() as things happen at one instant, then settle() once: it solves the touched components
// and queues their ends as events of `event_kind` {a: component, b: version}.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/event_queue.h"
#include "sim/int128.h"
#include "sim/network.h"
#include "sim/prefetch.h"
#include "sim/timeline.h"

namespace stepsim {

using FlowId = std::uint32_t;

/// What a flow carries, in terms of its owner.
struct Cargo {
  std::uint32_t owner = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

class Flows {
 public:
  Flows(const Network& network, EventQueue& queue, std::uint32_t event_kind);

  /// Starts at queue.now(). bytes > 0 over a route with at least one link. Ids are small and reused after the end.
  FlowId start(RouteId route, Bytes bytes, const Cargo& cargo = {});

  /// Takes the flows that end at this instant out of the network. `ended` gets their ids; they stay valid until the
  /// next start(). A stale event ends nothing.
  void finish_due(const QueuedEvent& event, std::vector<FlowId>& ended);

  /// Like chips start and end by the ten thousand at one instant. What will be touched is fetched into the cache ahead
  /// of it, in two stages where one address is read from the other.
  [[gnu::always_inline]] void prefetch_flow(FlowId flow) const { prefetch(&flows_[flow]); }
  [[gnu::always_inline]] void prefetch_rest(FlowId flow) const {
    prefetch(&links_[flows_[flow].link]);
    prefetch(&paths_[flows_[flow].route]);
    const FlowId other = flows_[flow].next_in_component;
    if (other == nil) return;
    prefetch(&flows_[other]);
    prefetch(&sharing_[other]);
    prefetch(&sharing_[flow]);
  }
  [[gnu::always_inline]] void prefetch_link(RouteId route, LinkId first) const {
    prefetch(links_.data() + first);
    prefetch(paths_.data() + route);
  }
  /// The flow that will be started after `starts` others.
  [[gnu::always_inline]] void prefetch_start(std::size_t starts) const {
    if (starts < free_flows_.size()) prefetch(&flows_[free_flows_[free_flows_.size() - 1 - starts]]);
  }

  /// Solves rates for all that was touched at this instant.
  void settle();

  [[nodiscard]] Picoseconds started(FlowId flow) const { return flows_[flow].start; }
  [[nodiscard]] RouteId route(FlowId flow) const { return flows_[flow].route; }
  [[nodiscard]] Picoseconds latency(FlowId flow) const { return paths_[flows_[flow].route].latency; }
  [[nodiscard]] const Cargo& cargo(FlowId flow) const { return flows_[flow].cargo; }
  /// Totals per link so far; busy counts up to now().
  [[nodiscard]] std::vector<LinkUse> link_use() const;
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

 private:
  static constexpr std::uint32_t nil = UINT32_MAX;
  using Rate = std::int64_t;  // 1/27720 byte/s
  using Work = Int128;        // rate x ps

  struct alignas(64) Flow {
    Bytes bytes = 0;
    Picoseconds start;
    Picoseconds end;
    RouteId route = 0;
    LinkId link = 0;         // the first of its route
    FlowId component = nil;  // nil: not solved since it started, or since its component was dissolved
    FlowId next_in_component = nil;
    std::uint32_t version : 31 = 0;  // of the component that is named by this flow
    std::uint32_t has_shared : 1 = 0;
    Cargo cargo;
  };
  struct alignas(64) Sharing {  // of a flow that has shared
    Work work = 0;              // left at `since`
    Rate rate = 0;              // 0: not solved yet
    Picoseconds since;
    Rate late = 0;  // one that shared with it has drained late / late_of picoseconds before now
    Rate late_of = 1;
  };
  enum class Mark : std::uint8_t { none, visited, frozen };  // in a solve
  struct alignas(32) LinkState {
    std::uint32_t first = nil;  // node
    std::uint32_t flows = 0;
    std::uint32_t peak_flows = 0;
    Bytes bytes = 0;
    std::int64_t busy = 0;  // ps; while it carries flows, less the instant since when
  };
  struct alignas(32) Path {  // what is asked of a route at every start and end, in one place
    Hop first;
    std::uint32_t hops = 0;  // the others are in Network
    Rate alone = INT64_MAX;  // of a flow that shares no link
    Picoseconds latency;
  };
  struct LinkScratch {  // of a solve
    std::int64_t left = 0;
    std::uint32_t count = 0;
    bool visited = false;
  };
  struct Node {  // hop h of flow f is node (f << hop_bits_) + h, in the list of its link
    std::uint32_t previous = nil;
    std::uint32_t next = nil;
  };
  struct LastAlone {  // flows that start together are mostly alike
    Bytes bytes = 0;
    Rate rate = 0;
    Picoseconds time;
  };
  struct Alone {  // that starts
    Picoseconds end;
    FlowId flow = nil;
    std::uint32_t version = 0;
  };

  inline FlowId new_flow();
  [[nodiscard]] FlowId flow_of(std::uint32_t node) const { return node >> hop_bits_; }
  inline bool link_in(FlowId flow);
  inline void start_alone(FlowId flow);
  void index_route(RouteId route);
  [[nodiscard]] std::span<const Hop> hops(RouteId route) const {
    return paths_[route].hops == 1 ? std::span(&paths_[route].first, 1) : network_.hops(route);
  }
  inline void link_out(FlowId flow);
  void settle_alone();
  void settle_sharers();
  void settle_touched();
  [[gnu::always_inline]] void prefetch_sharers(LinkId link) const;
  void settle_from(FlowId seed);
  void gather_component(FlowId seed);
  void visit(FlowId flow);
  void solve_rates();
  void freeze_flows_of(LinkId link, Rate share);
  void set_rate(FlowId flow, Rate rate);
  void note_late(FlowId component, const std::vector<FlowId>& ended);
  inline void dissolve(FlowId component);
  void queue_end(FlowId component, Picoseconds end);

  const Network& network_;
  EventQueue& queue_;
  std::uint32_t event_kind_;
  std::uint32_t hop_bits_ = 0;
  std::vector<Flow> flows_;
  std::vector<Sharing> sharing_;  // [FlowId]
  std::vector<Mark> marks_;       // [FlowId], apart: a flow is met once per hop
  std::vector<FlowId> free_flows_;
  std::vector<FlowId> ending_;  // ids that become free at the next start
  std::vector<Node> nodes_;
  std::vector<LinkState> links_;
  std::vector<Path> paths_;           // [RouteId]
  std::vector<LinkScratch> scratch_;  // [LinkId]
  LastAlone last_alone_;
  std::vector<Alone> alone_;          // started alone since the last settle
  std::vector<FlowId> sharers_;       // started on links in use since the last settle
  std::vector<LinkId> touched_;       // links that flows left since the last settle
  std::vector<FlowId> members_;       // scratch: flows of the component being solved
  std::vector<LinkId> member_links_;  // scratch: its links
  std::vector<LinkId> open_links_;    // scratch: those not full yet
  std::vector<LinkId> tight_;         // scratch
  std::uint64_t solves_ = 0;
};

}  // namespace stepsim
