// model.h: the transformer that is trained, as shapes.
//
// Two forms: the full transformer (attention, feed-forward, norms, embeddings, head), and the book's reduced stack of
// two-matmul feed-forward layers (attention none, norms off, vocabulary 0), whose step is nothing but those matmuls.
#pragma once

#include <cstdint>
#include <string>

namespace stepsim {

enum class Attention { none, causal, full };  // causal: half the score matrix is computed

struct ModelSpec {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t d_model = 0;  // D
  std::int64_t d_ff = 0;     // F
  Attention attention = Attention::causal;
  std::int64_t heads = 0;       // N, query heads
  std::int64_t kv_heads = 0;    // K
  std::int64_t head_dim = 0;    // H
  bool gated = true;            // three feed-forward matrices (SwiGLU), else two
  bool elementwise = true;      // norms, activation functions, residuals, softmax as memory-bound ops
  std::int64_t vocabulary = 0;  // 0: no embedding and no head
  bool tied_embeddings = false;
  std::int64_t sequence = 0;  // tokens per sequence
};

/// Parameters by part; each product is a shape from the model (book, "Transformer math").
struct ParameterCount {
  std::int64_t attention_per_layer = 0;
  std::int64_t feed_forward_per_layer = 0;
  std::int64_t norms_per_layer = 0;
  std::int64_t embedding = 0;  // input table
  std::int64_t head = 0;       // 0 when tied
  std::int64_t final_norm = 0;
  std::int64_t total = 0;
};
ParameterCount parameters(const ModelSpec& model);

/// Training FLOP per token: 6 x matmul parameters (input table left out, head counted), plus attention scores
/// (12 N H T per layer and token; half when causal), without recomputation.
struct TrainingFlops {
  double matmul_per_token = 0;
  double attention_per_token = 0;
  std::string formula;  // text for reports
};
TrainingFlops training_flops(const ModelSpec& model);

}  // namespace stepsim
