// attention.cpp: Q, K, V = In W_qkv; A = softmax(Q K^T) V; Out = A W_o, with grouped keys and values.
//
// Scores and values are one flash op: 4 T S N H FLOP forward (half when causal: only half of the keys are met), and
// 2.5 times that backward (five matmuls: the scores are computed again), while the model's own count has 2 times.
// The score matrix never reaches memory. Rotary embeddings are taken as fused into it. Over tensor: heads are split;
// each chip holds at least one head of keys and values. Sequences split over `sequence`: K and V are gathered
// before, and their gradients reduce-scattered after (the all-gather form of context parallelism, Llama 3 paper).
#include "schedules/section_builder.h"

namespace stepsim {

AttentionBlock::AttentionBlock(SectionBuilder& builder) : b_(builder) {
  const LocalShapes& s = b_.shapes();
  qkv_ = b_.matrix("attention", "qkv", s.d_model, (s.heads + 2 * s.kv_heads) * s.head_dim);
  out_ = b_.matrix("attention", "out", s.heads * s.head_dim, s.d_model);
}

double AttentionBlock::query_elements() const {
  return b_.shapes().tokens * b_.shapes().heads * b_.shapes().head_dim;
}

double AttentionBlock::key_value_elements() const {
  return 2 * b_.shapes().kv_tokens * b_.shapes().kv_heads * b_.shapes().head_dim;
}

TensorIndex AttentionBlock::forward(TensorIndex x) {
  const LocalShapes& s = b_.shapes();
  x_ = x;
  normed_ = b_.norm("attention", x);
  gathered_ = b_.gather("attention In", normed_);
  projected_ = b_.tensor("attention.qkv", s.tokens * qkv_.columns);
  b_.multiply(qkv_, {gathered_}, projected_);
  attend();
  const TensorIndex partial = b_.tensor("attention.out", s.tokens * s.d_model);
  b_.multiply(out_, {attended_}, partial);
  return b_.residual("attention", x, b_.reduce_scatter("attention Out", partial));
}

void AttentionBlock::attend() {
  std::vector<TensorIndex> reads{projected_};
  if (b_.shapes().split_sequences) {
    keys_ = b_.tensor("attention KV", key_value_elements());
    const Bytes array = b_.section.tensors[static_cast<std::size_t>(keys_)].bytes;
    b_.collective("all-gather attention KV", "sequence", CollectiveKind::all_gather, array, {projected_}, keys_);
    reads.push_back(keys_);
  }
  attended_ = b_.tensor("attention.scores", query_elements());
  // Reads Q, K, V, writes A.
  const double elements = 2 * query_elements() + key_value_elements();
  SectionOp& op = b_.elementwise("attention.scores", elements * b_.strategy().activation_bytes, reads, {attended_});
  op.flop = 4 * query_elements() * b_.shapes().keys;
}

TensorIndex AttentionBlock::backward(TensorIndex gradient) {
  const LocalShapes& s = b_.shapes();
  const TensorIndex d_out = b_.gather("attention dOut", gradient);
  b_.weight_gradient(out_, {attended_, d_out});
  const TensorIndex d_attended = b_.tensor("attention.out dX", query_elements());
  b_.input_gradient(out_, d_out, {d_attended});
  const TensorIndex d_projected = attend_backward(d_attended);
  const TensorIndex in = b_.strategy().regather_tensor_input ? b_.gather("attention In", normed_, false) : gathered_;
  b_.weight_gradient(qkv_, {in, d_projected});
  const TensorIndex partial = b_.tensor("attention dIn partial", s.tokens * s.d_model);
  b_.input_gradient(qkv_, d_projected, {partial});
  return b_.norm_backward("attention", b_.reduce_scatter("attention dIn", partial), x_, gradient);
}

/// From dA to the gradients of Q, K and V, one array. Of split sequences those of K and V come from all chips.
TensorIndex AttentionBlock::attend_backward(TensorIndex gradient) {
  const TensorIndex d_projected = b_.tensor("attention.scores dX", b_.shapes().tokens * qkv_.columns);
  std::vector<TensorIndex> reads{gradient, projected_, attended_};
  std::vector<TensorIndex> writes{d_projected};
  if (b_.shapes().split_sequences) {
    reads.push_back(keys_);
    writes.push_back(b_.tensor("attention dKV", key_value_elements()));
  }
  // Reads Q, A, dA, K, V; writes dQ, dK, dV.
  const double elements = 4 * query_elements() + 2 * key_value_elements();
  SectionOp& op = b_.elementwise("attention.scores dX", elements * b_.strategy().activation_bytes, reads, writes);
  op.flop = 10 * query_elements() * b_.shapes().keys;
  if (b_.shapes().split_sequences) {
    const Bytes array = b_.section.tensors[static_cast<std::size_t>(writes[1])].bytes;
    b_.collective("reduce-scatter attention dKV", "sequence", CollectiveKind::reduce_scatter, array, {writes[1]},
                  d_projected);
  }
  return d_projected;
}

}  // namespace stepsim
