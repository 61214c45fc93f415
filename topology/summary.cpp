#include "topology/summary.h"

#include <algorithm>

namespace stepsim {

TopologySummary summarize(const Cluster& cluster) {
  TopologySummary summary{cluster.chips(),     cluster.cores(),   cluster.hosts(), cluster.axes(), {},
                          cluster.bisection(), cluster.diameter()};
  for (LinkId id = 0; id < cluster.links(); ++id) {
    const GraphLink link = cluster.link(id);
    const auto same = [&](const LinkKind& kind) {
      return kind.kind == link.kind && kind.capacity == link.capacity && kind.latency == link.latency &&
             kind.down == link.down;
    };
    auto kind = std::find_if(summary.links.begin(), summary.links.end(), same);
    if (kind == summary.links.end()) {
      kind = summary.links.insert(kind, {link.kind, 0, link.capacity, link.latency, link.down});
    }
    ++kind->count;
  }
  return summary;
}

std::string cable_kind(const std::string& kind) {
  if (kind.ends_with('+') || kind.ends_with('-')) return kind.substr(0, kind.size() - 1);
  const std::size_t space = kind.rfind(' ');
  const std::string last = kind.substr(space + 1);
  return last == "up" || last == "down" ? kind.substr(0, space) : kind;
}

}  // namespace stepsim
