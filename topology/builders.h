// builders.h: what a builder of clusters hands over, and the builders that ship.
//
// A builder checks its fields of the ClusterSpec, lists vertices and links, and says how transfers travel: `along`
// for neighbours on an axis, `routes` for any pair. Chips are vertices 0..chips-1, so a ChipId is a VertexId.
#pragma once

#include "topology/cluster.h"

namespace stepsim {

struct Cluster::Parts {
  ClusterSpec spec;
  std::vector<HardwareAxis> axes;  // outermost first; product of extents = chips
  std::vector<Vertex> vertices;    // chips first, in order
  std::vector<GraphLink> links;
  std::shared_ptr<const LinkGraph> graph;  // of these vertices and links
  int hosts = 0;
  int diameter = 0;      // links of the longest route
  double bisection = 0;  // bytes/s one way
  std::function<std::vector<LinkId>(ChipId from, int axis, int hops)> along;
  std::function<std::vector<WeightedRoute>(ChipId from, ChipId to)> routes;
};

/// torus.cpp: slices of ICI torus or mesh, joined by the data-center network.
Cluster build_torus(const ClusterSpec& spec);

/// pcie_host.cpp: one host with devices under PCIe switches and root complexes.
Cluster build_pcie_host(const ClusterSpec& spec);

}  // namespace stepsim
