// shapes.h: what one chip holds of one microbatch after every split, as dimensions; and the weight units.
//
// The batch is split over data, fsdp and sequence; heads, F and the vocabulary over tensor. Between blocks
// activations are split over tensor too (over tokens or D: the bytes are the same).
//
// When a chip does not hold whole sequences, each is split over the whole `sequence` axis, and every chip
// gathers the keys and values of the others before attention. Causal work is taken as balanced over them
// (zigzag order).
#pragma once

#include <string>

#include "schedules/model.h"
#include "schedules/strategy.h"

namespace stepsim {

/// Dimensions, as double: they only enter products. Exact below 2^53.
struct LocalShapes {
  double tokens = 0;      // T per microbatch
  double tensor = 1;      // Y
  double d_model = 0;     // D, whole
  double d_ff = 0;        // F / Y
  double heads = 0;       // N / Y
  double kv_heads = 0;    // K / Y, but at least one: heads of K and V are replicated when Y > K
  double head_dim = 0;    // H
  double vocabulary = 0;  // V / Y
  double keys = 0;        // that a query meets: the sequence, half of it when causal
  double kv_tokens = 0;   // whose keys and values a chip holds while it attends
  bool split_sequences = false;
};

/// Tokens per chip and microbatch. The sizes must divide (checks.h).
std::int64_t tokens_per_chip(const Strategy& strategy);
LocalShapes local_shapes(const ModelSpec& model, const Strategy& strategy);

/// The model has nothing but matmuls: the book's reduced stack.
inline bool matmuls_only(const ModelSpec& model) {
  return !model.elementwise && model.attention == Attention::none;
}

/// Weights that are gathered, reduced and updated together.
struct WeightUnit {
  std::string name;       // "mlp.in"
  int layer = -1;         // -1: embedding, head
  double parameters = 0;  // per chip after the tensor split, before sharding
};

/// Bytes of `elements`, rounded up to whole bytes; InputError when they do not fit 63 bits.
Bytes to_bytes(double elements, double bytes_per_element);

/// One chip's part of a unit, padded up so that all chips hold equally many.
Bytes shard_bytes(const WeightUnit& unit, std::int64_t shards, double bytes_per_element);

}  // namespace stepsim
