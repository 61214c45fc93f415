// Parameters and FLOP of the transformer. Each product is the shape of one matrix (book, "Transformer math").
#include "schedules/model.h"

#include <fmt/format.h>

#include "sim/input_error.h"

namespace stepsim {

namespace {

/// The products below must fit 63 bits; in double they cannot overflow.
void check_total(const ModelSpec& model) {
  const double d = static_cast<double>(model.d_model);
  const double heads = static_cast<double>(model.heads) + static_cast<double>(model.kv_heads);
  const double attention = model.attention == Attention::none ? 0 : 2 * heads * static_cast<double>(model.head_dim);
  const double layer = d * (attention + 3 * static_cast<double>(model.d_ff) + 2);
  const double total = static_cast<double>(model.layers) * layer + (2 * static_cast<double>(model.vocabulary) + 1) * d;
  if (!(total < 1e18)) throw InputError("model", fmt::format("{:.3g} parameters are more than 10^18", total));
}

}  // namespace

ParameterCount parameters(const ModelSpec& model) {
  check_total(model);
  const std::int64_t d = model.d_model;
  ParameterCount count;
  if (model.attention != Attention::none) {
    // W_Q and W_O are [D, N H], W_K and W_V are [D, K H].
    count.attention_per_layer = 2 * d * model.heads * model.head_dim + 2 * d * model.kv_heads * model.head_dim;
  }
  count.feed_forward_per_layer = (model.gated ? 3 : 2) * d * model.d_ff;
  if (model.elementwise) {
    count.norms_per_layer = (model.attention == Attention::none ? 1 : 2) * d;
    count.final_norm = model.vocabulary > 0 ? d : 0;
  }
  count.embedding = model.vocabulary * d;
  count.head = model.tied_embeddings ? 0 : model.vocabulary * d;
  count.total = model.layers * (count.attention_per_layer + count.feed_forward_per_layer + count.norms_per_layer) +
                count.embedding + count.head + count.final_norm;
  return count;
}

TrainingFlops training_flops(const ModelSpec& model) {
  const ParameterCount count = parameters(model);
  const double matrices =
      static_cast<double>(model.layers) *
          static_cast<double>(count.attention_per_layer + count.feed_forward_per_layer) +
      static_cast<double>(model.vocabulary) * static_cast<double>(model.d_model);  // the head, tied or not
  TrainingFlops flops;
  flops.matmul_per_token = 6 * matrices;
  flops.formula = "6 x matmul parameters (head counted, input table not)";
  if (model.attention != Attention::none) {
    const bool causal = model.attention == Attention::causal;
    // Scores and values are 2 T H each per head and token forward, and twice that backward.
    flops.attention_per_token = (causal ? 6.0 : 12.0) * static_cast<double>(model.layers) *
                                static_cast<double>(model.heads) * static_cast<double>(model.head_dim) *
                                static_cast<double>(model.sequence);
    flops.formula += causal ? " + 6 L N H T attention (causal: half)" : " + 12 L N H T attention";
  }
  return flops;
}

}  // namespace stepsim
