#include "sim/plan_index.h"

#include <algorithm>

namespace stepsim {
namespace {

void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

PlanIndex::PlanIndex(const TransferPlan& plan) : plan_(&plan), sending_first_{0} {
  for (const Role& role : plan.roles) lanes_max_ = std::max(lanes_max_, static_cast<std::uint32_t>(role.lanes.size()));
  for (const Role& role : plan.roles) index_role(role);
  index_members();
}

void PlanIndex::index_role(const Role& role) {
  lanes_.push_back(static_cast<std::uint32_t>(role.lanes.size()));
  sends_.push_back(0);
  for (const Lane& lane : role.lanes) index_lane(role, lane);
  first_run_.resize(lanes_.size() * lanes_max_, 0);
  index_sending(role);
}

void PlanIndex::index_lane(const Role& role, const Lane& lane) {
  first_run_.push_back(static_cast<std::uint32_t>(runs_.size()));
  for (std::uint32_t k = 0; k < lane.runs; ++k) {
    const Run& run = role.runs[lane.first_run + k];
    sends_.back() += run.count;
    index_needs(role, run, runs_.emplace_back(IndexedRun{.bytes = run.bytes, .count = run.count, .port = run.port}));
  }
  runs_.emplace_back();
}

void PlanIndex::index_needs(const Role& role, const Run& run, IndexedRun& indexed) {
  indexed.first_need = static_cast<std::uint32_t>(needs_.size());
  indexed.needs = run.needs;
  const auto first = role.needs.begin() + run.first_need;
  needs_.insert(needs_.end(), first, first + run.needs);
  const auto own = needs_.end() - run.needs;
  const auto fixed = std::stable_partition(own, needs_.end(), [](const Need& need) { return need.stride > 0; });
  indexed.growing = static_cast<std::uint32_t>(fixed - own);
}

void PlanIndex::index_sending(const Role& role) {
  std::vector<std::vector<std::uint32_t>> sending(plan_->ports);
  for (std::uint32_t l = 0; l < role.lanes.size(); ++l) {
    for (std::uint32_t k = 0; k < role.lanes[l].runs; ++k) {
      add_once(sending[role.runs[role.lanes[l].first_run + k].port], l);
    }
  }
  for (const auto& lanes : sending) {
    sending_.insert(sending_.end(), lanes.begin(), lanes.end());
    sending_first_.push_back(static_cast<std::uint32_t>(sending_.size()));
  }
}

void PlanIndex::index_members() {
  receives_.assign(plan_->members, 0);
  sender_.assign(plan_->port.size(), Sender());
  for (std::uint32_t member = 0; member < plan_->members; ++member) {
    const Role& own = plan_->roles[plan_->role_of[member]];
    for (const Lane& lane : own.lanes) {
      for (std::uint32_t k = 0; k < lane.runs; ++k) {
        const Run& run = own.runs[lane.first_run + k];
        const Port& to = port(member, run.port);
        receives_[to.to] += run.count;
        sender_[to.to * plan_->ports + to.to_port] = {member, run.port};
      }
    }
  }
}

}  // namespace stepsim
