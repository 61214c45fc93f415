// link_rates.h: what the links really give a group: the rate one neighbour step gets along a group axis when all
// groups of the family send at once.
//
// Counted on the links themselves, for any network: chips send one step each way they use, flows are counted per
// link, and the least capacity / flows is the rate. So interleaved groups (a stride of s puts s flows on each link),
// several chips behind one NIC, or both directions through one PCIe link are shared as they are in the simulation.
// One line of chips stands for all: lines along a torus axis share no links and are alike, and so are hosts (a NIC's
// rate is its chips' shares added up). Faults do not count: the rates are those of the healthy cluster.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "collectives/collective.h"
#include "topology/cluster.h"
#include "topology/mesh.h"

namespace stepsim {

class LinkRates {
 public:
  /// The cluster has to outlive this.
  LinkRates(const Cluster& cluster, bool both_ways);
  LinkRates(const LinkRates&) = delete;
  LinkRates& operator=(const LinkRates&) = delete;

  /// Rate (bytes/s) and latency (seconds) of one neighbour step along one axis of a group.
  struct Step {
    double rate = 0;
    double latency = 0;
    LinkId narrowest = 0;  // the link that sets the rate
  };
  Step step(const GroupAxis& axis);

  AxisRates rates(const std::vector<GroupAxis>& shape);

  /// Bytes/s one chip could send over all axes of the group: a chip inside a line or on a ring sends both ways.
  double egress(const std::vector<GroupAxis>& shape);

 private:
  [[nodiscard]] Step count(const GroupAxis& axis) const;
  [[nodiscard]] std::vector<ChipId> line(int axis) const;
  [[nodiscard]] std::vector<std::vector<LinkId>> steps_of(const GroupAxis& axis) const;

  std::optional<Cluster> healthy_;  // without faults, if there are any
  const Cluster* cluster_;
  bool both_ways_;
  std::map<std::vector<int>, Step> known_;
};

/// Between neighbours along any axis of a group: what a send can count on.
AxisRates worst_axis(const AxisRates& rates);

/// Where neighbours are not alike (listed links, a PCIe host): no chip sends or receives faster than all its links
/// together, no transfer arrives before the least latency of a route. The same for all axes of the group.
AxisRates most_of_any_chip(const Cluster& cluster, const std::vector<GroupAxis>& shape);

}  // namespace stepsim
