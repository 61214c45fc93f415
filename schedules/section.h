// section.h: a stretch of the model that is visited at once (the embedding, a layer, the head), as tables.
//
// A section lists its tensors, its weight units and its ops, forward and backward in the order in which they
// are played. Ops name the tensors they read and write; who waits for whom, what is kept for the backward and
// what is freed when all follow from that, for one chip and one microbatch. The orders are those of the
// book's dependency lists ("How to parallelize a transformer for training", and appendix A for the backward):
// first the weight gradient, then the input gradient of each matmul from the last to the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "schedules/shapes.h"
#include "topology/chip.h"

namespace stepsim {

/// What kind of work a compute op is. The order is that of the phase names in StepProgram::names, from 1.
enum class WorkPhase : std::uint8_t { forward, backward_input, backward_weight, recompute, optimizer };

using TensorIndex = int;  // in ModelSection::tensors
using UnitIndex = int;    // in ModelSection::units

struct SectionTensor {
  std::string name;
  Bytes bytes = 0;
};

struct SectionOp {
  std::string label;
  WorkPhase phase = WorkPhase::forward;
  std::vector<TensorIndex> reads;
  std::vector<TensorIndex> writes;
  UnitIndex weight = -1;    // read
  UnitIndex gradient = -1;  // added to
  int chunk = 0;            // this is part chunk of chunks (tensor_overlap_chunks)
  int chunks = 1;

  // Compute: a matmul [m, k] x [k, n] when m > 0, else flop and bytes.
  double m = 0, k = 0, n = 0;
  double flop = 0;
  double bytes = 0;
  std::optional<Picoseconds> time;  // of a block of many ops, instead

  // A collective among the chips of one mesh axis ("tensor", "sequence") when this is not empty.
  std::string axis;
  CollectiveKind collective = CollectiveKind::all_gather;
  Bytes array = 0;
  bool critical = true;

  [[nodiscard]] bool communicates() const { return !axis.empty(); }
  [[nodiscard]] double work() const { return m > 0 ? 2 * m * k * n : flop; }
};

struct ModelSection {
  std::vector<SectionTensor> tensors;
  std::vector<WeightUnit> units;
  std::vector<SectionOp> forward;
  std::vector<SectionOp> backward;
  TensorIndex input = -1;            // -1: none (embedding)
  TensorIndex output = -1;           // -1: none (head)
  TensorIndex output_gradient = -1;  // read by the backward; -1: none (head)
  TensorIndex input_gradient = -1;
};

/// The sections of a model, per chip. The embedding and the head exist when the vocabulary is not empty.
ModelSection embedding_section(const ModelSpec& model, const Strategy& strategy);
ModelSection layer_section(const ModelSpec& model, const Strategy& strategy);
ModelSection head_section(const ModelSpec& model, const Strategy& strategy);

/// Collective matmul: cuts each critical tensor gather with the op that first reads it, and each
/// reduce-scatter with the op that last writes its input, into `chunks` parts each, so that part i of one
/// overlaps part i+1 of the other.
void split_for_overlap(ModelSection& section, int chunks);

/// Roofline time of a compute op.
Picoseconds op_time(const SectionOp& op, const ChipSpec& chip, const Strategy& strategy);

}  // namespace stepsim
