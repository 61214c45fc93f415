// mesh_check.h: does a mesh fit a cluster, and does a placement tile it?
#pragma once

#include "topology/mesh.h"

namespace stepsim {

/// InputError on "parallelism.mesh": extents of 1 or more, names once each, product = chips.
void check_mesh(const Cluster& cluster, const std::vector<MeshAxis>& axes);

/// InputError on "parallelism.placement.AXIS": digits multiply to the axis' extent, and those of all axes tile every
/// hardware axis: strides 1, e1, e1 x e2, ... up to its extent.
void check_placement(const Cluster& cluster, const std::vector<MeshAxis>& axes, const Placement& placement);

}  // namespace stepsim
