// mesh.h: logical axes laid on hardware axes, and the groups of chips that follow from them.
//
// A placement cuts each hardware axis into digits (like minutes and seconds of a number) and gives each digit to a
// mesh axis. Mesh axis "tensor" on {x: extent 4, stride 1} of an x of 16 is a segment of four neighbours; on
// {x: extent 4, stride 4} it is strided; on {x: 2, stride 1} and {y: 2, stride 1} it is a 2x2 block; on the whole of
// x it is a ring if x wraps. Groups are implicit: a set of mesh axes and the strides of their digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

struct MeshAxis {
  std::string name;
  int extent = 1;
};

/// A digit of one hardware axis' coordinate c: (c / stride) % extent.
struct AxisDigit {
  int hardware_axis = 0;
  int extent = 1;
  int stride = 1;
};

/// For each mesh axis, its digits, outermost first. The digits of all axes tile every hardware axis exactly.
struct Placement {
  std::vector<std::vector<AxisDigit>> digits;  // [mesh axis]
};

/// One dimension of a group's shape: a ring or an open line of `extent` members, `hops` links apart.
struct GroupAxis {
  int hardware_axis = 0;
  int extent = 1;
  int hops = 1;
  bool closed = false;
  friend bool operator==(const GroupAxis&, const GroupAxis&) = default;
};

class Mesh {
 public:
  /// Checks that extents and digits tile the cluster; InputError on "parallelism.mesh" or "parallelism.placement".
  Mesh(const Cluster& cluster, std::vector<MeshAxis> axes, Placement placement);

  [[nodiscard]] const std::vector<MeshAxis>& axes() const { return axes_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }

  /// Dimensions of the groups along these mesh axes (indices), extents of 1 left out; digits that are neighbours on
  /// one hardware axis are merged (x digits {4, stride 4} and {4, stride 1} become one of 16).
  [[nodiscard]] std::vector<GroupAxis> group_shape(const std::vector<int>& mesh_axes) const;

  /// Group and rank of each chip, for groups along these mesh axes. Rank is row-major over group_shape.
  struct Groups {
    std::uint32_t members = 1;
    std::vector<std::uint32_t> group_of;  // per chip
    std::vector<std::uint32_t> rank_of;   // per chip
  };
  [[nodiscard]] Groups groups(const std::vector<int>& mesh_axes) const;

  /// "tensor: x[4 of 16]  fsdp: y, z, x[4 of 16, stride 4]" for reports.
  [[nodiscard]] std::string describe(int mesh_axis) const;

 private:
  std::vector<GroupAxis> hardware_;  // extents and wraps of the hardware axes
  std::vector<std::string> hardware_names_;
  std::vector<int> hardware_extents_;
  std::vector<MeshAxis> axes_;
  Placement placement_;
};

/// Every placement that tiles the hardware axes: each mesh axis gets whole axes, or power-of-prime digits of them.
/// In a fixed order, without duplicates that differ only by symmetry-free renaming; at most `limit`.
std::vector<Placement> placements(const Cluster& cluster, const std::vector<MeshAxis>& axes, std::size_t limit);

/// Reads "x", "x:4", "x:4@4" (extent @ stride) terms, one list per mesh axis; InputError on key with what would be
/// valid.
std::vector<AxisDigit> parse_digits(const Cluster& cluster, const std::string& key, const std::vector<std::string>& terms);

}  // namespace stepsim
