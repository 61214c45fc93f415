#include "schedules/gradients.h"

namespace stepsim {

Gradients::Gradients(const Tape& tape, const Strategy& strategy, StepWriter& writer)
    : tape_(tape),
      strategy_(strategy),
      writer_(writer),
      data_axes_(group_axes(strategy, {"data"})),
      first_(tape.ops.size(), false),
      last_(tape.ops.size(), false),
      opens_(tape.ops.size(), false),
      completes_(tape.ops.size(), false),
      kept_(tape.units.size(), false) {
  if (strategy.zero > 0) {
    shard_axes_ = group_axes(strategy, {"fsdp", "sequence"});
    shards_ = degrees(strategy).shard;
  } else {
    data_axes_ = group_axes(strategy, {"data", "fsdp", "sequence"});
  }
  find_spans();
}

void Gradients::find_spans() {
  // Per unit: the last op so far that adds to it.
  std::vector<std::uint32_t> latest(tape_.units.size(), none);
  for (std::uint32_t i = 0; i < tape_.ops.size(); ++i) {
    if (tape_.ops[i].gradient < 0) continue;
    std::uint32_t& before = latest[static_cast<std::size_t>(tape_.ops[i].gradient)];
    if (before == none || tape_.ops[before].span != tape_.ops[i].span) {
      first_[i] = true;
    } else {
      last_[before] = false;
    }
    if (before == none) opens_[i] = true;
    last_[i] = true;
    before = i;
  }
  for (const std::uint32_t op : latest) {
    if (op != none) completes_[op] = true;
  }
}

Bytes Gradients::whole(int unit) const {
  return to_bytes(tape_.units[static_cast<std::size_t>(unit)].parameters, strategy_.gradient_bytes);
}

Bytes Gradients::kept(int unit) const {
  return shard_bytes(tape_.units[static_cast<std::size_t>(unit)], shards_, strategy_.gradient_bytes);
}

void Gradients::before(std::uint32_t tape_op, PendingOp& pending) {
  const int unit = tape_.ops[tape_op].gradient;
  if (unit < 0 || !first_[tape_op]) return;
  const bool each_microbatch = strategy_.zero >= 2 && !shard_axes_.empty();
  if (each_microbatch) {
    pending.memory.push_back(writer_.change("buffers", whole(unit), false));
  } else if (opens_[tape_op]) {
    pending.memory.push_back(writer_.change("gradients", whole(unit), false));
  }
}

void Gradients::after(std::uint32_t tape_op, OpId id) {
  const int unit = tape_.ops[tape_op].gradient;
  if (unit < 0 || !last_[tape_op]) return;
  const bool complete = completes_[tape_op];
  if (strategy_.zero == 0) {
    if (complete) add_to_bucket(unit, id);
    return;
  }
  const bool reduces = !shard_axes_.empty() && (complete || strategy_.zero >= 2);
  const OpId shard = reduces ? reduce_scatter(unit, id, tape_.ops[tape_op].microbatch) : id;
  if (complete) ready_.push_back({unit, reduce_over_data(unit, shard)});
}

OpId Gradients::reduce_scatter(int unit, OpId gradient, std::int32_t microbatch) {
  const WeightUnit& weights = tape_.units[static_cast<std::size_t>(unit)];
  PendingOp pending = writer_.collective(CollectiveKind::reduce_scatter, shard_axes_, whole(unit), Queue::reduce,
                                         "reduce-scatter " + weights.name, false);
  set_tag(pending, weights.layer, microbatch);
  pending.waits_for.push_back({gradient, 0, Event::end});
  const std::string part = strategy_.zero >= 2 ? "buffers" : "gradients";
  if (!kept_[static_cast<std::size_t>(unit)]) {
    kept_[static_cast<std::size_t>(unit)] = true;
    pending.memory.push_back(writer_.change("gradients", kept(unit), false));
  }
  pending.memory.push_back(writer_.change(part, -whole(unit), true));
  return writer_.add(pending);
}

OpId Gradients::reduce_over_data(int unit, OpId shard) {
  if (data_axes_.empty()) return shard;
  const WeightUnit& weights = tape_.units[static_cast<std::size_t>(unit)];
  PendingOp pending = writer_.collective(CollectiveKind::all_reduce, data_axes_, kept(unit), Queue::reduce,
                                         "all-reduce " + weights.name, false);
  set_tag(pending, weights.layer, static_cast<std::int32_t>(strategy_.microbatches) - 1);
  pending.waits_for.push_back({shard, 0, Event::end});
  return writer_.add(pending);
}

void Gradients::finish() {
  if (!bucket_.empty()) reduce_bucket();
}

}  // namespace stepsim
