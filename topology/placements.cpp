// placements.cpp: the ways to lay a mesh on the hardware axes.
//
// A split says which factor of every hardware axis each mesh axis takes; prime by prime the factors of both sides
// match, so a split begun can always be finished. A layout adds the order of the digits on each hardware axis.
#include <algorithm>
#include <functional>
#include <numeric>

#include "topology/mesh.h"
#include "topology/mesh_check.h"

namespace stepsim {

namespace {

constexpr std::size_t max_splits = 100'000;  // bounds the search; no pod and mesh in use comes near

using Split = std::vector<std::vector<int>>;  // [hardware axis][mesh axis] factor

struct Digit {
  int mesh_axis = 0;
  int extent = 1;
  friend bool operator<(const Digit& a, const Digit& b) {
    return a.mesh_axis != b.mesh_axis ? a.mesh_axis < b.mesh_axis : a.extent > b.extent;
  }
};
using Layout = std::vector<std::vector<Digit>>;  // [hardware axis] outermost first

struct SplitSearch {
  const std::vector<HardwareAxis>& hardware;
  const std::vector<MeshAxis>& axes;
  std::vector<int> left;  // of each mesh axis' extent
  Split split;
  std::vector<Split> found;

  // Gives mesh axis m and those after it their factors of what is left of hardware axis h.
  void assign(std::size_t h, std::size_t m, int rest) {
    if (found.size() == max_splits) return;
    if (m == left.size()) {
      if (rest == 1) next_axis(h + 1);
      return;
    }
    const int common = std::gcd(rest, left[m]);
    for (int factor = 1; factor <= common; ++factor) {
      if (common % factor == 0) give(h, m, factor, [&] { assign(h, m + 1, rest / factor); });
    }
  }

  void give(std::size_t h, std::size_t m, int factor, const std::function<void()>& then) {
    split[h][m] = factor;
    left[m] /= factor;
    then();
    left[m] *= factor;
    split[h][m] = 1;
  }

  void next_axis(std::size_t h) {
    if (h == hardware.size()) {
      found.push_back(split);
    } else if (hardware[h].name == "dcn" && !owners(h).empty()) {
      for (const std::size_t m : owners(h)) give(h, m, hardware[h].extent, [&] { next_axis(h + 1); });
    } else {
      assign(h, 0, hardware[h].extent);
    }
  }

  // The mesh axes that may take the network between slices whole.
  [[nodiscard]] std::vector<std::size_t> owners(std::size_t h) const {
    std::vector<std::size_t> fitting;
    for (std::size_t m = 0; m < left.size(); ++m) {
      if (left[m] % hardware[h].extent != 0) continue;
      if (axes[m].name == "data") return {m};
      fitting.push_back(m);
    }
    return fitting;
  }
};

// How cut up a split is: digits in all, then hardware axes that several mesh axes share.
std::pair<std::size_t, std::size_t> cuts_of(const Split& split) {
  std::size_t digits = 0;
  std::size_t shared = 0;
  for (const std::vector<int>& row : split) {
    const auto here = static_cast<std::size_t>(std::count_if(row.begin(), row.end(), [](int f) { return f > 1; }));
    digits += here;
    shared += here > 1 ? 1 : 0;
  }
  return {digits, shared};
}

std::vector<Split> splits(const Cluster& cluster, const std::vector<MeshAxis>& axes) {
  SplitSearch search{cluster.axes(), axes, {}, {}, {}};
  for (const MeshAxis& axis : axes) search.left.push_back(axis.extent);
  search.split.assign(cluster.axes().size(), std::vector<int>(axes.size(), 1));
  search.next_axis(0);
  std::stable_sort(search.found.begin(), search.found.end(),
                   [](const Split& a, const Split& b) { return cuts_of(a) < cuts_of(b); });
  return search.found;
}

// Preferred order: larger mesh axes outermost, of equal ones the earlier.
struct Outer {
  const std::vector<MeshAxis>& axes;
  bool operator()(const Digit& a, const Digit& b) const {
    const int extent_a = axes[a.mesh_axis].extent;
    const int extent_b = axes[b.mesh_axis].extent;
    return extent_a != extent_b ? extent_a > extent_b : a.mesh_axis < b.mesh_axis;
  }
};

Layout preferred_layout(const Split& split, const Outer& outer) {
  Layout layout;
  for (const std::vector<int>& row : split) {
    std::vector<Digit> digits;
    for (std::size_t m = 0; m < row.size(); ++m) {
      if (row[m] > 1) digits.push_back({static_cast<int>(m), row[m]});
    }
    std::sort(digits.begin(), digits.end(), outer);
    layout.push_back(std::move(digits));
  }
  return layout;
}

// The next order of digits; false, and back to the preferred one, after the last.
bool next_layout(Layout& layout, const Outer& outer) {
  return std::any_of(layout.begin(), layout.end(), [&](std::vector<Digit>& digits) {
    return std::next_permutation(digits.begin(), digits.end(), outer);
  });
}

bool alike(const HardwareAxis& a, const HardwareAxis& b) {
  return a.extent == b.extent && a.wraps == b.wraps && a.twist == b.twist && !a.direct && !b.direct;
}

// Of the layouts that only exchange like hardware axes, the one whose digits are in order stands for all: earlier
// mesh axes and larger digits on earlier hardware axes.
bool stands_for_all(const Layout& layout, const std::vector<HardwareAxis>& hardware) {
  for (std::size_t h = 0; h < hardware.size(); ++h) {
    for (std::size_t later = h + 1; later < hardware.size(); ++later) {
      if (alike(hardware[h], hardware[later]) && layout[later] < layout[h]) return false;
    }
  }
  return true;
}

Placement to_placement(const Layout& layout, std::size_t mesh_axes) {
  Placement placement{std::vector<std::vector<AxisDigit>>(mesh_axes)};
  for (std::size_t h = 0; h < layout.size(); ++h) {
    int stride = 1;
    for (std::size_t d = layout[h].size(); d-- > 0;) {
      const Digit& digit = layout[h][d];
      placement.digits[digit.mesh_axis].push_back({static_cast<int>(h), digit.extent, stride});
      stride *= digit.extent;
    }
  }
  return placement;
}

}  // namespace

std::vector<Placement> placements(const Cluster& cluster, const std::vector<MeshAxis>& axes, std::size_t limit) {
  check_mesh(cluster, axes);
  const std::vector<Split> all = splits(cluster, axes);
  const Outer outer{axes};
  std::vector<Placement> found;
  const auto add = [&](const Layout& layout) {
    if (stands_for_all(layout, cluster.axes())) found.push_back(to_placement(layout, axes.size()));
  };
  // Every split once in its preferred order before any other order, so that a small limit still sees them all.
  for (std::size_t s = 0; s < all.size() && found.size() < limit; ++s) add(preferred_layout(all[s], outer));
  for (std::size_t s = 0; s < all.size() && found.size() < limit; ++s) {
    Layout layout = preferred_layout(all[s], outer);
    while (found.size() < limit && next_layout(layout, outer)) add(layout);
  }
  return found;
}

}  // namespace stepsim
