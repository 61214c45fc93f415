// host_spec.h: one host as a user describes it: devices in a PCIe tree, and NVLink from chip to chip over it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace stepsim {

/// A NIC under a switch (next to its GPUs: GPUDirect) or, without one, at a socket.
struct NicPlace {
  int at_switch = -1;  // number of the switch; -1: at a socket
  int at_socket = 0;
  std::int64_t rate = 0;  // of its PCIe link, one way, bytes/s; 0: as the chips'
  bool operator==(const NicPlace&) const = default;
};

/// Devices under switches, switches (perhaps by way of a second level) under sockets, evenly spread.
struct PcieTreeSpec {
  std::vector<int> devices_per_switch;  // {2, 2, 2, 2}
  std::vector<int> switches_per_upper;  // {2, 2}: the second level; empty: none
  int sockets = 1;                      // 1 or 2
  std::int64_t switch_rate = 0;         // from a switch to what is above it, one way; 0: the chip's pcie_rate
  std::int64_t socket_rate = 0;         // between two sockets (QPI, UPI, xGMI), one way
  Picoseconds socket_latency;
  bool peer_to_peer = true;           // off: every transfer over PCIe is staged through the nearest host memory
  bool intel_peers = false;           // links at a socket carry 5/6 of their rate
  std::int64_t host_memory_rate = 0;  // of each socket's memory, in and out counted each; when staged
  std::int64_t memory_link_rate = 0;  // each way between a socket and its memory; when staged
  Picoseconds staging_latency;
  std::vector<NicPlace> nics;
  bool operator==(const PcieTreeSpec&) const = default;
};

enum class NvlinkWiring { pairs, hybrid_cube_mesh };

struct NvlinkSpec {
  NvlinkWiring wiring = NvlinkWiring::pairs;
  std::int64_t rate = 0;  // of one NVLink, one way, bytes/s
  Picoseconds latency;
  int links = 1;  // pairs: NVLinks of a bridge
  bool operator==(const NvlinkSpec&) const = default;
};

}  // namespace stepsim
