#include "topology/groups.h"

#include <utility>

namespace stepsim {

Groups::Groups(const std::vector<HardwareAxis>& hardware, std::vector<GroupAxis> shape) : shape_(std::move(shape)) {
  for (const GroupAxis& axis : shape_) {
    std::uint32_t unit = static_cast<std::uint32_t>(axis.hops);
    for (std::size_t a = static_cast<std::size_t>(axis.hardware_axis) + 1; a < hardware.size(); ++a) {
      unit *= static_cast<std::uint32_t>(hardware[a].extent);
    }
    unit_.push_back(unit);
    members_ *= static_cast<std::uint32_t>(axis.extent);
  }
}

std::uint32_t Groups::rank_of(ChipId chip) const {
  std::uint32_t rank = 0;
  for (std::size_t a = 0; a < shape_.size(); ++a) {
    const auto extent = static_cast<std::uint32_t>(shape_[a].extent);
    rank = rank * extent + chip / unit_[a] % extent;
  }
  return rank;
}

ChipId Groups::member(ChipId chip, std::uint32_t rank) const {
  for (std::size_t a = shape_.size(); a-- > 0;) {
    const auto extent = static_cast<std::uint32_t>(shape_[a].extent);
    chip += (rank % extent - chip / unit_[a] % extent) * unit_[a];  // modulo 2^32
    rank /= extent;
  }
  return chip;
}

}  // namespace stepsim
