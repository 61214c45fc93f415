// torus_links.h: the ICI links of slices, computed from their ids.
//
// Every chip has a link to its neighbour up and down each axis; an axis that wraps also joins its last chip and its
// first (at extent 2 that is a second pair of links between the same chips), or with a chip of another row (twist.h). The port of a link is 2 x axis, + 1
// downward: x+, x-, y+, ... Links count port by port and within a port by the chip that sends; on an open axis the
// chips at the end, which have no such link, are left out.
#pragma once

#include <vector>

#include "topology/cluster.h"
#include "topology/twist.h"

namespace stepsim {

class TorusLinks {
 public:
  /// Chips of a slice count row-major, slice after slice.
  TorusLinks(const std::vector<int>& shape, const std::vector<bool>& wraps, int slices, const Twists& twists = {});

  /// How many links there are.
  [[nodiscard]] LinkId size() const { return first_.back(); }
  [[nodiscard]] int axes() const { return static_cast<int>(axes_.size()); }
  [[nodiscard]] int ports() const { return 2 * axes(); }
  [[nodiscard]] ChipId chips_per_slice() const { return chips_per_slice_; }
  [[nodiscard]] int extent(int axis) const { return static_cast<int>(axes_[axis].extent); }
  [[nodiscard]] bool wraps(int axis) const { return axes_[axis].wraps; }
  [[nodiscard]] int coordinate(ChipId chip, int axis) const;
  /// Is any wraparound shifted?
  [[nodiscard]] bool twisted() const { return twisted_; }
  [[nodiscard]] std::vector<TwistAxis> twist_axes() const;

  /// False past an open end.
  [[nodiscard]] bool has(ChipId chip, int port) const;

  // Where there is a link:
  [[nodiscard]] LinkId id(ChipId from, int port) const;
  [[nodiscard]] ChipId neighbour(ChipId chip, int port) const;

  struct Sender {
    ChipId chip = 0;
    int port = 0;
  };
  /// The inverse of id.
  [[nodiscard]] Sender sender(LinkId link) const;

 private:
  struct Axis {
    ChipId extent = 1;
    ChipId stride = 1;  // of chip ids
    bool wraps = false;
    std::vector<int> shift{};  // along each axis when going round upward
  };

  [[nodiscard]] ChipId shifted(ChipId chip, const Axis& by, bool upward) const;

  std::vector<Axis> axes_;
  ChipId chips_per_slice_ = 1;
  bool twisted_ = false;
  std::vector<LinkId> first_;  // of each port, and one past the last
};

/// "x", "y", "z"
std::string torus_axis_name(int axis);

/// "x+", "x-", "y+", ...
std::string torus_port_name(int port);

}  // namespace stepsim
