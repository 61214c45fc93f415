// fault_lines.h: what is wrong with a cluster, for people.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

/// A line for each slow chip, degraded link, and link that is down with the way round it; at most `most` and one that
/// says how many more there are.
std::vector<std::string> fault_lines(const Cluster& cluster, std::size_t most);

}  // namespace stepsim
