// groups.h: the groups of chips along some axes of a mesh, without a list: a chip's place follows from its id.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/mesh.h"

namespace stepsim {

/// Groups of one shape (Mesh::group_shape). Rank is row-major over the shape.
class Groups {
 public:
  Groups(const std::vector<HardwareAxis>& hardware, std::vector<GroupAxis> shape);

  [[nodiscard]] const std::vector<GroupAxis>& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t members() const { return members_; }
  [[nodiscard]] std::uint32_t rank_of(ChipId chip) const;
  /// The chip of this rank in the group of `chip`.
  [[nodiscard]] ChipId member(ChipId chip, std::uint32_t rank) const;

 private:
  std::vector<GroupAxis> shape_;
  std::vector<std::uint32_t> unit_;  // per axis of the shape: one step of it in chip ids
  std::uint32_t members_ = 1;
};

}  // namespace stepsim
