// port_numbers.h: how the ports of a member are numbered.
//
// For each part, for each axis in use, up and (unless the axis is a ring used one way) down. A port has the same
// number at the sender and at the receiver.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.h"

namespace stepsim {

class PortNumbers {
 public:
  explicit PortNumbers(const CollectiveSpec& spec) {
    for (const GroupAxis& axis : spec.shape) {
      first_.push_back(per_part_);
      const bool one_way = axis.closed && spec.ring == RingStyle::one_way;
      per_part_ += axis.extent == 1 ? 0 : one_way ? 1 : 2;
    }
    first_.push_back(per_part_);
  }

  [[nodiscard]] std::uint32_t per_part() const { return per_part_; }
  [[nodiscard]] std::uint32_t of_axis(std::uint32_t axis) const { return first_[axis + 1] - first_[axis]; }
  [[nodiscard]] std::uint32_t at(std::size_t part, std::uint32_t axis, std::uint32_t direction) const {
    return static_cast<std::uint32_t>(part) * per_part_ + first_[axis] + direction;
  }

 private:
  std::vector<std::uint32_t> first_;
  std::uint32_t per_part_ = 0;
};

}  // namespace stepsim
