// plan_index.h: what the clock must look up in a TransferPlan at every event, worked out once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/transfer_plan.h"

namespace stepsim {

class PlanIndex {
 public:
  explicit PlanIndex(const TransferPlan& plan);

  [[nodiscard]] const TransferPlan& plan() const { return *plan_; }
  [[nodiscard]] std::uint32_t lanes_max() const { return lanes_max_; }
  [[nodiscard]] const Role& role(std::uint32_t member) const { return plan_->roles[plan_->role_of[member]]; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t member) const { return sends_[plan_->role_of[member]]; }
  [[nodiscard]] std::uint32_t receives(std::uint32_t member) const { return receives_[member]; }

  /// Lanes of this member that wait for deliveries through an incoming port.
  [[nodiscard]] std::span<const std::uint32_t> waiting(std::uint32_t member, std::uint32_t in_port) const {
    return slice(waiting_, waiting_first_, plan_->role_of[member] * plan_->ports + in_port);
  }
  /// Lanes of this member that send through an outgoing port.
  [[nodiscard]] std::span<const std::uint32_t> sending(std::uint32_t member, std::uint32_t out_port) const {
    return slice(sending_, sending_first_, plan_->role_of[member] * plan_->ports + out_port);
  }
  struct Sender {
    std::uint32_t member = UINT32_MAX;  // UINT32_MAX: nobody sends to this port
    std::uint32_t port = 0;
  };
  [[nodiscard]] Sender sender(std::uint32_t member, std::uint32_t in_port) const {
    return sender_[member * plan_->ports + in_port];
  }

 private:
  using Lists = std::vector<std::vector<std::uint32_t>>;
  static std::span<const std::uint32_t> slice(const std::vector<std::uint32_t>& all,
                                              const std::vector<std::uint32_t>& first, std::size_t i) {
    return {all.data() + first[i], all.data() + first[i + 1]};
  }
  static void flatten(const Lists& lists, std::vector<std::uint32_t>& all, std::vector<std::uint32_t>& first);
  void index_roles();
  void index_members();

  const TransferPlan* plan_;
  std::uint32_t lanes_max_ = 0;
  std::vector<std::uint32_t> sends_;     // per role
  std::vector<std::uint32_t> receives_;  // per member
  std::vector<std::uint32_t> waiting_, waiting_first_;
  std::vector<std::uint32_t> sending_, sending_first_;
  std::vector<Sender> sender_;  // [member * ports + in_port]
};

}  // namespace stepsim
