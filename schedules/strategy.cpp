#include "schedules/strategy.h"

#include <algorithm>

namespace stepsim {

Degrees degrees(const Strategy& strategy) {
  Degrees degrees;
  for (const MeshAxis& axis : strategy.mesh) {
    if (axis.name == "data") degrees.data *= axis.extent;
    if (axis.name == "fsdp" || axis.name == "sequence") degrees.shard *= axis.extent;
    if (axis.name == "tensor") degrees.tensor *= axis.extent;
    if (axis.name == "pipeline") degrees.pipeline *= axis.extent;
  }
  return degrees;
}

std::vector<std::string> group_axes(const Strategy& strategy, const std::vector<std::string>& roles) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : strategy.mesh) {
    const bool wanted = std::find(roles.begin(), roles.end(), axis.name) != roles.end();
    if (wanted && axis.extent > 1) axes.push_back(axis.name);
  }
  return axes;
}

std::string group_name(const std::vector<std::string>& axes) {
  std::string name;
  for (const std::string& axis : axes) name += (name.empty() ? "" : "+") + axis;
  return name;
}

}  // namespace stepsim
