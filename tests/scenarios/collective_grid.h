// collective_grid.h: small clusters of every kind as scenarios without a model: mesh axes are the hardware axes.
#pragma once

#include <string>
#include <vector>

#include "scenarios/collective_run.h"
#include "tests/topology/nodes.h"

namespace stepsim::testing {

inline Scenario bare_scenario(const ClusterSpec& spec) {
  Scenario scenario;
  scenario.cluster = spec;
  const Cluster cluster = build(spec);
  for (const HardwareAxis& axis : cluster.axes()) {
    scenario.strategy.mesh.push_back({axis.name, axis.extent});
    scenario.placement.push_back({axis.name});
  }
  return scenario;
}

inline ClusterSpec pcie_host(std::vector<int> per_switch, int roots, bool peer_to_peer) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.name = "gpu";
  spec.chip.pcie_rate = 16'000'000'000;
  spec.chip.pcie_latency = Picoseconds(700'000);
  for (const int devices : per_switch) spec.devices += devices;
  spec.devices_per_switch = std::move(per_switch);
  spec.root_complexes = roots;
  spec.peer_to_peer = peer_to_peer;
  spec.host_memory_rate = 80'000'000'000;
  spec.root_complex_rate = 30'000'000'000;
  spec.staging_latency = microsecond * 2;
  return spec;
}

inline ClusterSpec torus_of(std::vector<int> shape, std::vector<bool> wraps) {
  ClusterSpec spec = torus(v5p(), std::move(shape));
  spec.wraps = std::move(wraps);
  return spec;
}

/// All of up to 16 chips.
inline std::vector<NamedNodes> small_clusters() {
  std::vector<NamedNodes> all{{"two_on_a_line", torus_of({2, 1, 1}, {false, false, false})},
                              {"ring_of_8", torus_of({8, 1, 1}, {true, false, false})},
                              {"torus_4x4", torus_of({4, 4, 1}, {true, true, false})},
                              {"pcie_host_2_2", pcie_host({2, 2}, 2, true)},
                              {"pcie_host_staged", pcie_host({4}, 1, false)},
                              {"nvlink_pairs", nvlink_pairs()},
                              {"dgx1_cube_mesh", cube_mesh()}};
  for (NamedNodes& one : networks_of_nodes()) {
    if (build(one.spec).chips() <= 16) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace stepsim::testing
