#include "topology/host_grid.h"

#include <algorithm>

#include "topology/torus_shape.h"

namespace stepsim {

HostGrid::HostGrid(const ChipSpec& chip, const std::vector<int>& shape, int slices)
    : axes_(shape.size()), hosts_(static_cast<std::uint32_t>(slices)) {
  const std::vector<int> block = host_block(chip, shape);
  for (std::size_t a = shape.size(); a-- > 0;) {
    Axis& axis = axes_[a];
    axis.extent = static_cast<std::uint32_t>(shape[a]);
    axis.block = static_cast<std::uint32_t>(block[a]);
    axis.hosts = (axis.extent + axis.block - 1) / axis.block;
    axis.stride = chips_per_slice_;
    chips_per_slice_ *= axis.extent;
    hosts_ *= axis.hosts;
  }
}

std::uint32_t HostGrid::host_of(ChipId chip) const {
  std::uint32_t host = chip / chips_per_slice_;
  for (const Axis& axis : axes_) host = host * axis.hosts + chip / axis.stride % axis.extent / axis.block;
  return host;
}

int HostGrid::chips_on(std::uint32_t host) const {
  std::uint32_t chips = 1;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    chips *= std::min(axis->block, axis->extent - host % axis->hosts * axis->block);
    host /= axis->hosts;
  }
  return static_cast<int>(chips);
}

}  // namespace stepsim
