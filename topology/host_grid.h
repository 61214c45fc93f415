// host_grid.h: which host a chip of a slice sits on.
//
// Hosts tile a slice in blocks of chips (host_block), row-major, slice after slice; at the far ends a block may be cut.
#pragma once

#include "topology/cluster.h"

namespace stepsim {

class HostGrid {
 public:
  HostGrid(const ChipSpec& chip, const std::vector<int>& shape, int slices);

  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }  // of all slices
  [[nodiscard]] std::uint32_t host_of(ChipId chip) const;
  [[nodiscard]] int chips_on(std::uint32_t host) const;

 private:
  struct Axis {
    std::uint32_t extent = 1;
    std::uint32_t block = 1;
    std::uint32_t hosts = 1;
    ChipId stride = 1;  // of chip ids
  };

  std::vector<Axis> axes_;
  ChipId chips_per_slice_ = 1;
  std::uint32_t hosts_ = 1;
};

}  // namespace stepsim
