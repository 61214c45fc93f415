// family.h: the pipeline schedules by name: what each is for, which sizes it takes, and how it is made.
//
// To add one: a file with its rule and source, and a line in registry.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/pipeline/costs.h"
#include "schedules/pipeline/order.h"
#include "sim/registry.h"

namespace stepsim {

struct PipelineSizes {
  int ranks = 1;            // p
  int stages_per_rank = 1;  // v; both copies' where there are two
  int microbatches = 1;     // m
  int group = 0;     // microbatches that pass a stage before the next chunk's turn; 0: the schedule's own default
  int segments = 1;  // a microbatch's sequence is cut into
  /// What automatic schedules plan with. They take the units of `costs`.
  ActionCosts costs;
  ActivationUnits activation;
  std::optional<double> memory_limit;  // in the units of `activation`; none: the schedule's own default
};

struct PipelineFamily {
  std::string placement;        // "loop", "V", "one stage a rank", "two directions"
  std::string source;           // where the rule is from
  std::string complexity;       // of making it, in p ranks, m microbatches and v stages a rank
  int stages_per_rank = 0;      // the only number it takes; 0: any
  int copies = 1;               // of the model; p stages_per_rank / copies stages in all
  bool takes_groups = false;    // PipelineSizes::group means something
  bool takes_segments = false;  // PipelineSizes::segments, too
  bool takes_limit = false;     // PipelineSizes::memory_limit; it is planned automatically
  /// Of a schedule planned for equal costs, whatever PipelineSizes::costs says: the one planned for those.
  std::string_view cost_driven_twin = "";
  /// What else of the sizes it cannot do, one sentence each: "m = 6: expected at least 2p = 8"; none: nothing.
  std::vector<std::string> (*refusals)(const PipelineSizes& sizes) = nullptr;
  /// For sizes that are not refused.
  PipelineOrder (*make)(const PipelineSizes& sizes) = nullptr;
};

/// All of them, in the order in which they are listed.
const Registry<PipelineFamily>& pipeline_families();

/// The order of a named schedule. InputError("schedule", ...) on an unknown name or sizes that are refused.
PipelineOrder pipeline_order(const std::string& name, const PipelineSizes& sizes);

/// Everything that speaks against these sizes; empty: it can be made.
std::vector<std::string> refusals(const PipelineFamily& family, const PipelineSizes& sizes);

}  // namespace stepsim
