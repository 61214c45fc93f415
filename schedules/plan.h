// plan.h: model and strategy -> what each chip does in a step.
//
// The program is written with collectives by request (kind, mesh axes, bytes); where they run is decided later, so a
// plan does not depend on the placement. One program per role: one for each rank along the mesh axis "pipeline".
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"
#include "schedules/model.h"
#include "schedules/pipeline/order.h"
#include "schedules/strategy.h"
#include "sim/program.h"
#include "topology/chip.h"

namespace stepsim {

/// One collective that ops refer to by CollectiveId = index.
struct CollectiveRequest {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<std::string> axes;  // mesh axes of the group, in mesh order: {"fsdp", "sequence"}
  Bytes bytes = 0;                // full array V of the group
  std::uint32_t uses = 0;         // how often a step issues it
  bool critical = false;          // on the critical path (tensor), else it may float
  // Of a point-to-point: ranks along the axes, and whether the send waits for its receiver.
  std::uint32_t from = 0;
  std::uint32_t to = 1;
  bool rendezvous = false;
};

struct StepPlan {
  StepProgram program;  // names, streams, programs; its communicators, plans and routes are still empty
  std::vector<CollectiveRequest> collectives;
  PipelineOrder order;        // that the ranks of the pipeline play
  Picoseconds compute_time;   // sum of the compute ops of one step, on the rank that has most
  double executed_flops = 0;  // per chip and step, recomputation included; mean over the pipeline
};

/// InputError on keys under "model" and "parallelism" when sizes do not divide (with the divisors that fit).
StepPlan plan(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip);

/// Roofline time of one op: max(flop / (peak x efficiency), bytes / (memory rate x efficiency)) + launch overhead.
Picoseconds op_time(const ChipSpec& chip, const std::string& dtype, double flop, double bytes);

/// The same for a matmul [m, k] x [k, n]: dims padded to the chip's tile; bytes of both operands and the result.
Picoseconds matmul_time(const ChipSpec& chip, const std::string& dtype, double m, double k, double n,
                        double bytes_per_element);

/// Memory per chip by formula (the simulator's peak comes from the timeline): parameters, gradients, optimizer state.
struct StateMemory {
  Bytes parameters = 0;
  Bytes gradients = 0;
  Bytes optimizer = 0;
};
/// Of the rank that holds most, where there is a pipeline.
StateMemory state_memory(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order);

/// Of the whole model: with a pipeline a rank holds its stages' part.
StateMemory state_memory(const ModelSpec& model, const Strategy& strategy);

}  // namespace stepsim
