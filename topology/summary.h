// summary.h: a cluster in figures, as `stepsim topology` prints it.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

/// Links of one kind, capacity and latency; each direction counts by itself.
struct LinkKind {
  std::string kind;
  std::uint32_t count = 0;
  std::int64_t capacity = 0;  // bytes/s of one
  Picoseconds latency;
  bool down = false;
};

struct TopologySummary {
  std::uint32_t chips = 0;
  int cores = 0;
  int hosts = 0;
  std::vector<HardwareAxis> axes;
  std::vector<LinkKind> links;  // in order of first appearance
  double bisection = 0;         // bytes/s one way, without faults (Cluster::bisection)
  int diameter = 0;             // links, without faults
};

TopologySummary summarize(const Cluster& cluster);

/// "ici x+" and "ici x-", "pcie up" and "pcie down" are the two directions of one cable: "ici x", "pcie".
std::string cable_kind(const std::string& kind);

}  // namespace stepsim
