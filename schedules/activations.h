// activations.h: who waits for whom through a tensor, and how long each tensor lives.
#pragma once

#include <vector>

#include "schedules/step_writer.h"
#include "schedules/tape.h"

namespace stepsim {

/// A tensor is allocated when the first op that touches it starts and freed when the last one ends, part
/// "activations". An op waits for all that wrote what it reads; part i of a chunked op only for part i of a chunked
/// writer.
class Activations {
 public:
  Activations(const Tape& tape, StepWriter& writer);
  void before(std::uint32_t tape_op, PendingOp& pending);
  void after(std::uint32_t tape_op, OpId id);

 private:
  struct Written {
    OpId op = 0;
    int chunk = 0;
    int chunks = 1;
  };

  const Tape& tape_;
  StepWriter& writer_;
  std::vector<std::vector<Written>> writers_;  // per tensor instance
};

}  // namespace stepsim
