// plan.cpp: one pass over the unrolled step. Each concern adds to an op what it waits for and what memory it
// changes: tensors (activations.h), weights (weights.h), gradients (gradients.h); the optimizer follows.
//
// Ops are appended in an order in which every dependency of a step points backwards, so that no order of a stream
// can contradict another.
#include "schedules/plan.h"

#include "schedules/activations.h"
#include "schedules/checks.h"
#include "schedules/optimizer.h"
#include "schedules/weights.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

PendingOp draft(const TapeOp& tape_op, const Strategy& strategy, const ChipSpec& chip, StepWriter& writer) {
  const SectionOp& op = *tape_op.op;
  PendingOp pending = op.communicates()
                          ? writer.collective(op.collective, {op.axis}, op.array, Queue::own, op.label, op.critical)
                          : writer.compute(tape_op.phase, op.label, op_time(op, chip, strategy), op.work());
  set_tag(pending, tape_op.layer, tape_op.microbatch);
  return pending;
}

/// State that is there before the first step; gradients come and go with the step.
void add_resident_state(const ModelSpec& model, const Strategy& strategy, StepWriter& writer) {
  const StateMemory state = state_memory(model, strategy);
  writer.program().resident.push_back(writer.change("parameters", state.parameters, false));
  writer.program().resident.push_back(writer.change("optimizer", state.optimizer, false));
}

StepPlan write_step(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip) {
  StepPlan plan;
  StepWriter writer(plan, strategy.separate_reduce_queue);
  add_resident_state(model, strategy, writer);
  Tape tape;
  unroll(tape, model, strategy);
  Activations activations(tape, writer);
  Weights weights(tape, strategy, writer);
  Gradients gradients(tape, strategy, writer);
  for (std::uint32_t v = 0; v < tape.visits.size(); ++v) {
    weights.begin_visit(v);
    for (std::uint32_t i = tape.visits[v].first; i < tape.visits[v].last; ++i) {
      PendingOp pending = draft(tape.ops[i], strategy, chip, writer);
      activations.before(i, pending);
      weights.before(i, pending);
      gradients.before(i, pending);
      const OpId id = writer.add(pending);
      activations.after(i, id);
      gradients.after(i, id);
    }
  }
  gradients.finish();
  weights.close(update_weights(tape, model, strategy, chip, gradients, writer));
  return plan;
}

}  // namespace

StepPlan plan(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip) {
  check_sizes(model, strategy);
  try {
    return write_step(model, strategy, chip);
  } catch (const TimeOverflow&) {
    throw InputError("model",
                     "one step computes for more than 106 days per chip, which 64-bit picoseconds do not hold");
  }
}

}  // namespace stepsim
