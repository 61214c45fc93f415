#include "schedules/action_costs.h"

#include <algorithm>

#include "schedules/checkpoints.h"
#include "schedules/section.h"

namespace stepsim {
namespace {

struct Sums {
  Ticks forward = 0, input = 0, weight = 0;
  double kept = 0;  // bytes from F on, input of the section included
  double left = 0;  // of them and of what the backward makes, read by weight gradients
};

Ticks time_of(const SectionOp& op, const ChipSpec& chip, const Strategy& strategy) {
  return op.communicates() ? 0 : op_time(op, chip, strategy).count();
}

bool reads(const SectionOp& op, TensorIndex tensor) {
  return std::find(op.reads.begin(), op.reads.end(), tensor) != op.reads.end();
}

Sums sums(const ModelSection& section, const std::vector<int>& again, const ChipSpec& chip, const Strategy& strategy) {
  Sums all;
  for (const SectionOp& op : section.forward) all.forward += time_of(op, chip, strategy);
  for (const int i : again) all.input += time_of(section.forward[static_cast<std::size_t>(i)], chip, strategy);
  for (const SectionOp& op : section.backward) {
    (op.phase == WorkPhase::backward_weight ? all.weight : all.input) += time_of(op, chip, strategy);
  }
  std::vector<bool> made_again(section.tensors.size(), false);
  for (const int i : again) {
    for (const TensorIndex t : section.forward[static_cast<std::size_t>(i)].writes) {
      made_again[static_cast<std::size_t>(t)] = true;
    }
  }
  for (std::size_t t = 0; t < section.tensors.size(); ++t) {
    const auto tensor = static_cast<TensorIndex>(t);
    bool read = false;
    bool for_weights = false;
    for (const SectionOp& op : section.backward) {
      read = read || reads(op, tensor);
      for_weights = for_weights || (op.phase == WorkPhase::backward_weight && reads(op, tensor));
    }
    const bool of_forward = tensor == section.input ||
                            std::any_of(section.forward.begin(), section.forward.end(), [&](const SectionOp& op) {
                              return std::find(op.writes.begin(), op.writes.end(), tensor) != op.writes.end();
                            });
    const auto bytes = static_cast<double>(section.tensors[t].bytes);
    if (of_forward && ((read && !made_again[t]) || (tensor == section.input && !again.empty()))) all.kept += bytes;
    if (for_weights) all.left += bytes;
  }
  return all;
}

}  // namespace

MeanStage mean_stage(const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip, int stages) {
  const ModelSection layer = layer_section(model, strategy);
  Sums one = sums(layer, recomputed(layer, strategy), chip, strategy);
  Sums ends;
  if (model.vocabulary > 0) {
    for (const ModelSection& section : {embedding_section(model, strategy), head_section(model, strategy)}) {
      const Sums of = sums(section, {}, chip, strategy);
      ends.forward += of.forward;
      ends.input += of.input;
      ends.weight += of.weight;
    }
  }
  const auto mean = [&](Ticks layers, Ticks rest) { return (layers * model.layers + rest) / stages; };
  MeanStage stage;
  stage.costs.forward = mean(one.forward, ends.forward);
  stage.costs.input_gradient = mean(one.input, ends.input);
  stage.costs.weight_gradient = mean(one.weight, ends.weight);
  stage.costs.backward = stage.costs.input_gradient + stage.costs.weight_gradient;
  stage.costs.fused = stage.costs.forward + stage.costs.backward;
  stage.activation = {1, one.kept > 0 ? std::min(1.0, one.left / one.kept) : 1};
  return stage;
}

}  // namespace stepsim
