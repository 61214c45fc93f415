// tape.h: the step of one rank unrolled: every op of every action, in the order in which the rank plays them.
//
// Without a pipeline the only rank has the whole model, and plays per microbatch embedding, layers and head forward; head,
// layers in reverse and embedding backward. With one, its actions are those of the schedule: F receives what the stage
// before made, plays its layers, and sends on; B likewise backward; I plays the backward but for weight gradients, which
// W plays later. One run through a section is a visit (a head's forward whose backward follows is one with it). Tensors
// become instances, each with its first and last user: that is all that memory and dependencies need.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "schedules/plan.h"
#include "schedules/section.h"
#include "schedules/stages.h"

namespace stepsim {

/// Where in a rank's order a receive stands: what waiting for it counts as.
enum class PipelinePhase : std::uint8_t { none, warm_up, steady, drain };

struct TapeOp {
  const SectionOp* op = nullptr;
  WorkPhase phase = WorkPhase::forward;  // recompute where a forward op is played again
  std::int32_t layer = -1;
  std::int32_t microbatch = 0;
  std::int32_t stage = 0;
  std::int32_t span = 0;             // gradients of one span are reduced together
  std::vector<std::uint32_t> reads;  // tensor instances
  std::vector<std::uint32_t> writes;
  int weight = -1;  // in Tape::units
  int gradient = -1;
  double duration = 1;  // times the op's own, in fused pairs
  // A send or a receive: between these ranks along the pipeline.
  std::int32_t from = -1;
  std::int32_t to = -1;
  PipelinePhase waits = PipelinePhase::none;  // of a receive
  // A block: what memory changes inside, besides the tensors that it reads and writes.
  Bytes at_start = 0;
  Bytes at_end = 0;
};

struct TensorInstance {
  Bytes bytes = 0;
  std::uint32_t first = 0;  // ops that first and last touch it, in Tape::ops
  std::uint32_t last = 0;
};

/// Ops [first, last) of Tape::ops.
struct Visit {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::int32_t microbatch = 0;
  std::int32_t stay = 0;  // what is gathered stays so while this is the same
};

/// The sections of the model, for one part of each sequence.
struct Sections {
  ModelSection embedding, layer, head;
};

struct Tape {
  std::deque<Sections> sections;      // by part of the sequence; ops point into them
  std::deque<SectionOp> own;          // sends, receives and blocks
  bool has_ends = false;              // embedding and head exist
  std::vector<Stage> stages;          // of this rank
  std::vector<int> first_unit;        // per stage: in units
  std::vector<WeightUnit> units;      // stage by stage
  std::vector<std::size_t> stage_of;  // per unit: index in stages
  std::vector<TapeOp> ops;
  std::vector<Visit> visits;
  std::vector<TensorInstance> tensors;

  Tape() = default;
  Tape(const Tape&) = delete;  // ops point into it
  Tape& operator=(const Tape&) = delete;
  Tape(Tape&&) = delete;
  Tape& operator=(Tape&&) = delete;
};

/// All weight units of a model: embedding, layer by layer, head (none when tied).
std::vector<WeightUnit> weight_units(const ModelSpec& model, const Strategy& strategy);

/// Those of one rank: its stages'.
std::vector<WeightUnit> weight_units(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order,
                                     int rank);

/// Of these units on one chip.
StateMemory state_memory(const std::vector<WeightUnit>& units, const Strategy& strategy);

/// Fills an empty tape with what a rank plays.
void unroll(Tape& tape, const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip,
            const PipelineOrder& order, int rank);

}  // namespace stepsim
