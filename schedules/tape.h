// tape.h: the step unrolled: every op of every microbatch, in the order in which a chip plays them.
//
// Per microbatch: embedding, layers and head forward; head, layers in reverse and embedding backward. One run through
// a section is a visit (the head's forward and backward are one). Tensors become instances, each with its first and
// last user: that is all that memory and dependencies need.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/section.h"

namespace stepsim {

struct TapeOp {
  const SectionOp* op = nullptr;
  WorkPhase phase = WorkPhase::forward;  // recompute where a forward op is played again
  std::int32_t layer = -1;
  std::int32_t microbatch = 0;
  std::vector<std::uint32_t> reads;  // tensor instances
  std::vector<std::uint32_t> writes;
  int weight = -1;  // in Tape::units
  int gradient = -1;
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
};

struct Tape {
  ModelSection embedding, layer, head;  // where the ops point to
  bool has_ends = false;                // embedding and head exist
  std::vector<WeightUnit> units;
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

/// Fills an empty tape.
void unroll(Tape& tape, const ModelSpec& model, const Strategy& strategy);

}  // namespace stepsim
