#include "topology/torus_links.h"

#include <algorithm>

namespace stepsim {

std::string torus_axis_name(int axis) {
  return std::string(1, static_cast<char>('x' + axis));
}

std::string torus_port_name(int port) {
  return torus_axis_name(port / 2) + (port % 2 == 1 ? "-" : "+");
}

TorusLinks::TorusLinks(const std::vector<int>& shape, const std::vector<bool>& wraps, int slices,
                       const Twists& twists) {
  axes_.resize(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    axes_[axis] = {static_cast<ChipId>(shape[axis]), chips_per_slice_, wraps[axis], {}};
    if (!twists.empty()) axes_[axis].shift = twists[axis];
    twisted_ = twisted_ || !axes_[axis].shift.empty();
    chips_per_slice_ *= axes_[axis].extent;
  }
  const ChipId chips = chips_per_slice_ * static_cast<ChipId>(slices);
  first_.push_back(0);
  for (int port = 0; port < ports(); ++port) {
    const Axis& axis = axes_[port / 2];
    first_.push_back(first_.back() + (axis.wraps ? chips : chips / axis.extent * (axis.extent - 1)));
  }
}

int TorusLinks::coordinate(ChipId chip, int axis) const {
  return static_cast<int>(chip / axes_[axis].stride % axes_[axis].extent);
}

bool TorusLinks::has(ChipId chip, int port) const {
  const Axis& axis = axes_[port / 2];
  const ChipId end = port % 2 == 1 ? 0 : axis.extent - 1;
  return axis.wraps || chip / axis.stride % axis.extent != end;
}

// On an open axis, every block of extent x stride chips lacks one layer of `stride` chips: the last (up) or the first
// (down). So as many chips are left out before this one as there are blocks before it, and downward its own.
LinkId TorusLinks::id(ChipId from, int port) const {
  const Axis& axis = axes_[port / 2];
  if (axis.wraps) return first_[port] + from;
  const ChipId block = from / (axis.stride * axis.extent);
  return first_[port] + from - axis.stride * (block + static_cast<ChipId>(port % 2));
}

TorusLinks::Sender TorusLinks::sender(LinkId link) const {
  const int port = static_cast<int>(std::upper_bound(first_.begin(), first_.end(), link) - first_.begin()) - 1;
  const Axis& axis = axes_[port / 2];
  const LinkId index = link - first_[port];
  if (axis.wraps) return {index, port};
  const ChipId block = index / (axis.stride * (axis.extent - 1));
  return {index + axis.stride * (block + static_cast<ChipId>(port % 2)), port};
}

ChipId TorusLinks::neighbour(ChipId chip, int port) const {
  const Axis& axis = axes_[port / 2];
  const ChipId at = chip / axis.stride % axis.extent;
  const ChipId lap = axis.stride * (axis.extent - 1);  // from the first chip to the last
  if (port % 2 == 1) return at == 0 ? shifted(chip + lap, axis, false) : chip - axis.stride;
  return at == axis.extent - 1 ? shifted(chip - lap, axis, true) : chip + axis.stride;
}

ChipId TorusLinks::shifted(ChipId chip, const Axis& by, bool upward) const {
  for (std::size_t other = 0; other < by.shift.size(); ++other) {
    const Axis& axis = axes_[other];
    const ChipId at = chip / axis.stride % axis.extent;
    const auto shift = static_cast<ChipId>(by.shift[other]);
    const ChipId to = (at + (upward ? shift : axis.extent - shift)) % axis.extent;
    chip = chip - at * axis.stride + to * axis.stride;
  }
  return chip;
}

std::vector<TwistAxis> TorusLinks::twist_axes() const {
  std::vector<TwistAxis> axes;
  for (const Axis& axis : axes_) axes.push_back({static_cast<int>(axis.extent), axis.wraps, axis.shift});
  return axes;
}

}  // namespace stepsim
