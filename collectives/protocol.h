// protocol.h: what it costs to drive the hardware: launching a collective, synchronising a transfer, bytes lost on the wire.
//
// NCCL has three ways of moving data: LL (a flag with every 4 bytes), LL128 (8 bytes of flags in every 128) and Simple
// (whole slices, then a flag). Each is a launch, a latency per hop by the kind of link, and a usable share of the wire.
// The figures are catalog data; their source is NCCL's own tuning model (src/graph/tuning.cc) where nothing else is said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/pattern.h"

namespace stepsim {

/// Added to the latency of each transfer, by the slowest kind of link on its way.
struct HopCosts {
  Picoseconds direct;   // chip to chip, or through a switch between chips (NVLink, ICI)
  Picoseconds pcie;     // through PCIe switches, sockets, host memory
  Picoseconds network;  // through NICs and network switches
  [[nodiscard]] bool none() const { return direct.count() == 0 && pcie.count() == 0 && network.count() == 0; }
};

struct Protocol {
  std::string name;                     // "LL", "LL128", "Simple", ...
  std::vector<std::string> algorithms;  // that it serves; empty: all
  bool one_node = false;                // only for groups inside a node
  Picoseconds launch;                   // before the first transfer of a collective
  HopCosts hops;
  std::uint32_t share = 1;  // of the wire that data can use, as a fraction: share / of
  std::uint32_t of = 1;
  std::uint32_t channels = 0;  // of rings and trees; 0: as many as the network has rails or rings
  Bytes chunk = 0;             // pieces that trees, chains and hierarchies pass on; 0: whole

  [[nodiscard]] bool serves(const std::string& algorithm) const;
};

/// The pattern with the bytes that its transfers have on the wire: divided by the usable share, rounded up.
TransferPattern on_the_wire(TransferPattern pattern, const Protocol& protocol);

}  // namespace stepsim
