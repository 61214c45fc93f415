// plan_index.h: what the clock must look up in a TransferPlan at every event, worked out once and laid out flat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/transfer_plan.h"

namespace stepsim {

/// A run of a lane. The runs of a lane follow each other; one with count 0 ends the lane.
struct IndexedRun {
  Bytes bytes = 0;
  std::uint32_t count = 0;
  std::uint32_t port = 0;
  std::uint32_t first_need = 0;
  std::uint32_t growing = 0;  // needs that grow from transfer to transfer; they come first
  std::uint32_t needs = 0;    // all; once the first transfer may start, the others hold for good
};

class PlanIndex {
 public:
  explicit PlanIndex(const TransferPlan& plan);

  [[nodiscard]] const TransferPlan& plan() const { return *plan_; }
  [[nodiscard]] std::uint32_t ports() const { return plan_->ports; }
  [[nodiscard]] std::uint32_t lanes_max() const { return lanes_max_; }
  [[nodiscard]] std::uint32_t lanes(std::uint32_t member) const { return lanes_[plan_->role_of[member]]; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t member) const { return sends_[plan_->role_of[member]]; }
  [[nodiscard]] std::uint32_t receives(std::uint32_t member) const { return receives_[member]; }

  /// Where the runs of a lane start.
  [[nodiscard]] std::uint32_t first_run(std::uint32_t member, std::uint32_t lane) const {
    return first_run_[plan_->role_of[member] * lanes_max_ + lane];
  }
  [[nodiscard]] const IndexedRun& run(std::uint32_t run) const { return runs_[run]; }
  [[nodiscard]] const Need* needs_of(const IndexedRun& run) const { return needs_.data() + run.first_need; }
  [[nodiscard]] const Port& port(std::uint32_t member, std::uint32_t out_port) const {
    return plan_->port[member * plan_->ports + out_port];
  }
  struct Sender {
    std::uint32_t member = no_member;  // no_member: nobody sends to this port
    std::uint32_t port = 0;
  };
  [[nodiscard]] Sender sender(std::uint32_t member, std::uint32_t in_port) const {
    return sender_[member * plan_->ports + in_port];
  }

  /// Lanes of this member that send through an outgoing port.
  [[nodiscard]] std::span<const std::uint32_t> sending(std::uint32_t member, std::uint32_t out_port) const {
    const std::size_t i = plan_->role_of[member] * plan_->ports + out_port;
    return {sending_.data() + sending_first_[i], sending_.data() + sending_first_[i + 1]};
  }

 private:
  void index_role(const Role& role);
  void index_lane(const Role& role, const Lane& lane);
  void index_needs(const Role& role, const Run& run, IndexedRun& indexed);
  void index_sending(const Role& role);
  void index_members();

  const TransferPlan* plan_;
  std::uint32_t lanes_max_ = 0;
  std::vector<std::uint32_t> lanes_;      // per role
  std::vector<std::uint32_t> sends_;      // per role
  std::vector<std::uint32_t> receives_;   // per member
  std::vector<std::uint32_t> first_run_;  // [role * lanes_max + lane]
  std::vector<IndexedRun> runs_;
  std::vector<Need> needs_;
  std::vector<std::uint32_t> sending_, sending_first_;
  std::vector<Sender> sender_;  // [member * ports + in_port]
};

}  // namespace stepsim
