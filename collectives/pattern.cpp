#include "collectives/pattern.h"

namespace stepsim {

bool reaches(const TransferPattern& pattern, std::uint32_t sender, std::uint32_t port, std::uint32_t other) {
  if (sender == other) return false;
  const Among among = pattern.among.empty() ? Among::all : pattern.among[port];
  if (among == Among::row) return sender / pattern.row == other / pattern.row;
  return among == Among::all || sender % pattern.row == other % pattern.row;
}

TransferPlan tabulate(const TransferPattern& pattern) {
  TransferPlan plan;
  plan.members = pattern.members;
  plan.ports = pattern.ports;
  plan.roles = pattern.roles;
  plan.eager = pattern.eager;
  plan.bystanders = pattern.bystanders;
  plan.role_of.reserve(plan.members);
  plan.port.reserve(std::size_t{plan.members} * plan.ports);
  for (std::uint32_t member = 0; member < plan.members; ++member) {
    plan.role_of.push_back(pattern.role_of(member));
    for (std::uint32_t port = 0; port < plan.ports; ++port) plan.port.push_back(pattern.port(member, port));
  }
  return plan;
}

std::vector<bool> takes_part(const TransferPattern& pattern) {
  std::vector<bool> part(pattern.members, true);
  if (!pattern.bystanders) return part;
  const TransferPlan plan = tabulate(pattern);
  for (std::uint32_t member = 0; member < pattern.members; ++member) part[member] = plan.takes_part(member);
  return part;
}

std::vector<std::vector<bool>> ports_in_use(const TransferPattern& pattern) {
  std::vector<std::vector<bool>> used;
  for (const Role& role : pattern.roles) {
    used.emplace_back(pattern.ports, false);
    for (const Run& run : role.runs) used.back()[run.port] = true;
  }
  return used;
}

}  // namespace stepsim
