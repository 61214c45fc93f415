// alone_time.h: how long a collective takes when one group has the network to itself, for the critical path's share of
// contention.
//
// In a folded cluster a class stands for chips of many groups, whose flows share links; so a group alone is another
// problem with symmetries of its own. Where every link along an axis is crossed by one member's flows only (each
// hardware axis named once, no detour, no NIC shared within the group) the classes still hold, and links that the same
// flows cross are as good as the narrowest of them. Elsewhere the group is folded and played by itself.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "scenarios/run.h"

namespace stepsim {

class AloneTimes {
 public:
  AloneTimes(const Assembly& assembly, const RunOptions& options);

  /// Until the class's lowest chip leaves, everyone of its group arriving at once.
  Picoseconds of(CollectiveId id, ClassId who);

 private:
  [[nodiscard]] bool ways_are_apart(std::size_t pattern) const;
  [[nodiscard]] std::vector<Picoseconds> play_classes(std::size_t pattern, std::uint32_t group) const;  // by rank
  [[nodiscard]] Picoseconds play_group(std::size_t pattern, ChipId chip) const;

  const Assembly& assembly_;
  RunOptions options_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Picoseconds>> by_group_;  // pattern, group of classes
  std::map<std::pair<std::size_t, ChipId>, Picoseconds> by_chip_;                       // pattern, chip
};

}  // namespace stepsim
