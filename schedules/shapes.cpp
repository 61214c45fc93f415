#include "schedules/shapes.h"

#include <algorithm>
#include <cmath>

#include "sim/input_error.h"

namespace stepsim {

namespace {

std::int64_t axis_extent(const Strategy& strategy, const std::string& name) {
  std::int64_t extent = 1;
  for (const MeshAxis& axis : strategy.mesh) {
    if (axis.name == name) extent *= axis.extent;
  }
  return extent;
}

void set_attention(LocalShapes& shapes, const ModelSpec& model, const Strategy& strategy) {
  shapes.heads = static_cast<double>(model.heads) / shapes.tensor;
  shapes.kv_heads = std::max(1.0, static_cast<double>(model.kv_heads) / shapes.tensor);
  shapes.head_dim = static_cast<double>(model.head_dim);
  // A causal query meets half of its own part, and all parts before it.
  const double before = strategy.part.index + (model.attention == Attention::causal ? 0.5 : 1.0);
  shapes.keys = static_cast<double>(model.sequence) * before / strategy.part.count;
  shapes.split_sequences = tokens_per_chip(strategy) % model.sequence != 0;
  const std::int64_t parts = shapes.split_sequences ? axis_extent(strategy, "sequence") : 1;
  shapes.kv_tokens = shapes.tokens * static_cast<double>(parts);
}

}  // namespace

std::int64_t tokens_per_chip(const Strategy& strategy) {
  return strategy.batch_tokens / (strategy.microbatches * degrees(strategy).batch());
}

LocalShapes local_shapes(const ModelSpec& model, const Strategy& strategy) {
  LocalShapes shapes;
  shapes.tokens = static_cast<double>(tokens_per_chip(strategy)) / strategy.part.count;
  shapes.tensor = static_cast<double>(degrees(strategy).tensor);
  shapes.d_model = static_cast<double>(model.d_model);
  shapes.d_ff = static_cast<double>(model.d_ff) / shapes.tensor;
  shapes.vocabulary = static_cast<double>(model.vocabulary) / shapes.tensor;
  if (model.attention != Attention::none) set_attention(shapes, model, strategy);
  return shapes;
}

Bytes to_bytes(double elements, double bytes_per_element) {
  const double bytes = std::ceil(elements * bytes_per_element);
  if (!(bytes >= 0 && bytes < 9e18)) throw InputError("model", "an array of the model does not fit 63-bit bytes");
  return static_cast<Bytes>(bytes);
}

Bytes shard_bytes(const WeightUnit& unit, std::int64_t shards, double bytes_per_element) {
  return to_bytes(std::ceil(unit.parameters / static_cast<double>(shards)), bytes_per_element);
}

}  // namespace stepsim
