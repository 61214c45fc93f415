// placement.h: where the mesh axes lie: as the scenario says, or the placement with the least predicted communication.
//
// The prediction is closed-form (the collectives' bounds at the rates the links really give, link_rates.h); the
// simulation never uses it. Exposed communication of a placement = collectives on the critical path, slowed by what
// floats over the same links meanwhile, + what floats beyond the compute time; ties go to the least communication in
// all, then to the order of placements().
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"
#include "scenarios/scenario.h"
#include "schedules/plan.h"
#include "topology/mesh.h"

namespace stepsim {

/// A placement with the communication it is predicted to leave exposed.
struct RankedPlacement {
  Placement placement;
  std::vector<std::string> text;  // per mesh axis, Mesh::describe
  double exposed = 0;             // seconds: critical collectives + what floats beyond the compute time
  double total = 0;               // seconds of all collectives
};

/// The placement that the scenario writes down; InputError with all that is wrong in its terms.
Placement given_placement(const Scenario& scenario, const Cluster& cluster);

/// Indices of mesh axes by name.
std::vector<int> axis_indices(const Strategy& strategy, const std::vector<std::string>& names);

/// The collective that a request is, on the groups a mesh gives it.
CollectiveSpec collective_spec(const Scenario& scenario, const CollectiveRequest& request, const Mesh& mesh);

CollectiveSpec collective_spec(const Scenario& scenario, const CollectiveRequest& request,
                               const std::vector<GroupAxis>& shape);

/// Best first. One entry when the scenario gives the placement (InputError under "parallelism.placement").
std::vector<RankedPlacement> ranked_placements(const Scenario& scenario, const Cluster& cluster, const StepPlan& plan);

/// The mesh as a run lays it: by the placement that is given, else by the best of the ranked ones.
Mesh mesh_of(const Scenario& scenario, const Cluster& cluster);

}  // namespace stepsim
