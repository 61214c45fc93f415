// warnings.h: what a report says beside its figures: mesh axes over slow links, and what an importer had to assume.
#pragma once

#include <string>
#include <vector>

#include "scenarios/straddle.h"

namespace stepsim {

/// "tensor 16 straddles slow links: ...", with what would avoid it.
std::string straddle_text(const Straddle& straddle, const Cluster& cluster);

/// The list `warnings` of JSON reports, as text.
std::string warnings_json(const std::vector<Straddle>& straddles, const Cluster& cluster);

}  // namespace stepsim
