// torus.cpp: slices of TPU chips: an ICI torus or mesh, and several of them joined by the data-center network.
//
// Axes x, y (v3, v5e, v6e) or x, y, z (v4, v5p, 7x); with several slices "dcn" before them. Which extents are valid
// and which axes wrap: torus_shape.h. One slice has no host, PCIe or NIC vertices: nothing travels there.
#include <algorithm>
#include <memory>

#include "topology/builders.h"
#include "topology/dcn.h"
#include "topology/link_graph.h"
#include "topology/torus_links.h"
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
  if (problems.empty()) check_slices(spec, problems);
  if (!problems.empty()) throw InputError(problems);
}

std::vector<bool> resolved_wraps(const ClusterSpec& spec) {
  std::vector<bool> wraps = spec.wraps.empty() ? wraps_by_rule(spec.chip, spec.shape) : spec.wraps;
  for (std::size_t axis = 0; axis < wraps.size(); ++axis) wraps[axis] = wraps[axis] && spec.shape[axis] > 1;
  return wraps;
}

std::vector<HardwareAxis> axes_of(const ClusterSpec& spec, const std::vector<bool>& wraps) {
  std::vector<HardwareAxis> axes;
  if (spec.slices > 1) axes.push_back({"dcn", spec.slices, true});
  for (std::size_t axis = 0; axis < wraps.size(); ++axis) {
    axes.push_back({torus_axis_name(static_cast<int>(axis)), spec.shape[axis], wraps[axis]});
  }
  return axes;
}

// Coordinates of a chip within its slice.
std::vector<int> place_in_slice(const std::vector<int>& shape, std::int64_t chip) {
  std::vector<int> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = static_cast<int>(chip % shape[axis]);
    chip /= shape[axis];
  }
  return at;
}

std::vector<Vertex> chip_vertices(const ClusterSpec& spec) {
  std::vector<Vertex> vertices;
  const std::int64_t chips = chips_of(spec.shape);
  for (std::int64_t id = 0; id < chips * spec.slices; ++id) {
    std::string name = spec.slices > 1 ? "slice " + std::to_string(id / chips) + " chip " : "chip ";
    const std::vector<int> at = place_in_slice(spec.shape, id);
    for (std::size_t axis = 0; axis < at.size(); ++axis) name += (axis == 0 ? "" : ",") + std::to_string(at[axis]);
    vertices.push_back({VertexKind::chip, name, static_cast<ChipId>(id)});
  }
  return vertices;
}

// The host of each chip, slice after slice.
std::vector<int> hosts_of_chips(const ClusterSpec& spec) {
  const std::vector<int> block = host_block(spec.chip, spec.shape);
  const std::int64_t chips = chips_of(spec.shape);
  std::vector<int> host_of;
  for (std::int64_t id = 0; id < chips * spec.slices; ++id) {
    const std::vector<int> at = place_in_slice(spec.shape, id);
    int host = static_cast<int>(id / chips);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      host = host * ((spec.shape[axis] + block[axis] - 1) / block[axis]) + at[axis] / block[axis];
    }
    host_of.push_back(host);
  }
  return host_of;
}

// Sum of the longest way along each axis: half a ring, or a whole line.
int torus_diameter(const std::vector<HardwareAxis>& axes) {
  int hops = 0;
  for (const HardwareAxis& axis : axes) {
    if (axis.name != "dcn") hops += axis.wraps ? axis.extent / 2 : axis.extent - 1;
  }
  return hops;
}

// A cut across a torus axis crosses every line of chips along it, twice where the line is a ring. A cut between
// slices crosses the NICs of the smaller half.
double torus_bisection(const ClusterSpec& spec, const std::vector<HardwareAxis>& axes) {
  const double chips = static_cast<double>(chips_of(spec.shape)) * spec.slices;
  double narrowest = 0;
  for (const HardwareAxis& axis : axes) {
    if (axis.extent < 2) continue;
    double cut = chips / axis.extent * (axis.wraps ? 2 : 1) * static_cast<double>(spec.chip.link_rate);
    if (axis.name == "dcn") {
      const int slices_on_one_side = axis.extent / 2;
      cut = chips / axis.extent * slices_on_one_side * static_cast<double>(spec.chip.dcn_rate_per_chip);
    }
    narrowest = narrowest == 0 ? cut : std::min(narrowest, cut);
  }
  return narrowest;
}

// How transfers travel: inside a slice over ICI, between slices over the data-center network.
struct TorusRoutes {
  TorusLinks ici;
  DcnLinks dcn;  // empty with one slice
  ChipId chips_per_slice = 0;
  int slices = 1;

  [[nodiscard]] std::vector<LinkId> along(ChipId from, int axis, int hops) const {
    if (slices == 1) return ici.along(from, axis, hops);
    if (axis > 0) return ici.along(from, axis - 1, hops);
    const int slice = static_cast<int>(from / chips_per_slice);
    const int to_slice = ((slice + hops) % slices + slices) % slices;
    if (to_slice == slice) return {};
    return dcn_route(dcn, from, from % chips_per_slice + chips_per_slice * static_cast<ChipId>(to_slice));
  }

  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const {
    if (from / chips_per_slice == to / chips_per_slice) return ici.routes(from, to);
    return {{dcn_route(dcn, from, to)}};
  }
};

}  // namespace

Cluster build_torus(const ClusterSpec& spec) {
  check(spec);
  const std::vector<bool> wraps = resolved_wraps(spec);
  const std::vector<int> host_of = hosts_of_chips(spec);

  Cluster::Parts parts;
  parts.spec = spec;
  parts.axes = axes_of(spec, wraps);
  parts.vertices = chip_vertices(spec);
  parts.hosts = host_of.back() + 1;
  parts.bisection = torus_bisection(spec, parts.axes);
  parts.diameter = std::max(torus_diameter(parts.axes), spec.slices > 1 ? dcn_route_links : 0);

  TorusLinks ici(spec.shape, wraps, spec.slices, spec.chip, parts.links);
  DcnLinks dcn = spec.slices > 1 ? add_dcn(parts, host_of) : DcnLinks{};
  const auto routes = std::make_shared<const TorusRoutes>(
      TorusRoutes{std::move(ici), std::move(dcn), static_cast<ChipId>(chips_of(spec.shape)), spec.slices});
  parts.along = [routes](ChipId from, int axis, int hops) { return routes->along(from, axis, hops); };
  parts.routes = [routes](ChipId from, ChipId to) { return routes->routes(from, to); };
  parts.graph = std::make_shared<const LinkGraph>(parts.vertices.size(), parts.links);
  return Cluster(std::move(parts));
}

}  // namespace stepsim
