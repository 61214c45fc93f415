// nccl_rates.h: what NCCL takes links to carry, bytes/s one way, from what its topology files say of them.
//
// Rates are those NCCL plans with, below the wire's: PCIe 60 / 120 / 240 / 480 x 100 Mb/s a lane for 8 / 16 / 32 / 64
// GT/s (x16 of generation 4: 24 GB/s), NVLink 20 GB/s each (SM70, SM80), 20.6 (SM90), 40.1 (SM100), xGMI 24 / 36 / 48
// GB/s (Vega, MI200, MI300), between sockets by the processor.
// Sources: NVIDIA/nccl src/graph/topo.h, topo.cc (kvDictPciGen, ncclTopoNVLinkBw, ncclTopoGetInterCpuBw); ROCm/rccl
// src/graph/topo.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepsim {

/// "16.0 GT/s PCIe" -> 120 (x 100 Mb/s per lane); nothing for what is not in NCCL's table.
std::optional<int> pcie_lane_speed(const std::string& link_speed);

/// Generation 1 to 6 -> the same.
std::optional<int> pcie_lane_speed_of_generation(int generation);

std::int64_t pcie_rate(int lane_speed, int lanes);

/// Of one NVLink by compute capability ("sm" of a GPU: 70, 80, 90, 100).
std::int64_t nvlink_rate(int sm);

/// Of one xGMI link by the name of the GPU's architecture ("gfx942").
std::int64_t xgmi_rate(const std::string& gcn);

/// What NCCL takes for a link that is no bottleneck.
inline constexpr std::int64_t nccl_local_rate = 5'000'000'000'000;

struct Processor {
  std::string arch;    // "x86_64", "arm64", "ppc64"
  std::string vendor;  // "GenuineIntel", "AuthenticAMD", "CentaurHauls", "  Shanghai  "
  int family = 0;
  int model = 0;
};

/// Between two sockets of this kind; nothing when NCCL has no rate for it.
std::optional<std::int64_t> socket_rate(const Processor& processor);

}  // namespace stepsim
