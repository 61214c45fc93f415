// lone_play.h: a collective by itself, in all groups of its shape at once and with nothing else on the links: how long
// each method takes, and so which is the fastest.
#pragma once

#include <string>
#include <vector>

#include "scenarios/collective_methods.h"

namespace stepsim {

struct LonePlay {
  CollectiveMethod method;
  Picoseconds time;          // from the launch until the last member of the last group has left
  std::string fullest;       // kind of link that carries most of what it could
  double fullest_share = 0;  // of that
  std::uint64_t transfers = 0;
};

LonePlay play_alone(const CollectiveMethods& methods, const CollectiveMethod& method, Bytes array);

/// All methods that can win, fastest first; of equals the one that is registered first.
std::vector<LonePlay> fastest_first(const CollectiveMethods& methods, Bytes array);

}  // namespace stepsim
