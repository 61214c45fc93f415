// link_rates.h: what the links really give a group: the rate one neighbour step gets along a group axis when all
// groups of the family send at once.
//
// Counted on the links themselves, for any network: every chip sends one step each way it uses, flows are counted per
// link, and the least capacity / flows is the rate. So interleaved groups (a stride of s puts s flows on each link),
// several chips behind one NIC, or both directions through one PCIe link are shared as they are in the simulation.
#pragma once

#include <map>
#include <vector>

#include "collectives/collective.h"
#include "topology/cluster.h"
#include "topology/mesh.h"

namespace stepsim {

class LinkRates {
 public:
  LinkRates(const Cluster& cluster, bool both_ways) : cluster_(cluster), both_ways_(both_ways) {}

  /// Rate (bytes/s) and latency (seconds) of one neighbour step along one axis of a group.
  struct Step {
    double rate = 0;
    double latency = 0;
  };
  Step step(const GroupAxis& axis);

  AxisRates rates(const std::vector<GroupAxis>& shape);

  /// Bytes/s one chip could send over all axes of the group: a chip inside a line or on a ring sends both ways.
  double egress(const std::vector<GroupAxis>& shape);

 private:
  Step count(const GroupAxis& axis) const;

  const Cluster& cluster_;
  bool both_ways_;
  std::map<std::vector<int>, Step> known_;
};

}  // namespace stepsim
