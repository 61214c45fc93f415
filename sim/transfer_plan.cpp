#include "sim/transfer_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace stepsim {
namespace {

[[noreturn]] void fail(std::uint32_t member, std::uint32_t port, const std::string& what) {
  throw std::logic_error("transfer plan: member " + std::to_string(member) + ", port " + std::to_string(port) + ": " +
                         what);
}

/// Calls f(member, run) for every run of every member.
template <class F>
void for_each_run(const TransferPlan& plan, F f) {
  for (std::uint32_t member = 0; member < plan.members; ++member) {
    const Role& role = plan.roles.at(plan.role_of.at(member));
    for (const Lane& lane : role.lanes) {
      for (std::uint32_t r = 0; r < lane.runs; ++r) f(member, role.runs.at(lane.first_run + r));
    }
  }
}

}  // namespace

void check(const TransferPlan& plan) {
  if (plan.port.size() != static_cast<std::size_t>(plan.members) * plan.ports)
    fail(0, 0, "port table has a wrong size");
  if (plan.role_of.size() != plan.members) fail(0, 0, "role_of has a wrong size");
  std::vector<std::int64_t> delivered(plan.port.size(), 0);
  std::vector<std::size_t> sender(plan.port.size(), SIZE_MAX);  // the outgoing port that leads here
  for_each_run(plan, [&](std::uint32_t member, const Run& run) {
    if (run.port >= plan.ports) fail(member, run.port, "no such port");
    if (run.count == 0 || run.bytes < 0) fail(member, run.port, "an empty run, or negative bytes");
    const std::size_t out = static_cast<std::size_t>(member) * plan.ports + run.port;
    const Port& port = plan.port[out];
    if (port.to >= plan.members || port.to_port >= plan.ports) fail(member, run.port, "leads nowhere");
    const std::size_t in = static_cast<std::size_t>(port.to) * plan.ports + port.to_port;
    if (sender[in] != SIZE_MAX && sender[in] != out) fail(member, run.port, "two ports lead to one incoming port");
    sender[in] = out;
    delivered[in] += run.count;
  });
  for_each_run(plan, [&](std::uint32_t member, const Run& run) {
    const Role& role = plan.roles[plan.role_of[member]];
    for (std::uint32_t n = 0; n < run.needs; ++n) {
      const Need& need = role.needs.at(run.first_need + n);
      if (need.port >= plan.ports) fail(member, need.port, "needed, but no such port");
      const std::int64_t last = need.base + static_cast<std::int64_t>(need.stride) * (run.count - 1);
      const std::int64_t most = std::max(last, static_cast<std::int64_t>(need.base));
      if (most > delivered[static_cast<std::size_t>(member) * plan.ports + need.port])
        fail(member, need.port, "needs more than is delivered");
    }
  });
}

bool TransferPlan::takes_part(std::uint32_t member) const {
  if (!bystanders) return true;
  bool part = false;
  for_each_run(*this, [&](std::uint32_t sender, const Run& run) {
    part = part || sender == member || port[static_cast<std::size_t>(sender) * ports + run.port].to == member;
  });
  return part;
}

Bytes bytes_sent(const TransferPlan& plan, std::uint32_t member) {
  const Role& role = plan.roles.at(plan.role_of.at(member));
  Bytes sum = 0;
  for (const Lane& lane : role.lanes) {
    for (std::uint32_t r = 0; r < lane.runs; ++r) {
      const Run& run = role.runs[lane.first_run + r];
      sum += run.bytes * run.count;
    }
  }
  return sum;
}

}  // namespace stepsim
