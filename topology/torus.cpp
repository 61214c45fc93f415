// torus.cpp: slices of TPU chips: an ICI torus or mesh, and several of them joined by the data-center network.
//
// Axes x, y (v3, v5e, v6e) or x, y, z (v4, v5p, 7x); with several slices "dcn" before them. Which extents are valid
// and which axes wrap: torus_shape.h. One slice has no host, PCIe or NIC vertices: nothing travels there.
#include <algorithm>
#include <memory>

#include "topology/torus_fabric.h"
#include "topology/torus_shape.h"

namespace stepsim {

namespace {

using Problems = std::vector<Problem>;

void check_chip(const ChipSpec& chip, Problems& problems) {
  const auto fail = [&](const std::string& message) { problems.push_back({{}, "cluster.chip", message}); };
  if (chip.axes < 1 || chip.axes > 3 || chip.link_rate < 1) {
    fail(chip.name + " has no torus interconnect (it needs 1 to 3 axes and a link rate)");
    return;
  }
  const auto axes = static_cast<std::size_t>(chip.axes);
  const bool needs_pod = chip.wrap != WrapRule::none;
  if (chip.pod.size() != axes && (needs_pod || !chip.pod.empty())) fail("the pod needs one extent per axis");
  if (chip.wrap == WrapRule::cubes && axes != 3) fail("the cube rule needs 3 axes");
  if (!chip.host_shape.empty() && chip.host_shape.size() != axes) fail("the host shape needs one extent per axis");
  for (const std::vector<int>* shape : {&chip.pod, &chip.host_shape}) {
    if (std::any_of(shape->begin(), shape->end(), [](int extent) { return extent < 1; })) {
      fail("extents of pod and host must be 1 or more");
    }
  }
}

void check_slices(const ClusterSpec& spec, Problems& problems) {
  const auto fail = [&](const std::string& message) { problems.push_back({{}, "cluster.slices", message}); };
  const std::string found = ", found " + std::to_string(spec.slices);
  const std::int64_t most = max_chips / chips_of(spec.shape);
  if (spec.slices < 1) fail("expected 1 or more" + found);
  if (spec.slices > most) fail("expected at most " + std::to_string(most) + " slices of this shape" + found);
  if (spec.slices > 1 && (spec.chip.dcn_rate_per_chip < 1 || spec.chip.pcie_rate < 1)) {
    fail(spec.chip.name + " has no data-center network (dcn and pcie rates), so only 1 is valid" + found);
  }
}

void check_twist(const ClusterSpec& spec, const std::vector<bool>& wraps, Problems& problems) {
  if (!spec.twisted) return;
  const auto fail = [&](const std::string& message) { problems.push_back({{}, "cluster.twisted", message}); };
  if (!twists_of(spec.shape)) {
    fail("expected a shape of K x K x 2K or K x 2K x 2K in any orientation, K at least 2, found " +
         shape_text(spec.shape));
  }
  if (std::find(wraps.begin(), wraps.end(), false) != wraps.end()) {
    std::string open;
    for (std::size_t axis = 0; axis < wraps.size(); ++axis) {
      if (!wraps[axis]) open += (open.empty() ? "" : ", ") + torus_axis_name(static_cast<int>(axis));
    }
    fail("expected every axis to wrap, found open: " + open);
  }
}

std::vector<bool> resolved_wraps(const ClusterSpec& spec) {
  std::vector<bool> wraps = spec.wraps.empty() ? wraps_by_rule(spec.chip, spec.shape) : spec.wraps;
  for (std::size_t axis = 0; axis < wraps.size(); ++axis) wraps[axis] = wraps[axis] && spec.shape[axis] > 1;
  return wraps;
}

void check(const ClusterSpec& spec) {
  Problems problems;
  check_chip(spec.chip, problems);
  if (!problems.empty()) throw InputError(problems);
  problems = check_shape(spec.chip, spec.shape, "cluster.shape", !spec.wraps.empty());
  if (!spec.wraps.empty() && spec.wraps.size() != static_cast<std::size_t>(spec.chip.axes)) {
    problems.push_back({{},
                        "cluster.wraps",
                        "expected one entry per axis (" + std::to_string(spec.chip.axes) + "), found " +
                            std::to_string(spec.wraps.size())});
  }
  if (problems.empty()) {
    check_slices(spec, problems);
    check_twist(spec, resolved_wraps(spec), problems);
  }
  if (!problems.empty()) throw InputError(problems);
}

std::vector<HardwareAxis> axes_of(const ClusterSpec& spec, const std::vector<bool>& wraps, const Twists& twists) {
  std::vector<HardwareAxis> axes;
  if (spec.slices > 1) axes.push_back({"dcn", spec.slices, true, true});
  const std::size_t before = axes.size();
  for (std::size_t axis = 0; axis < wraps.size(); ++axis) {
    axes.push_back({torus_axis_name(static_cast<int>(axis)), spec.shape[axis], wraps[axis]});
    if (twists.empty() || twists[axis].empty()) continue;
    axes.back().twist.assign(before, 0);
    axes.back().twist.insert(axes.back().twist.end(), twists[axis].begin(), twists[axis].end());
  }
  return axes;
}

// Sum of the longest way along each axis: half a ring, or a whole line. Twisted: one and a half times the short axis
// (twist.h).
int torus_diameter(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes) {
  if (spec.twisted) return 3 * *std::min_element(spec.shape.begin(), spec.shape.end()) / 2;
  int hops = 0;
  for (const HardwareAxis& axis : axes) {
    if (axis.name != "dcn") hops += axis.wraps ? axis.extent / 2 : axis.extent - 1;
  }
  return hops;
}

// A cut across a torus axis crosses every line of chips along it, twice where the line is a ring. A cut between
// slices crosses the NICs of the smaller half. In a twisted torus halves of a long axis are also joined by all the
// cables that are shifted, so the narrowest cut is across a short one (or, as all axes are alike, across layers of a
// long one K apart).
double torus_bisection(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes) {
  const double chips = static_cast<double>(chips_of(spec.shape)) * spec.slices;
  double narrowest = 0;
  for (const HardwareAxis& axis : axes) {
    if (axis.extent < 2) continue;
    if (spec.twisted && axis.twist.empty() && axis.name != "dcn") continue;
    double cut = chips / axis.extent * (axis.wraps ? 2 : 1) * static_cast<double>(spec.chip.link_rate);
    if (axis.name == "dcn") {
      const int slices_on_one_side = axis.extent / 2;
      cut = chips / axis.extent * slices_on_one_side * static_cast<double>(spec.chip.dcn_rate_per_chip);
    }
    narrowest = narrowest == 0 ? cut : std::min(narrowest, cut);
  }
  return narrowest;
}

}  // namespace

Cluster build_torus(const ClusterSpec& spec) {
  check(spec);
  const std::vector<bool> wraps = resolved_wraps(spec);
  const Twists twists = spec.twisted ? *twists_of(spec.shape) : Twists{};
  auto fabric = std::make_unique<TorusFabric>(spec, wraps, twists);

  Cluster::Parts parts;
  parts.spec = spec;
  parts.axes = axes_of(spec, wraps, twists);
  parts.hosts = static_cast<int>(fabric->hosts().hosts());
  parts.host_places = spec.slices > 1 ? fabric->hosts().hosts() : 0;
  parts.routes_are_words = true;
  parts.bisection = torus_bisection(spec, parts.axes);
  parts.diameter = std::max(torus_diameter(spec, parts.axes), spec.slices > 1 ? dcn_route_links : 0);
  fabric->set_faults(find_faults(spec, parts.axes, *fabric));
  parts.fabric = std::move(fabric);
  return Cluster(std::move(parts));
}

}  // namespace stepsim
