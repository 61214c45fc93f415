#include "schedules/optimizer.h"

#include <cmath>

namespace stepsim {

namespace {

OpId update(const Gradients::Ready& ready, const WeightUnit& unit, bool ends_step, const ModelSpec& model,
            const Strategy& strategy, const ChipSpec& chip, const Gradients& gradients, StepWriter& writer) {
  const double shards = strategy.zero >= 1 ? static_cast<double>(degrees(strategy).shard) : 1;
  const double traffic = update_traffic(strategy, std::ceil(unit.parameters / shards));
  const Picoseconds work = model.elementwise ? op_time(chip, strategy.dtype, 0, traffic) : Picoseconds(0);
  PendingOp pending = writer.compute(WorkPhase::optimizer, "adam " + unit.name, work, 0);
  set_tag(pending, unit.layer, -1);
  pending.op.ends_step = ends_step;
  pending.waits_for.push_back({ready.op, 0, Event::end});
  pending.memory.push_back(writer.change("gradients", -gradients.kept(ready.unit), true));
  return writer.add(pending);
}

/// ZeRO-1 and -2: the other chips' shards of the updated weights, written in place.
OpId gather_updated(const WeightUnit& unit, const std::vector<std::string>& axes, OpId updated,
                    const Strategy& strategy, StepWriter& writer) {
  const Bytes bytes = to_bytes(unit.parameters, strategy.weight_bytes);
  PendingOp pending =
      writer.collective(CollectiveKind::all_gather, axes, bytes, Queue::gather, "all-gather " + unit.name, false);
  set_tag(pending, unit.layer, -1);
  pending.waits_for.push_back({updated, 0, Event::end});
  return writer.add(pending);
}

/// The norm of all gradients, one number: no stage updates before all are complete.
OpId synchronise(const Gradients& gradients, StepWriter& writer) {
  constexpr Bytes one_number = 4;
  PendingOp pending =
      writer.collective(CollectiveKind::all_reduce, {"pipeline"}, one_number, Queue::own, "all-reduce norm", false);
  pending.op.tag.peer = writer.name("bubble.drain");
  for (const Gradients::Ready& ready : gradients.ready()) pending.waits_for.push_back({ready.op, 0, Event::end});
  return writer.add(pending);
}

}  // namespace

double update_traffic(const Strategy& strategy, double parameters) {
  const int per_parameter =
      2 * strategy.weight_bytes + strategy.gradient_bytes + 4 * strategy.moment_bytes + 2 * strategy.master_bytes;
  return parameters * per_parameter;
}

std::vector<OpId> update_weights(const Tape& tape, const ModelSpec& model, const Strategy& strategy,
                                 const ChipSpec& chip, const Gradients& gradients, StepWriter& writer) {
  const std::vector<std::string> axes = group_axes(strategy, {"fsdp", "sequence"});
  const bool gathers = (strategy.zero == 1 || strategy.zero == 2) && !axes.empty();
  std::vector<OpId> usable(tape.units.size(), none);
  const OpId norm =
      degrees(strategy).pipeline > 1 && strategy.pipeline.synchronised ? synchronise(gradients, writer) : none;
  for (const Gradients::Ready& ready : gradients.ready()) {
    const auto u = static_cast<std::size_t>(ready.unit);
    const bool last = &ready == &gradients.ready().back();
    usable[u] = update({ready.unit, norm == none ? ready.op : norm}, tape.units[u], last, model, strategy, chip,
                       gradients, writer);
    if (gathers) usable[u] = gather_updated(tape.units[u], axes, usable[u], strategy, writer);
  }
  return usable;
}

}  // namespace stepsim
