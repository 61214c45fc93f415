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
#include "sim/simulation.h"

namespace stepsim {

class OpenCollectives {
 public:
  OpenCollectives(const StepProgram& program, const Network& network, EventQueue& queue, Flows& flows,
                  std::vector<Carried>& carried);

  // --- ends: only counters change; what they make possible is noted for later phases ---
  void drained(std::uint32_t collective, std::uint32_t member, std::uint32_t lane);
  void delivered(std::uint32_t collective, std::uint32_t member, std::uint32_t in_port);
  void leave(std::uint32_t collective, std::uint32_t member);
  /// Ops whose member left since the last call.
  void take_left(std::vector<OpInstance>& left);

  // --- starts ---
  void arrive(const OpInstance& op);
  /// Starts every noted transfer that may start.
  void start_ready();

  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }
  std::vector<Wait> take_waits() { return std::move(waits_); }
  /// Drops the waits of earlier steps, so that they do not pile up.
  void forget_waits_before(std::uint32_t step);
  /// "all-gather on fsdp: 3 of 4 members have arrived, class 5 is missing", for a deadlock's message.
  [[nodiscard]] std::string describe(const OpInstance& op) const;

 private:
  struct MemberState {
    OpInstance op;
    bool arrived = false;
    bool left = false;
    std::uint32_t sends_left = 0;
    std::uint32_t receives_left = 0;
    std::uint32_t flying = 0;  // transfers to or from it in progress
    Picoseconds still_since;   // flying is 0 since then
  };
  struct LaneState {
    std::uint32_t run = 0;   // of the lane
    std::uint32_t sent = 0;  // of the run
    bool busy = false;
  };
  struct Open {
    CollectiveId id = 0;
    std::uint32_t group = 0;
    std::uint32_t members_left = 0;
    std::uint64_t order = 0;              // which one of its channel
    std::uint32_t place = 0;              // index of its list in open_of_
    std::vector<std::uint32_t> received;  // [member * ports + in_port]
    std::vector<LaneState> lanes;         // [member * lanes_max + lane]
    std::vector<MemberState> members;
  };
  struct LaneTry {
    std::uint32_t collective = 0;
    std::uint32_t member = 0;
    std::uint32_t lane = 0;
  };

  void index_channels();
  std::uint32_t find_or_open(const OpInstance& op);
  std::uint32_t open(CollectiveId id, std::uint32_t group, std::uint64_t order, std::uint32_t place);
  void close(std::uint32_t collective);
  void note_arrival(std::uint32_t collective, std::uint32_t member);
  void try_lane(const LaneTry& lane);
  void leave_if_done(std::uint32_t collective, std::uint32_t member);
  [[nodiscard]] bool may_start(const Open& open, std::uint32_t member, const Run& run, std::uint32_t sent) const;
  void start_transfer(std::uint32_t collective, std::uint32_t member, std::uint32_t lane, const Run& run);
  void take_off(Open& open, std::uint32_t member);
  void touch_down(Open& open, std::uint32_t member);

  const StepProgram& program_;
  const Network& network_;
  EventQueue& queue_;
  Flows& flows_;
  std::vector<Carried>& carried_;  // [FlowId]
  std::vector<PlanIndex> plans_;
  // A channel is (communicator, stream): collectives of one channel are matched by order.
  std::vector<std::vector<std::uint32_t>> order_in_step_;  // [program][op]
  std::vector<std::vector<std::uint32_t>> channel_of_;     // [program][op]
  std::vector<std::vector<std::uint32_t>> per_step_;       // [program][channel]
  std::vector<std::uint32_t> first_place_;                 // [channel]: index of group 0 in open_of_
  std::vector<std::vector<std::uint32_t>> open_of_;        // [channel, group]: open collectives, oldest first
  std::vector<Open> pool_;
  std::vector<std::vector<std::uint32_t>> free_;  // [plan]
  std::vector<LaneTry> tries_;
  std::vector<OpInstance> left_;
  std::vector<Wait> waits_;
  std::uint64_t transfers_ = 0;
};

}  // namespace stepsim
