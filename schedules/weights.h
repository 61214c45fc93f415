// weights.h: when an op may read its weights.
//
// ZeRO-3 (= FSDP; Zhao et al. 2023, book "Fully-sharded data parallelism"): a unit is gathered before its first use
// in a visit and freed after its last. The gather for visit v is issued when visit v - prefetch starts to compute,
// that is when the visit before that has computed; prefetch 0: when the op that needs it is next. Gathers run in the
// order of their use. Without reshard_after_forward a unit is gathered once per microbatch and kept until its last
// use. The first gather of a step waits for the update of its unit in the step before, and may start in that step.
//
// ZeRO-0: weights are resident; the first use in a step waits for the update in the step before.
// ZeRO-1, -2: each chip updates its shard, and the updated unit is gathered in place right after (optimizer.cpp): the
// gather floats into the next step, whose first use of the unit waits for it.
#pragma once

#include <vector>

#include "schedules/step_writer.h"
#include "schedules/tape.h"

namespace stepsim {

class Weights {
 public:
  Weights(const Tape& tape, const Strategy& strategy, StepWriter& writer);
  void begin_visit(std::uint32_t visit);
  void before(std::uint32_t tape_op, PendingOp& pending);
  /// Points dependencies on the step before at what made each unit ready: [unit].
  void close(const std::vector<OpId>& ready);

 private:
  /// A stretch in which a unit is gathered.
  struct Residency {
    int unit = 0;
    std::uint32_t first = 0;  // first and last op that reads it, in Tape::ops
    std::uint32_t last = 0;
    OpId gather = none;
  };
  void find_residencies();
  void gather(Residency& residency);
  void wait_for_update(int unit, PendingOp& pending);

  const Tape& tape_;
  const Strategy& strategy_;
  StepWriter& writer_;
  std::vector<std::string> axes_;
  bool sharded_ = false;
  std::vector<Residency> residencies_;              // in order of first use
  std::vector<std::vector<std::size_t>> of_visit_;  // gathered for this visit
  std::vector<std::size_t> residency_of_;           // per tape op that reads weights
  std::vector<bool> used_;                          // per unit: in this step
};

}  // namespace stepsim
