// open_collectives.h: the collectives in progress, each a small state machine over its TransferPlan.
//
// One is opened when its first member arrives and closed when its last has left. Members are matched by the order in
// which they issue collectives to a communicator on a stream. What a member does next follows from counters alone
// (transfers delivered per incoming port, place in each lane), so nothing depends on the order within an instant.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/events.h"
#include "sim/flows.h"
#include "sim/plan_index.h"
#include "sim/prefetch.h"
#include "sim/simulation.h"

namespace stepsim {

class OpenCollectives {
 public:
  OpenCollectives(const StepProgram& program, const Network& network, EventQueue& queue, Flows& flows);

  // --- ends: only counters change; what they make possible is noted for later phases ---
  void drained(std::uint32_t collective, std::uint32_t member, std::uint32_t lane);
  /// A flow of a collective, due to be delivered at `delivery`, has drained.
  void flow_drained(const Cargo& cargo, Picoseconds delivery);
  void delivered(std::uint32_t collective, std::uint32_t member, std::uint32_t in_port);
  void leave(std::uint32_t collective, std::uint32_t member);
  /// Ops whose member left since the last call.
  void take_left(std::vector<OpInstance>& left);

  // --- starts ---
  void arrive(const OpInstance& op);
  /// Starts every transfer that may start.
  void start_ready();

  /// Fetch into the cache what flow_drained() and delivered() will touch (see Flows).
  [[gnu::always_inline]] void prefetch_sender(const Cargo& cargo) const {
    prefetch(pool_[cargo.owner].of(cargo.a) + cargo.b);
  }
  [[gnu::always_inline]] void prefetch_receiver(const QueuedEvent& delivered) const {
    prefetch(pool_[delivered.a].of(delivered.b) + delivered.c);
  }
  [[gnu::always_inline]] void prefetch_next(const QueuedEvent& delivered) const {
    const Slot* const slots = pool_[delivered.a].of(delivered.b);
    const Slot& port = slots[delivered.c];  // what it allows is mostly sent on through the like port
    flows_.prefetch_link(port.route, port.link);
    if (port.watchers.first != none) prefetch(slots + port.watchers.first);
  }

  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }
  std::vector<Wait> take_waits() { return std::move(waits_); }
  /// Drops the waits of earlier steps, so that they do not pile up.
  void forget_waits_before(std::uint32_t step);
  /// "all-gather on fsdp: 3 of 4 members have arrived, class 5 is missing", for a deadlock's message.
  [[nodiscard]] std::string describe(const OpInstance& op) const;

 private:
  // Per open collective and chip: 32 bytes, and 44 per port (or lane, if there are more of them).
  struct MemberState {
    OpId op = 0;
    std::uint32_t step = 0;
    std::uint32_t sends_left = 0;
    std::uint32_t receives_left = 0;
    std::uint32_t flying = 0;  // transfers to or from it in progress
    bool arrived = false;
    bool left = false;
    Picoseconds still_since;  // flying is 0 since then
  };
  // Lane i, incoming port i and outgoing port i lie together: mostly one lane sends through one port what came in
  // through that port, and then an event touches one place of a chip rather than four.
  //
  // A lane is busy from when its next transfer may start until that has drained, or watches one port that it needs
  // more from, or waits for somebody to arrive. Those who watch a port are listed by how much they need, and each
  // knows how much the next one needs: a delivery touches only the lanes that it satisfies.
  struct Watchers {
    std::uint32_t first = none;  // lane
    std::uint32_t least = 0;     // deliveries that it watches for
  };
  struct Slot {
    std::uint32_t run : 30 = 0;  // of the lane, in PlanIndex
    std::uint32_t busy : 1 = 0;
    std::uint32_t watches : 1 = 0;
    std::uint32_t sent = 0;      // of the run
    Watchers next;               // of the port that the lane watches
    std::uint32_t received = 0;  // through the incoming port
    Watchers watchers;           // of the incoming port
    std::uint32_t to = 0;        // where the outgoing port leads
    std::uint32_t to_port = 0;
    RouteId route = 0;
    LinkId link = 0;  // the first of the route
  };
  struct Open {
    std::uint32_t handle = 0;  // in pool_
    CollectiveId id = 0;
    std::uint32_t plan = 0;
    std::uint32_t group = 0;
    std::uint32_t members_left = 0;
    std::uint64_t order = 0;  // which one of its channel
    std::uint32_t place = 0;  // index of its list in open_of_
    const PlanIndex* index = nullptr;
    const ClassId* class_of = nullptr;  // [member]
    std::uint32_t width = 0;            // slots per member
    std::vector<MemberState> members;
    std::vector<Slot> slots;  // [member * width + lane or port]

    [[nodiscard]] Slot* of(std::uint32_t member) { return slots.data() + static_cast<std::size_t>(member) * width; }
    [[nodiscard]] const Slot* of(std::uint32_t member) const { return const_cast<Open*>(this)->of(member); }
  };
  struct ReadyLane {
    std::uint32_t collective = 0;
    std::uint32_t member = 0;
    std::uint32_t lane = 0;
  };

  void index_channels();
  void index_plans();
  std::uint32_t find_or_open(const OpInstance& op);
  std::uint32_t open(CollectiveId id, std::uint32_t group, std::uint64_t order, std::uint32_t place);
  void set_up_members(Open& one) const;
  void close(std::uint32_t collective);
  void note_arrival(Open& one, std::uint32_t member);
  inline void make_ready(Open& one, std::uint32_t member, std::uint32_t lane);
  inline void offer(Open& one, std::uint32_t member, std::uint32_t lane);
  static inline bool both_arrived(const Open& one, std::uint32_t member, const IndexedRun& run);
  static inline bool watch_unmet_need(const PlanIndex& index, const IndexedRun& run, Slot* slots, std::uint32_t lane);
  inline void drained(Open& one, std::uint32_t member, std::uint32_t lane);
  static inline void watch(Slot* slots, std::uint32_t port, std::uint32_t lane, std::uint32_t least);
  inline void wake_watchers(Open& one, std::uint32_t member, std::uint32_t in_port);
  void leave_if_done(const Open& one, std::uint32_t member);
  inline void start_transfer(const ReadyLane& at);
  inline void take_off(Open& one, std::uint32_t member);
  inline void touch_down(MemberState& member);

  const StepProgram& program_;
  const Network& network_;
  EventQueue& queue_;
  Flows& flows_;
  std::vector<PlanIndex> plans_;
  // A channel is (communicator, stream): collectives of one channel are matched by order.
  std::vector<std::vector<std::uint32_t>> order_in_step_;  // [program][op]
  std::vector<std::vector<std::uint32_t>> channel_of_;     // [program][op]
  std::vector<std::vector<std::uint32_t>> per_step_;       // [program][channel]
  std::vector<std::uint32_t> first_place_;                 // [channel]: index of group 0 in open_of_
  std::vector<std::vector<std::uint32_t>> open_of_;        // [channel, group]: open collectives, oldest first
  std::vector<Open> pool_;
  std::vector<std::uint32_t> shape_of_;           // [plan]: plans of like shape have state of one size
  std::vector<std::vector<std::uint32_t>> free_;  // [shape]
  std::vector<ReadyLane> ready_;
  std::vector<OpInstance> left_;
  std::vector<Wait> waits_;
  std::uint64_t transfers_ = 0;
};

}  // namespace stepsim
