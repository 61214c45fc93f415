// cluster_builders.cpp: the kinds of clusters, by name.
#include "topology/builders.h"

namespace stepsim {

Registry<ClusterBuilder> cluster_builders() {
  Registry<ClusterBuilder> registry;
  registry.add("torus", "TPU slices: an ICI torus or mesh of 2 or 3 axes, several joined by DCN", build_torus);
  registry.add("pcie", "one host: devices under PCIe switches and root complexes, with host memory", build_pcie_host);
  registry.add("links", "vertices and links as listed", build_listed);
  registry.add("pcie_tree", "one host: devices under PCIe switches, one or two sockets, NICs", build_pcie_tree);
  registry.add("nvlink", "one host: NVLink pairs or the hybrid cube mesh, over a PCIe tree", build_nvlink);
  return registry;
}

Cluster build(const ClusterSpec& spec) {
  return cluster_builders().at("cluster.kind", spec.kind)(spec);
}

}  // namespace stepsim
