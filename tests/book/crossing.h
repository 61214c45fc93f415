// crossing.h: busy times of a scenario's added layer, and where communication takes as long as compute.
//
// Both are differences T(2L) - T(L) per layer, so that the ends of a step drop out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/run.h"
#include "tests/scenarios/load_text.h"

namespace stepsim::book {

// --- Busy times of one run -------------------------------------------------------------------------------------------

using Pick = std::function<bool(const StepProgram&, const Op&)>;

/// Compute ops of phases that start so; "" takes all but the optimizer.
inline Pick compute_of(const std::string& phase) {
  return [=](const StepProgram& program, const Op& op) {
    const std::string& name = program.names[op.tag.phase];
    return op.kind == OpKind::compute && name.starts_with(phase) && name != "optimizer";
  };
}

/// Collectives over this axis whose label does not contain `without`.
inline Pick comms_of(const std::string& axis, const std::string& without = "") {
  return [=](const StepProgram& program, const Op& op) {
    return op.kind == OpKind::collective && program.names[op.tag.axis] == axis &&
           (without.empty() || program.names[op.tag.label].find(without) == std::string::npos);
  };
}

/// Labels of the backward's tensor collectives ("mlp dOut", "mlp dIn") have this, the forward's have not.
inline const std::string of_backward = " d";

/// Seconds in which at least one picked op of the first class is under way, over the ops of one step.
inline double busy(const RunResult& result, const Pick& pick) {
  const StepProgram& program = result.assembly.plan.program;
  const std::vector<Op>& ops = program.programs[program.program_of[0]].ops;
  std::vector<OpTimes> spans;
  for (OpId id = 0; id < ops.size(); ++id) {
    if (pick(program, ops[id])) spans.push_back(result.timeline.at(result.timeline.reported(), 0, id));
  }
  std::sort(spans.begin(), spans.end(), [](const OpTimes& a, const OpTimes& b) { return a.start < b.start; });
  Picoseconds total;
  Picoseconds until;
  for (const OpTimes& span : spans) {
    if (span.end <= until) continue;
    total += span.end - std::max(span.start, until);
    until = span.end;
  }
  return to_seconds(total);
}

// --- Both sides, and where they meet ---------------------------------------------------------------------------------

/// What is compared, and the knob that is turned.
struct Sides {
  std::string scenario;   // text
  std::string knob;       // a key: "parallelism.batch"
  std::int64_t grid = 1;  // the knob takes multiples of it
  std::int64_t high = 1;  // in units of grid: there compute is the longer
  double per = 1;         // the crossing is knob / per: "tokens per chip"
  Pick compute;
  std::vector<Pick> comms;  // the longest counts: they run on disjoint links
};

struct LayerTimes {
  double compute = 0;  // seconds
  double comms = 0;
};

/// Of one more layer.
inline LayerTimes added_layer(const Sides& sides, const std::vector<std::string>& overrides) {
  constexpr int layers = 2;
  const auto times = [&](int count) {
    std::vector<std::string> all = overrides;
    all.push_back("model.layers=" + std::to_string(count));
    const RunResult result = run(load_text(sides.scenario, all));
    std::vector<double> seconds{busy(result, sides.compute)};
    for (const Pick& pick : sides.comms) seconds.push_back(busy(result, pick));
    return seconds;
  };
  const std::vector<double> once = times(layers);
  const std::vector<double> twice = times(2 * layers);
  LayerTimes added{(twice[0] - once[0]) / layers, 0};
  for (std::size_t i = 1; i < once.size(); ++i) added.comms = std::max(added.comms, (twice[i] - once[i]) / layers);
  return added;
}

/// Compute less communication with the knob at units x grid.
inline double margin(const Sides& sides, std::int64_t units, std::vector<std::string> overrides) {
  overrides.push_back(sides.knob + "=" + std::to_string(units * sides.grid));
  const LayerTimes added = added_layer(sides, overrides);
  return added.compute - added.comms;
}

/// Where the margin changes sign: bracketed on the grid by secants and halvings, interpolated inside the bracket.
inline double crossing(const Sides& sides, const std::vector<std::string>& overrides = {}) {
  std::int64_t low = 1;
  std::int64_t high = sides.high;
  double below = margin(sides, low, overrides);
  double above = margin(sides, high, overrides);
  EXPECT_LT(below, 0) << "communication is hidden at the least value already";
  EXPECT_GT(above, 0) << "communication is not hidden at the greatest value";
  const auto secant = [&] {
    return static_cast<double>(low) - below * static_cast<double>(high - low) / (above - below);
  };
  for (int round = 0; high - low > 1 && below < 0 && above > 0; ++round) {
    const auto guess = round % 3 == 2 ? (low + high) / 2 : static_cast<std::int64_t>(secant() + round % 2);
    const std::int64_t middle = std::clamp(guess, low + 1, high - 1);
    const double found = margin(sides, middle, overrides);
    (found < 0 ? low : high) = middle;
    (found < 0 ? below : above) = found;
  }
  return secant() * static_cast<double>(sides.grid) / sides.per;
}

// --- Scenarios -------------------------------------------------------------------------------------------------------

/// The book's stack of two-matmul layers, D = 8192 and F = 32768, on ideal v5p chips without latency.
inline std::string mlp_stack(const std::string& cluster, const std::string& parallelism, const std::string& ring) {
  return "cluster:\n"
         "  kind: torus\n"
         "  chip: {base: tpu-v5p, launch_overhead: 0 s, matmul_efficiency: 1, memory_efficiency: 1, matmul_tile: 1,\n"
         "         pcie_latency: 0 s, dcn_latency: 0 s}\n"
         "  link_latency: 0 s\n" +
         cluster +
         "model: {layers: 2, d_model: 8192, d_ff: 32768, attention: none, gated: false, elementwise: false}\n"
         "parallelism:\n" +
         parallelism +
         "  batch: 64Ki\n"
         "collectives: {ring: " +
         ring + "}\nallow_oom: true\n";
}

/// Data parallelism: the backward hides the gradients' all-reduce, matrix by matrix. Knob: tokens per chip.
inline Sides data_parallel(const std::string& cluster, int chips, const std::string& ring) {
  Sides sides;
  sides.scenario =
      mlp_stack(cluster, "  mesh: {data: " + std::to_string(chips) + "}\n  zero: 0\n  bucket: 1 MB\n", ring);
  sides.knob = "parallelism.batch";
  sides.grid = chips;
  sides.high = 8192;
  sides.per = chips;
  sides.compute = compute_of("backward");
  sides.comms = {comms_of("data")};
  return sides;
}

/// FSDP: two gathers and a reduce-scatter of every matrix, behind forward and backward. Gathers and reduces share a
/// queue, so that a span is the time of its links alone.
inline Sides fully_sharded(const std::string& cluster, int chips, const std::string& ring) {
  Sides sides = data_parallel(cluster, chips, ring);
  sides.scenario =
      mlp_stack(cluster, "  mesh: {fsdp: " + std::to_string(chips) + "}\n  separate_reduce_queue: false\n", ring);
  sides.compute = compute_of("");
  sides.comms = {comms_of("fsdp")};
  return sides;
}

/// Tensor: the forward's matmuls against its gather and reduce-scatter, at any batch. Knob: F.
inline Sides tensor_parallel(const std::string& cluster, int ways, const std::string& ring) {
  Sides sides;
  sides.scenario = mlp_stack(cluster, "  mesh: {tensor: " + std::to_string(ways) + "}\n", ring);
  sides.knob = "model.d_ff";
  sides.grid = ways;
  sides.high = 8192;
  sides.compute = compute_of("forward");
  sides.comms = {comms_of("tensor", of_backward)};
  return sides;
}

}  // namespace stepsim::book
