// replicas.h: gradients of weights that two ranks of a pipeline hold, added up between the two.
//
//   two copies of the model (DualPipe, Chimera): stage s is on two ranks
//   tied embeddings: the first and the last stage each have the table
// The two all-reduce among themselves as a ring of two does: each sends the other half of its array, adds, and sends the
// sum of its own half back: V / 2 each way, twice. Every pair has queues of its own, one per stage and direction.
#pragma once

#include <vector>

#include "schedules/gradients.h"

namespace stepsim {

class Replicas {
 public:
  Replicas(const Tape& tape, const ModelSpec& model, const PipelineOrder& order, int rank, StepWriter& writer);

  /// Replaces what completed each replicated unit's gradient by its exchange, in the order in which the stages are ready.
  void exchange(std::vector<Gradients::Ready>& ready, const Gradients& gradients);

 private:
  /// Weights that are exchanged together with one other rank.
  struct Shared {
    std::string queue;
    int other = 0;
    std::vector<int> units;
  };
  void find_copies(const PipelineOrder& order);
  void find_tables(const ModelSpec& model, const PipelineOrder& order);
  [[nodiscard]] OpId all_reduce(const Shared& shared, Bytes bytes, const std::vector<OpId>& after);
  [[nodiscard]] std::vector<OpId> both_ways(const Shared& shared, const std::string& step, Bytes bytes,
                                            const std::vector<OpId>& after);

  const Tape& tape_;
  int rank_;
  StepWriter& writer_;
  std::vector<Shared> shared_;
};

}  // namespace stepsim
