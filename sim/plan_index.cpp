#include "sim/plan_index.h"

#include <algorithm>

namespace stepsim {
namespace {

void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

PlanIndex::PlanIndex(const TransferPlan& plan) : plan_(&plan) {
  index_roles();
  index_members();
}

void PlanIndex::flatten(const Lists& lists, std::vector<std::uint32_t>& all, std::vector<std::uint32_t>& first) {
  first.push_back(0);
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    first.push_back(static_cast<std::uint32_t>(all.size()));
  }
}

void PlanIndex::index_roles() {
  Lists waiting(plan_->roles.size() * plan_->ports);
  Lists sending(plan_->roles.size() * plan_->ports);
  sends_.assign(plan_->roles.size(), 0);
  for (std::size_t r = 0; r < plan_->roles.size(); ++r) {
    const Role& role = plan_->roles[r];
    lanes_max_ = std::max(lanes_max_, static_cast<std::uint32_t>(role.lanes.size()));
    for (std::uint32_t l = 0; l < role.lanes.size(); ++l) {
      for (std::uint32_t k = 0; k < role.lanes[l].runs; ++k) {
        const Run& run = role.runs[role.lanes[l].first_run + k];
        sends_[r] += run.count;
        add_once(sending[r * plan_->ports + run.port], l);
        for (std::uint32_t n = 0; n < run.needs; ++n) {
          add_once(waiting[r * plan_->ports + role.needs[run.first_need + n].port], l);
        }
      }
    }
  }
  flatten(waiting, waiting_, waiting_first_);
  flatten(sending, sending_, sending_first_);
}

void PlanIndex::index_members() {
  receives_.assign(plan_->members, 0);
  sender_.assign(plan_->port.size(), Sender());
  for (std::uint32_t member = 0; member < plan_->members; ++member) {
    const Role& own = role(member);
    for (const Lane& lane : own.lanes) {
      for (std::uint32_t k = 0; k < lane.runs; ++k) {
        const Run& run = own.runs[lane.first_run + k];
        const Port& port = plan_->port[member * plan_->ports + run.port];
        receives_[port.to] += run.count;
        sender_[port.to * plan_->ports + port.to_port] = {member, run.port};
      }
    }
  }
}

}  // namespace stepsim
