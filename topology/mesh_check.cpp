#include "topology/mesh_check.h"

#include <algorithm>
#include <limits>
#include <set>

namespace stepsim {

namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int32_t>::max();

std::string key_of(const MeshAxis& axis) {
  return "parallelism.placement." + axis.name;
}

// Product of extents, capped: what is larger than any cluster stays larger.
std::int64_t product(const std::vector<MeshAxis>& axes, const MeshAxis* without = nullptr) {
  std::int64_t chips = 1;
  for (const MeshAxis& axis : axes) {
    if (&axis != without) chips = std::min(chips * axis.extent, huge);
  }
  return chips;
}

std::string mesh_text(const std::vector<MeshAxis>& axes) {
  std::string text;
  for (const MeshAxis& axis : axes) text += (text.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.extent);
  return text.empty() ? "no axes" : text;
}

// "; fsdp 16 or tensor 2 would fit"
std::string what_fits(const std::vector<MeshAxis>& axes, std::int64_t chips) {
  std::string text;
  for (const MeshAxis& axis : axes) {
    const std::int64_t others = product(axes, &axis);
    if (chips % others == 0) text += (text.empty() ? "; " : " or ") + axis.name + " " + std::to_string(chips / others);
  }
  return text.empty() ? "" : text + " would fit";
}

void check_extents(const std::vector<MeshAxis>& axes, const std::vector<std::vector<AxisDigit>>& digits,
                   std::vector<Problem>& problems) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::int64_t extent = 1;
    for (const AxisDigit& digit : digits[a]) extent = std::min(extent * std::max(digit.extent, 0), huge);
    if (extent != axes[a].extent) {
      problems.push_back(
          {{},
           key_of(axes[a]),
           "expected digits that multiply to " + std::to_string(axes[a].extent) + ", found " + std::to_string(extent)});
    }
  }
}

struct OwnedDigit {
  AxisDigit digit;
  std::size_t owner = 0;  // mesh axis
};

std::vector<OwnedDigit> digits_on(const Placement& placement, int hardware_axis) {
  std::vector<OwnedDigit> found;
  for (std::size_t a = 0; a < placement.digits.size(); ++a) {
    for (const AxisDigit& digit : placement.digits[a]) {
      if (digit.hardware_axis == hardware_axis && digit.extent != 1) found.push_back({digit, a});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const OwnedDigit& x, const OwnedDigit& y) { return x.digit.stride < y.digit.stride; });
  return found;
}

void check_tiling(const HardwareAxis& hardware, const std::vector<OwnedDigit>& digits,
                  const std::vector<MeshAxis>& axes, std::vector<Problem>& problems) {
  std::int64_t covered = 1;
  for (const OwnedDigit& owned : digits) {
    const std::string term = hardware.name + ":" + std::to_string(owned.digit.extent) + "@";
    if (owned.digit.stride != covered) {
      problems.push_back({{},
                          key_of(axes[owned.owner]),
                          "expected " + term + std::to_string(covered) + ", found " + term +
                              std::to_string(owned.digit.stride) + " (digits of " + hardware.name +
                              " must neither overlap nor leave gaps)"});
      return;
    }
    covered = std::min(covered * owned.digit.extent, huge);
  }
  if (covered == hardware.extent) return;
  const std::string key = digits.empty() ? "parallelism.placement" : key_of(axes[digits.back().owner]);
  problems.push_back({{},
                      key,
                      "expected digits of " + hardware.name + " that multiply to " + std::to_string(hardware.extent) +
                          ", found " + std::to_string(covered)});
}

}  // namespace

void check_mesh(const Cluster& cluster, const std::vector<MeshAxis>& axes) {
  std::vector<Problem> problems;
  std::set<std::string> names;
  for (const MeshAxis& axis : axes) {
    if (axis.extent < 1) {
      problems.push_back(
          {{},
           "parallelism.mesh",
           "expected an extent of 1 or more for " + axis.name + ", found " + std::to_string(axis.extent)});
    }
    if (!names.insert(axis.name).second) {
      problems.push_back({{}, "parallelism.mesh", "axis " + axis.name + " is given twice"});
    }
  }
  const auto chips = static_cast<std::int64_t>(cluster.chips());
  if (problems.empty() && product(axes) != chips) {
    problems.push_back({{},
                        "parallelism.mesh",
                        "expected extents that multiply to the cluster's " + std::to_string(chips) + " chips, found " +
                            mesh_text(axes) + what_fits(axes, chips)});
  }
  if (!problems.empty()) throw InputError(problems);
}

void check_placement(const Cluster& cluster, const std::vector<MeshAxis>& axes, const Placement& placement) {
  if (placement.digits.size() != axes.size()) {
    throw InputError("parallelism.placement", "expected one list of digits per mesh axis (" +
                                                  std::to_string(axes.size()) + "), found " +
                                                  std::to_string(placement.digits.size()));
  }
  std::vector<Problem> problems;
  const auto hardware_axes = static_cast<int>(cluster.axes().size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (const AxisDigit& digit : placement.digits[a]) {
      if (digit.hardware_axis >= 0 && digit.hardware_axis < hardware_axes && digit.extent > 0 && digit.stride > 0) {
        continue;
      }
      problems.push_back(
          {{}, key_of(axes[a]), "expected digits of the cluster's axes with extent and stride of 1 or more"});
    }
  }
  if (!problems.empty()) throw InputError(problems);
  check_extents(axes, placement.digits, problems);
  for (int axis = 0; problems.empty() && axis < hardware_axes; ++axis) {
    check_tiling(cluster.axes()[static_cast<std::size_t>(axis)], digits_on(placement, axis), axes, problems);
  }
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace stepsim
