// run.h: from a Scenario to its result: assemble the cluster and the step program, play them, read off the report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/layout.h"
#include "scenarios/placement.h"
#include "scenarios/scenario.h"
#include "sim/breakdown.h"
#include "sim/critical_path.h"
#include "sim/timeline.h"
#include "topology/mesh.h"

namespace stepsim {

/// Everything the clock needs, and what was decided on the way.
struct Assembly {
  std::shared_ptr<const Cluster> cluster;
  std::unique_ptr<Mesh> mesh;
  std::vector<RankedPlacement> placements;  // best first; the first is the one used; one entry when given
  Communication communication;
  std::unique_ptr<Symmetry> symmetry;  // which chips are played
  bool folded = true;                  // false: all of them
  StepPlan plan;                       // plan.program is complete: classes, communicators, plans, routes
  Network network;                     // of the classes of links that are used
  std::vector<LinkClass> links;        // what each link of the network stands for
};

/// What scenarios of one cluster and mesh can share.
struct Ground {
  std::shared_ptr<const Cluster> cluster;
  std::vector<RankedPlacement> placements;  // best first
};

Ground ground_of(const Scenario& scenario);
Assembly assemble(const Scenario& scenario);
/// On a ground that is there already: the first of its placements.
Assembly assemble(const Scenario& scenario, const Ground& ground);

/// Use of one class of links ("ici x+") over the reported step.
struct LinkClassUse {
  std::string kind;
  std::uint64_t links = 0;  // that are used at all
  double capacity = 0;      // bytes/s of one
  Bytes bytes = 0;          // of all
  double busy = 0;          // share of the step, mean over the links
  double busiest = 0;       // share of the step, the busiest link
  double fullest = 0;       // bytes carried of what its capacity allows in the step, the fullest link
  std::uint32_t peak_flows = 0;
};

struct MemoryReport {
  Bytes capacity = 0;
  Bytes peak = 0;
  std::vector<std::pair<std::string, Bytes>> parts;  // largest first, at the peak of the fullest class
  bool fits = true;
};

/// Collectives of one size that are done by one method.
struct MethodUse {
  Bytes array = 0;  // of each
  std::uint32_t count = 0;
  MethodPick pick;
};

struct CollectiveReport : CollectiveUse {
  std::vector<MethodUse> methods;
  double limit = 0;  // bytes/s a chip could send on the links of these axes
};

/// What a run says of its pipeline (pipeline_figures.h has the definitions).
struct PipelineFigures {
  double wall_bubble = 0;  // shares of the step, mean over the chips
  double warm_up = 0;      // in which a chip waits for a peer of the pipeline
  double steady = 0;
  double drain = 0;
  double rank_bubble = 0;
  Picoseconds exposed_sends;           // mean over the chips
  double activation_microbatches = 0;  // most that a rank holds by the order: forwards of all its stages, of which the
                                       // backward for inputs leaves a part
  int copies = 1;                      // of the weights
};

struct RunResult {
  Assembly assembly;
  Timeline timeline;
  Picoseconds step_time;
  double tokens_per_s = 0;
  double tokens_per_s_per_chip = 0;
  double model_flops_per_s_per_chip = 0;
  double mfu = 0;
  std::string flop_formula;
  MemoryReport memory;
  std::vector<ClassBreakdown> breakdown;
  std::vector<CollectiveReport> collectives;
  std::vector<LinkClassUse> links;  // fullest first
  std::vector<PathPiece> critical_path;
  std::string bottleneck;                               // one plain sentence
  std::optional<Picoseconds> step_time_without_faults;  // where the scenario has faults
  std::optional<PipelineFigures> pipeline;              // where there is one
};

RunResult run(const Scenario& scenario);
/// Without what takes long and only a whole report shows: collectives, links, critical path, bottleneck, faults.
RunResult run_briefly(const Scenario& scenario, Assembly assembly);

/// The class that stands for most chips (ties: the first), which reports are read off.
ClassId most_common_class(const std::vector<ClassBreakdown>& breakdown);

/// A scenario's `expect:` against its result; `measured` in base units.
struct ExpectationResult {
  Expectation expectation;
  double measured = 0;
  bool met = false;
};
std::vector<ExpectationResult> check_expectations(const Scenario& scenario, const RunResult& result);

}  // namespace stepsim
