#include "collectives/role_writer.h"

namespace stepsim {

namespace {

// Everything a role says, in a row: equal only if the roles are.
std::vector<std::int64_t> spelled(const Role& role) {
  std::vector<std::int64_t> all;
  for (const Lane& lane : role.lanes) {
    all.push_back(lane.runs);
    for (std::uint32_t r = lane.first_run; r < lane.first_run + lane.runs; ++r) {
      const Run& run = role.runs[r];
      all.insert(all.end(), {run.port, run.count, run.bytes, run.needs});
      for (std::uint32_t n = run.first_need; n < run.first_need + run.needs; ++n) {
        const Need& need = role.needs[n];
        all.insert(all.end(), {need.port, need.base, need.stride});
      }
    }
  }
  return all;
}

}  // namespace

void RoleWriter::lane() {
  role_.lanes.push_back({.first_run = static_cast<std::uint32_t>(role_.runs.size()), .runs = 0});
}

void RoleWriter::run(std::uint32_t port, std::uint32_t count, Bytes bytes, const std::vector<Need>& needs) {
  if (count == 0) return;
  Run run{.port = port, .count = count, .bytes = bytes};
  run.first_need = static_cast<std::uint32_t>(role_.needs.size());
  run.needs = static_cast<std::uint32_t>(needs.size());
  role_.needs.insert(role_.needs.end(), needs.begin(), needs.end());
  role_.runs.push_back(run);
  ++role_.lanes.back().runs;
}

void RoleTable::add(const Role& role) {
  const auto [known, is_new] = known_.try_emplace(spelled(role), static_cast<std::uint32_t>(roles_.size()));
  if (is_new) roles_.push_back(role);
  role_of_.push_back(known->second);
}

}  // namespace stepsim
