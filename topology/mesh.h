// mesh.h: logical axes laid on hardware axes, and the groups of chips that follow from them.
//
// A placement cuts each hardware axis into digits (like minutes and seconds of a number) and gives each digit
// to a mesh axis. Mesh axis "tensor" on {x: extent 4, stride 1} of an x of 16 is a segment of four
// neighbours; on {x: extent 4, stride 4} it is strided; on {x: 2, stride 1} and {y: 2, stride 1} it is a 2x2
// block; on the whole of x it is a ring if x wraps. Groups are implicit: a set of mesh axes and the strides
// of their digits.
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
  std::vector<int> shift = {};  // twisted: going round upward adds this along each axis of the group (an open line to
                                // whom that means nothing); empty: none, or it would lead out of the group
  bool direct = false;          // any two members are joined without passing a third (HardwareAxis::direct)
  /// Round by way of the others, as cables lead.
  [[nodiscard]] bool is_ring() const { return closed && !direct; }
  friend bool operator==(const GroupAxis&, const GroupAxis&) = default;
};

class Mesh {
 public:
  /// Checks that extents and digits tile the cluster; InputError on "parallelism.mesh" or
  /// "parallelism.placement".
  Mesh(const Cluster& cluster, std::vector<MeshAxis> axes, Placement placement);

  [[nodiscard]] const std::vector<HardwareAxis>& hardware() const { return hardware_; }
  [[nodiscard]] const std::vector<MeshAxis>& axes() const { return axes_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }

  /// Dimensions of the groups along these mesh axes (indices), extents of 1 left out: by hardware axis in the order in
  /// which the digits first name them, outer digits first. Digits that are neighbours on one hardware axis are merged
  /// whichever mesh axes they belong to (x digits {4, stride 4} and {4, stride 1} become one of 16), since which
  /// member is which does not matter to a collective.
  [[nodiscard]] std::vector<GroupAxis> group_shape(const std::vector<int>& mesh_axes) const;

  /// Group and rank of each chip, for groups along these mesh axes. Rank is row-major over group_shape;
  /// groups count in the order of their first chips.
  struct Groups {
    std::uint32_t members = 1;
    std::vector<std::uint32_t> group_of;  // per chip
    std::vector<std::uint32_t> rank_of;   // per chip
  };
  [[nodiscard]] Groups groups(const std::vector<int>& mesh_axes) const;

  /// What the axis lies on, for reports: "x (ring of 16), z[4 of 32, stride 8] (ring)", "y[4 of 16] (line)";
  /// "one chip" for an extent of 1.
  [[nodiscard]] std::string describe(int mesh_axis) const;

 private:
  std::vector<HardwareAxis> hardware_;
  std::vector<MeshAxis> axes_;
  Placement placement_;
};

/// Placements that tile the hardware axes, in a fixed order, at most `limit`: every way to split each
/// hardware axis into one digit per mesh axis, in every order of the digits; of those that only exchange like
/// hardware axes, one. First those with the fewest digits, of them those with the fewest shared hardware
/// axes, smaller mesh axes innermost. The network between slices ("dcn") goes whole to one mesh axis: to "data" if it fits, else
/// to any that does, else it is split as others. InputError on "parallelism.mesh" when the extents do not
/// multiply to the chips.
std::vector<Placement> placements(const Cluster& cluster, const std::vector<MeshAxis>& axes, std::size_t limit);

/// Reads the terms of one mesh axis, outermost first: "x" (the whole axis), "x:4" (4 neighbours), "x:4@4"
/// (extent @ stride); InputError on key with what would be valid. Whether the digits of all axes tile is
/// Mesh's check.
std::vector<AxisDigit> parse_digits(const Cluster& cluster, const std::string& key,
                                    const std::vector<std::string>& terms);

}  // namespace stepsim
