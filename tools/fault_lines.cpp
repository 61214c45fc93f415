#include "tools/fault_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/format.h"

namespace stepsim {

namespace {

/// On a torus a link that is down is replaced hop by hop; in a listed graph routes are found anew.
bool has_detours(const Cluster& cluster) {
  return cluster.spec().kind == "torus";
}

}  // namespace

std::vector<std::string> fault_lines(const Cluster& cluster, std::size_t most) {
  std::vector<std::string> lines;
  const auto chip_text = [&](ChipId chip) { return place_text(cluster.coordinates(chip)); };
  for (const ChipFault& fault : cluster.spec().chip_faults) {
    lines.push_back(fmt::format("chip {} takes {:.4g} times as long", place_text(fault.at),
                                static_cast<double>(fault.slower) / fault.than));
  }
  for (const LinkId id : cluster.faulty_links()) {
    const GraphLink link = cluster.link(id);
    if (link.down && has_detours(cluster)) continue;  // below, with the way round
    if (link.down) {
      lines.push_back(fmt::format("{} from {} to {} is down: transfers take other routes", link.kind,
                                  cluster.vertex(link.from).name, cluster.vertex(link.to).name));
      continue;
    }
    lines.push_back(fmt::format("{} from {} to {} carries {}", link.kind, cluster.vertex(link.from).name,
                                cluster.vertex(link.to).name, rate_text(static_cast<double>(link.capacity))));
  }
  for (const Detour& detour : cluster.detours()) {
    std::vector<std::string> through;
    for (const ChipId chip : detour.through) through.push_back(chip_text(chip));
    lines.push_back(fmt::format("ici {} from {} to {} is down: its transfers go by {}", detour.port,
                                chip_text(detour.from), chip_text(detour.to), fmt::join(through, ", ")));
  }
  if (lines.size() > most) {
    const std::size_t left_out = lines.size() - most;
    lines.resize(most);
    lines.push_back(fmt::format("{} more (stepsim topology lists them)", left_out));
  }
  return lines;
}

}  // namespace stepsim
