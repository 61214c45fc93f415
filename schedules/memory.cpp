// memory.cpp: what a chip holds of the model's state, by formula (Rajbhandari et al. 2020, ZeRO).
//
// Per parameter: weight + gradient + two moments + master copy, each divided by tensor, and from the stage that
// shards it also by fsdp x sequence: 1 optimizer, 2 gradients, 3 weights. Shards are padded per unit. Adam in the
// book's form keeps 10 bytes per parameter beside the gradient: bf16 weights and two fp32 moments.
#include "schedules/plan.h"
#include "schedules/tape.h"

namespace stepsim {

StateMemory state_memory(const std::vector<WeightUnit>& units, const Strategy& strategy) {
  const std::int64_t shard = degrees(strategy).shard;
  const auto shards_from = [&](int stage) { return strategy.zero >= stage ? shard : 1; };
  StateMemory memory;
  for (const WeightUnit& unit : units) {
    memory.parameters += shard_bytes(unit, shards_from(3), strategy.weight_bytes);
    memory.gradients += shard_bytes(unit, shards_from(2), strategy.gradient_bytes);
    memory.optimizer += shard_bytes(unit, shards_from(1), 2 * strategy.moment_bytes + strategy.master_bytes);
  }
  return memory;
}

StateMemory state_memory(const ModelSpec& model, const Strategy& strategy, const PipelineOrder& order) {
  const auto sum = [](const StateMemory& one) { return one.parameters + one.gradients + one.optimizer; };
  StateMemory most;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    const StateMemory one = state_memory(weight_units(model, strategy, order, static_cast<int>(rank)), strategy);
    if (sum(one) > sum(most)) most = one;
  }
  return most;
}

StateMemory state_memory(const ModelSpec& model, const Strategy& strategy) {
  return state_memory(weight_units(model, strategy), strategy);
}

}  // namespace stepsim
