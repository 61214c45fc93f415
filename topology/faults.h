// faults.h: what is not as it should be in a cluster: slow chips, degraded links, links that are down.
//
// `at` are coordinates as Cluster::coordinates gives them (the slice first where there are several). Shares are
// fractions of whole numbers, so that what follows from them does not depend on rounding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim {

/// A chip whose compute takes longer: ceil(time * slower / than).
struct ChipFault {
  std::vector<int> at;
  std::uint32_t slower = 1;
  std::uint32_t than = 1;
};

/// A link that carries part / of its capacity (rounded down to whole bytes/s, at least 1), or nothing at all.
/// Ports: "x+", "x-", "y+" ... of the chip's ICI, "pcie up", "pcie down", and of its host's NIC "dcn up", "dcn down".
struct LinkFault {
  std::vector<int> at;
  std::string port;
  bool both_directions = false;  // the whole cable: the link of this port and the one back
  std::uint32_t part = 1;
  std::uint32_t of = 1;
  bool down = false;  // ICI links alone: transfers go round them; elsewhere there is no way round
};

}  // namespace stepsim
