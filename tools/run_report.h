// run_report.h: a run as text for the terminal, at most 100 columns wide.
//
// Top to bottom: what is simulated, the headline, where the step goes, communication, links, memory, the critical
// path, and one sentence that names the bottleneck.
#pragma once

#include <string>

#include "scenarios/run.h"

namespace stepsim {

std::string run_report(const Scenario& scenario, const RunResult& result, bool colour);

/// "cluster", "mesh", "model", ...: what is simulated, also for `check`.
std::string subject(const Scenario& scenario, const Assembly& assembly, bool colour);

/// "4 nodes of 8 h100, rail-optimised", "16x16 torus of tpu-v5e".
std::string cluster_kind_text(const Cluster& cluster);

/// How many chips became how many classes, and what tells those apart.
std::string folding_text(const Assembly& assembly);

// The parts of the report, each with its title.
std::string headline(const Scenario& scenario, const RunResult& result, bool colour);
std::string breakdown_table(const RunResult& result, bool colour);
std::string collectives_table(const RunResult& result, bool colour);
std::string links_table(const RunResult& result, bool colour);
std::string memory_table(const RunResult& result, bool colour);
std::string critical_path_table(const RunResult& result, bool colour);

}  // namespace stepsim
