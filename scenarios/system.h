// system.h: a system of the catalog by itself: a cluster without a model, whose mesh is its hardware.
#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace stepsim {

/// The system as a scenario: mesh axes are the hardware axes by name ("node", "device"), each laid on itself. Overrides
/// as for load(): "cluster.nodes=[4]". InputError with every problem found.
Scenario load_system(const std::string& name, const std::vector<std::string>& overrides, const std::string& catalog);

/// True when the catalog has a system of this name and no file is called so.
bool is_system(const std::string& name, const std::string& catalog);

/// Only what the entry says of its cluster, protocols and aliases, whether or not it can be built as it stands.
Scenario system_entry(const std::string& name, const std::string& catalog);

}  // namespace stepsim
