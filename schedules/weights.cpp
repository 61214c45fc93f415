#include "schedules/weights.h"

#include <algorithm>

namespace stepsim {

Weights::Weights(const Tape& tape, const Strategy& strategy, StepWriter& writer)
    : tape_(tape),
      strategy_(strategy),
      writer_(writer),
      axes_(group_axes(strategy, {"fsdp", "sequence"})),
      sharded_(strategy.zero == 3 && !axes_.empty()),
      of_visit_(tape.visits.size()),
      residency_of_(tape.ops.size(), 0),
      used_(tape.units.size(), false) {
  if (sharded_) find_residencies();
}

void Weights::find_residencies() {
  constexpr std::size_t closed = SIZE_MAX;
  std::vector<std::size_t> open(tape_.units.size(), closed);
  std::int32_t stay = 0;
  for (std::uint32_t v = 0; v < tape_.visits.size(); ++v) {
    const Visit& visit = tape_.visits[v];
    if (visit.stay != stay) std::fill(open.begin(), open.end(), closed);
    stay = visit.stay;
    for (std::uint32_t i = visit.first; i < visit.last; ++i) {
      const int unit = tape_.ops[i].weight;
      if (unit < 0) continue;
      std::size_t& residency = open[static_cast<std::size_t>(unit)];
      if (residency == closed) {
        residency = residencies_.size();
        residencies_.push_back({unit, i, i, none});
        of_visit_[v].push_back(residency);
      }
      residencies_[residency].last = i;
      residency_of_[i] = residency;
    }
  }
}

void Weights::begin_visit(std::uint32_t visit) {
  if (!sharded_ || strategy_.prefetch == 0) return;
  const auto ahead = static_cast<std::size_t>(strategy_.prefetch);
  // The first visit issues its own gathers and those of the `prefetch` visits after it; each later one a visit's more.
  for (std::size_t v = visit == 0 ? 0 : visit + ahead; v <= visit + ahead && v < of_visit_.size(); ++v) {
    for (const std::size_t residency : of_visit_[v]) gather(residencies_[residency]);
  }
}

void Weights::gather(Residency& residency) {
  const WeightUnit& unit = tape_.units[static_cast<std::size_t>(residency.unit)];
  const Bytes bytes = to_bytes(unit.parameters, strategy_.weight_bytes);
  PendingOp pending =
      writer_.collective(CollectiveKind::all_gather, axes_, bytes, Queue::gather, "all-gather " + unit.name, false);
  set_tag(pending, unit.layer, tape_.ops[residency.first].microbatch);
  if (writer_.last_compute() != none) pending.waits_for.push_back({writer_.last_compute(), 0, Event::end});
  wait_for_update(residency.unit, pending);
  pending.memory.push_back(writer_.change("gathered", bytes, false));
  residency.gather = writer_.add(pending);
}

void Weights::wait_for_update(int unit, PendingOp& pending) {
  if (used_[static_cast<std::size_t>(unit)]) return;
  used_[static_cast<std::size_t>(unit)] = true;
  pending.waits_for.push_back({static_cast<OpId>(unit), 1, Event::end});  // the op is filled in by close()
}

void Weights::before(std::uint32_t tape_op, PendingOp& pending) {
  const int unit = tape_.ops[tape_op].weight;
  if (unit < 0) return;
  if (!sharded_) {
    wait_for_update(unit, pending);
    return;
  }
  Residency& residency = residencies_[residency_of_[tape_op]];
  if (residency.gather == none) gather(residency);
  pending.waits_for.push_back({residency.gather, 0, Event::end});
  if (residency.last != tape_op) return;
  const WeightUnit& weights = tape_.units[static_cast<std::size_t>(unit)];
  const Bytes bytes = to_bytes(weights.parameters, strategy_.weight_bytes);
  pending.memory.push_back(writer_.change("gathered", -bytes, true));
}

void Weights::close(const std::vector<OpId>& ready) {
  for (Dependency& dependency : writer_.program().dependencies) {
    if (dependency.steps_back == 1) dependency.op = ready[dependency.op];
  }
}

}  // namespace stepsim
