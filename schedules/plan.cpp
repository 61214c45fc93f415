// plan.cpp: one pass over the unrolled step of each rank. Each concern adds to an op what it waits for and what memory it
// changes: tensors (activations.h), weights (weights.h), gradients (gradients.h); the optimizer follows.
//
// Ops are appended in an order in which every dependency of a step points backwards, so that no order of a stream
// can contradict another.
#include "schedules/plan.h"

#include "schedules/activations.h"
#include "schedules/checks.h"
#include "schedules/optimizer.h"
#include "schedules/replicas.h"
#include "schedules/stages.h"
#include "schedules/weights.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

/// One rank's step, op by op.
class RankPlan {
 public:
  RankPlan(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip, const PipelineOrder& order, int rank,
           StepWriter& writer)
      : model_(model), strategy_(strategy), chip_(chip), order_(order), rank_(rank), writer_(writer) {
    unroll(tape_, model, strategy, chip, order, rank);
  }

  void write() {
    add_resident_state();
    Activations activations(tape_, writer_);
    Weights weights(tape_, strategy_, writer_);
    Gradients gradients(tape_, strategy_, writer_);
    for (std::uint32_t v = 0; v < tape_.visits.size(); ++v) {
      weights.begin_visit(v);
      for (std::uint32_t i = tape_.visits[v].first; i < tape_.visits[v].last; ++i) {
        PendingOp pending = draft(tape_.ops[i]);
        activations.before(i, pending);
        weights.before(i, pending);
        gradients.before(i, pending);
        const OpId id = writer_.add(pending);
        if (tape_.ops[i].to >= 0) open_messages_.push_back(id);
        activations.after(i, id);
        gradients.after(i, id);
      }
    }
    gradients.finish();
    Replicas(tape_, model_, order_, rank_, writer_).exchange(gradients.ready(), gradients);
    weights.close(update_weights(tape_, model_, strategy_, chip_, gradients, writer_));
  }

 private:
  /// State that is there before the first step; gradients come and go with the step.
  void add_resident_state() {
    const StateMemory state = state_memory(tape_.units, strategy_);
    writer_.program().resident.push_back(writer_.change("parameters", state.parameters, false));
    writer_.program().resident.push_back(writer_.change("optimizer", state.optimizer, false));
  }

  PendingOp draft(const TapeOp& tape_op) {
    const SectionOp& op = *tape_op.op;
    PendingOp pending = tape_op.to >= 0 ? message(tape_op)
                        : op.communicates()
                            ? writer_.collective(op.collective, {op.axis}, op.array, Queue::own, op.label, op.critical)
                            : compute(tape_op);
    set_tag(pending, tape_op.layer, tape_op.microbatch);
    pending.op.tag.stage = tape_op.stage;
    return pending;
  }

  PendingOp compute(const TapeOp& tape_op) {
    const SectionOp& op = *tape_op.op;
    Picoseconds work = op.time ? *op.time : op_time(op, chip_, strategy_);
    if (tape_op.duration != 1) work = from_seconds(to_seconds(work) * tape_op.duration);
    PendingOp pending = writer_.compute(tape_op.phase, op.label, work, op.work());
    if (strategy_.pipeline.sends != Sends::eager) {
      for (const OpId message : open_messages_) pending.waits_for.push_back({message, 0, Event::end});
      open_messages_.clear();
    }
    return pending;
  }

  /// Unless it is eager, a message is posted when everything before it has computed.
  PendingOp message(const TapeOp& tape_op) {
    const SectionOp& op = *tape_op.op;
    PendingOp pending =
        writer_.message(static_cast<std::uint32_t>(tape_op.from), static_cast<std::uint32_t>(tape_op.to), op.array,
                        strategy_.pipeline.sends != Sends::eager, op.label);
    constexpr const char* phases[] = {"", "bubble.warmup", "bubble.steady", "bubble.drain"};
    if (tape_op.waits != PipelinePhase::none) {
      pending.op.tag.peer = writer_.name(phases[static_cast<std::size_t>(tape_op.waits)]);
    }
    if (strategy_.pipeline.sends == Sends::eager) return pending;
    if (writer_.last_compute() != none) pending.waits_for.push_back({writer_.last_compute(), 0, Event::end});
    if (strategy_.pipeline.sends == Sends::blocking && !open_messages_.empty()) {
      pending.waits_for.push_back({open_messages_.back(), 0, Event::end});
    }
    return pending;
  }

  const ModelSpec& model_;
  const Strategy& strategy_;
  const ChipSpec& chip_;
  const PipelineOrder& order_;
  int rank_;
  StepWriter& writer_;
  Tape tape_;
  std::vector<OpId> open_messages_;  // since the last compute op
};

StepPlan write_step(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip) {
  StepPlan plan;
  plan.order = step_order(model, strategy, chip);
  StepWriter writer(plan, strategy.separate_reduce_queue);
  for (std::uint32_t rank = 0; rank < plan.order.ranks.size(); ++rank) {
    writer.begin_program(rank);
    RankPlan(model, strategy, chip, plan.order, static_cast<int>(rank), writer).write();
  }
  plan.executed_flops /= static_cast<double>(plan.order.ranks.size());
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
