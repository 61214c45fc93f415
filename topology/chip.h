// chip.h: one accelerator as the framework addresses it. Base SI units throughout.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/time.h"

namespace stepsim {

/// How axes of a slice get their wraparound links (facts: Cloud TPU docs and the book, "TPU networking").
///   cubes: every axis wraps when all extents are multiples of 4 (v4, v5p, 7x: optical switches between 4x4x4 cubes)
///   full_extent: an axis wraps only at the pod's full extent (v5e, v6e: 16; v3: 32)
enum class WrapRule { none, cubes, full_extent };

struct ChipSpec {
  std::string name;                     // "tpu-v5p"
  std::map<std::string, double> flops;  // dense peak per dtype: "bf16" -> FLOP/s
  Bytes memory = 0;                     // bytes
  double memory_rate = 0;               // bytes/s
  double matmul_efficiency = 1;         // share of the dense peak that matmuls reach
  double memory_efficiency = 1;
  Picoseconds launch_overhead;  // added to every compute op
  int matmul_tile = 1;          // matmul dims are padded up to multiples of it; 1: no padding

  // Interconnect of a torus chip; unused (0) elsewhere.
  int axes = 0;                 // 2 or 3
  std::vector<int> pod;         // extents of a full pod
  std::vector<int> host_shape;  // chips of one host along each axis: {2, 2, 1}; empty: one chip each
  WrapRule wrap = WrapRule::none;
  std::int64_t link_rate = 0;  // one way, bytes/s
  Picoseconds link_latency;
  std::int64_t pcie_rate = 0;  // chip to host, one way, bytes/s
  Picoseconds pcie_latency;
  std::int64_t dcn_rate_per_chip = 0;    // egress share of the host's NIC, bytes/s
  Picoseconds dcn_latency;               // one way, from the sender's NIC to the receiver's
  int cores = 1;                         // TensorCores per chip
  bool slice_name_counts_cores = false;  // "v5p-4096" is 4096 cores = 2048 chips
  std::string slice_prefix;              // "v5p"
};

}  // namespace stepsim
