// role_writer.h: writing down what members do, lane by lane, and keeping like members' roles once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/transfer_plan.h"

namespace stepsim {

/// A role as it is written: lane() opens a lane, run() adds to the last one opened.
class RoleWriter {
 public:
  void lane();
  /// `count` transfers through `port`; nothing is added when there are none.
  void run(std::uint32_t port, std::uint32_t count, Bytes bytes, const std::vector<Need>& needs = {});
  /// A lane with this run alone.
  void lane_of(std::uint32_t port, std::uint32_t count, Bytes bytes, const std::vector<Need>& needs = {}) {
    lane();
    run(port, count, bytes, needs);
  }
  [[nodiscard]] const Role& role() const { return role_; }

 private:
  Role role_;
};

/// The different roles of a group's members, in the order in which they are first seen.
class RoleTable {
 public:
  /// The next member's role.
  void add(const Role& role);
  [[nodiscard]] const std::vector<Role>& roles() const { return roles_; }
  [[nodiscard]] const std::vector<std::uint32_t>& role_of() const { return role_of_; }  // per member

 private:
  std::vector<Role> roles_;
  std::vector<std::uint32_t> role_of_;
  std::map<std::vector<std::int64_t>, std::uint32_t> known_;
};

}  // namespace stepsim
