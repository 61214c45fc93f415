// picture_grid.cpp: a torus on a grid: x to the right, y downward, a plane for each z, side by side.
//
// Every link is drawn by its sender, as the half of the cable next to it: so each direction shows its own capacity. Where
// the other end is elsewhere (round the end of an axis, in the next plane) the half stays a stub.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topology/picture.h"

namespace stepsim {

namespace {

constexpr double margin = 24;
constexpr double box_height = 24;
constexpr double gap = 30;  // between boxes
constexpr double stub = gap / 2;
constexpr double between_planes = 2 * gap;

class Grid {
 public:
  explicit Grid(const Cluster& cluster) : cluster_(cluster), spec_(cluster.spec()) {
    for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
      if (cluster.axes()[axis].name == "dcn") continue;
      if (shown_.empty()) first_axis_ = axis;
      shown_.push_back(cluster.axes()[axis].extent);
    }
    cut();
  }

  Picture draw() {
    picture_.width = 2 * margin + planes() * plane_width() + (planes() - 1) * between_planes + 2 * stub;
    picture_.height = 2 * margin + rows() * (box_height + gap) + 2 * stub;
    for (ChipId chip = 0; chip < slice(); ++chip) {
      const std::vector<int> at = place(chip);
      if (!is_shown(at)) continue;
      picture_.boxes.push_back({chip, centre(at), box_width(), box_height, name(at)});
    }
    for (LinkId id = 0; id < cluster_.links(); ++id) draw_link(id);
    label_planes();
    remark();
    return std::move(picture_);
  }

 private:
  /// Above most_drawn chips one plane, of that what comes first.
  void cut() {
    const auto count = [&] {
      std::size_t all = 1;
      for (const int extent : shown_) all *= static_cast<std::size_t>(extent);
      return all;
    };
    if (count() > most_drawn && shown_.size() > 2) shown_[2] = 1;
    while (count() > most_drawn) {
      int& longest = *std::max_element(shown_.begin(), shown_.end());
      longest = (longest + 1) / 2;
    }
  }

  [[nodiscard]] ChipId slice() const { return cluster_.chips() / static_cast<ChipId>(std::max(1, spec_.slices)); }
  [[nodiscard]] int columns() const { return shown_[0]; }
  [[nodiscard]] int rows() const { return shown_.size() > 1 ? shown_[1] : 1; }
  [[nodiscard]] int planes() const { return shown_.size() > 2 ? shown_[2] : 1; }
  [[nodiscard]] double plane_width() const { return columns() * (box_width() + gap); }

  [[nodiscard]] static std::string name(const std::vector<int>& at) { return fmt::format("{}", fmt::join(at, ",")); }

  [[nodiscard]] double box_width() const {
    std::vector<int> last = shown_;
    for (int& one : last) --one;
    return std::max(32.0, text_width(name(last)) + 10);
  }

  /// Coordinates inside the slice.
  [[nodiscard]] std::vector<int> place(ChipId chip) const {
    const std::vector<int> all = cluster_.coordinates(chip);
    return {all.begin() + static_cast<std::ptrdiff_t>(first_axis_), all.end()};
  }

  [[nodiscard]] bool is_shown(const std::vector<int>& at) const {
    return std::equal(at.begin(), at.end(), shown_.begin(), [](int one, int extent) { return one < extent; });
  }

  [[nodiscard]] Point centre(const std::vector<int>& at) const {
    const int plane = at.size() > 2 ? at[2] : 0;
    const int row = at.size() > 1 ? at[1] : 0;
    return {margin + stub + plane * (plane_width() + between_planes) + (at[0] + 0.5) * (box_width() + gap),
            margin + stub + (row + 0.5) * (box_height + gap)};
  }

  void draw_link(LinkId id) {
    const GraphLink link = cluster_.link(id);
    if (link.from >= slice() || link.to >= slice()) return;
    const std::vector<int> from = place(link.from);
    if (!is_shown(from)) return;
    const std::uint32_t port = cluster_.owner(id).port;
    const std::size_t axis = port / 2;
    const int way = port % 2 == 0 ? 1 : -1;
    const int there = from[axis] + way;
    const bool wraps = there < 0 || there >= cluster_.axes()[first_axis_ + axis].extent;
    Line line = half(centre(from), axis, way);
    line.end = wraps ? LineEnd::wrap : there >= shown_[axis] ? LineEnd::goes_on : LineEnd::plain;
    line.capacity = link.capacity;
    line.kind = "ici";
    line.down = link.down;
    picture_.lines.push_back(line);
    wraps_ = wraps_ || wraps;
    goes_on_ = goes_on_ || line.end == LineEnd::goes_on;
  }

  /// From the edge of a box half way to its neighbour; along z aslant, from the corner.
  [[nodiscard]] Line half(Point at, std::size_t axis, int way) const {
    const double x = box_width() / 2;
    const double y = box_height / 2;
    Line line;
    if (axis == 0) {
      line.from = {at.x + way * x, at.y};
      line.to = {at.x + way * (x + stub), at.y};
    } else if (axis == 1) {
      line.from = {at.x, at.y + way * y};
      line.to = {at.x, at.y + way * (y + stub)};
    } else {
      line.from = {at.x + way * (x - 3), at.y - way * (y - 3)};
      line.to = {at.x + way * (x + 8), at.y - way * (y + 8)};
    }
    return line;
  }

  void label_planes() {
    if (shown_.size() < 3) return;
    for (int plane = 0; plane < planes(); ++plane) {
      const Point corner = centre({0, 0, plane});
      picture_.labels.push_back({{corner.x - box_width() / 2, margin}, fmt::format("z = {}", plane)});
    }
  }

  void remark() {
    std::vector<std::string>& remarks = picture_.remarks;
    const auto whole = slice();
    if (picture_.boxes.size() < whole) {
      remarks.push_back(fmt::format("Drawn: the first {} of {} chips{}.", picture_.boxes.size(), whole,
                                    spec_.slices > 1 ? " of one slice" : ""));
    }
    if (spec_.slices > 1) {
      remarks.push_back(
          fmt::format("Drawn: one of {} slices; its hosts and the network between slices are left out.", spec_.slices));
    }
    if (wraps_) remarks.emplace_back("Stub with a ring: goes round to the other end of the axis.");
    if (goes_on_) remarks.emplace_back("Stub with dots: goes on to a chip that is not drawn.");
    if (shown_.size() > 2 && cluster_.axes()[first_axis_ + 2].extent > 1) {
      remarks.emplace_back("Aslant: to the same place of the next plane (upward) and of the one before (downward).");
    }
    if (spec_.twisted) remarks.emplace_back("Twisted: going round the short axes also shifts along the long ones.");
  }

  const Cluster& cluster_;
  const ClusterSpec& spec_;
  std::size_t first_axis_ = 0;  // after the network between slices
  std::vector<int> shown_;      // extents that are drawn
  Picture picture_;
  bool wraps_ = false;
  bool goes_on_ = false;
};

}  // namespace

Picture grid_picture(const Cluster& cluster) {
  return Grid(cluster).draw();
}

}  // namespace stepsim
