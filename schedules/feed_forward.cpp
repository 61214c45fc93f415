// feed_forward.cpp: Tmp = In W_in, Out = Tmp W_out; gated: Tmp = act(In W_gate) * (In W_in).
//
// 4 B D F FLOP forward, 8 B D F backward (gated 6 and 12). Over tensor: gather In, reduce-scatter Out; gather dOut,
// reduce-scatter dIn; W_in and W_gate split by columns, W_out by rows (book, "Tensor parallelism").
#include "schedules/section_builder.h"

namespace stepsim {

FeedForwardBlock::FeedForwardBlock(SectionBuilder& builder) : b_(builder) {
  const double d = b_.shapes().d_model;
  const double f = b_.shapes().d_ff;
  if (b_.model().gated) gate_ = b_.matrix("mlp", "gate", d, f);
  in_ = b_.matrix("mlp", "in", d, f);
  out_ = b_.matrix("mlp", "out", f, d);
}

TensorIndex FeedForwardBlock::forward(TensorIndex x) {
  const double wide = b_.shapes().tokens * b_.shapes().d_ff;
  x_ = x;
  normed_ = b_.norm("mlp", x);
  gathered_ = b_.gather("mlp In", normed_);
  if (b_.model().gated) {
    gated_ = b_.tensor("mlp.gate", wide);
    b_.multiply(gate_, {gathered_}, gated_);
  }
  up_ = b_.tensor("mlp.in", wide);
  b_.multiply(in_, {gathered_}, up_);
  activate();
  const TensorIndex partial = b_.tensor("mlp.out", b_.shapes().tokens * b_.shapes().d_model);
  b_.multiply(out_, hidden_, partial);
  return b_.residual("mlp", x, b_.reduce_scatter("mlp Out", partial));
}

/// Without elementwise ops the activation is taken as fused into W_out, which then reads its inputs.
void FeedForwardBlock::activate() {
  std::vector<TensorIndex> inputs{up_};
  if (b_.model().gated) inputs.insert(inputs.begin(), gated_);
  if (!b_.model().elementwise) {
    hidden_ = inputs;
    return;
  }
  const double wide = b_.shapes().tokens * b_.shapes().d_ff;
  hidden_ = {b_.tensor("mlp.hidden", wide)};
  const double arrays = static_cast<double>(inputs.size()) + 1;
  b_.elementwise("mlp.activation", arrays * wide * b_.strategy().activation_bytes, inputs, hidden_);
}

TensorIndex FeedForwardBlock::backward(TensorIndex gradient) {
  const double wide = b_.shapes().tokens * b_.shapes().d_ff;
  const bool gated = b_.model().gated;
  const TensorIndex d_out = b_.gather("mlp dOut", gradient);
  std::vector<TensorIndex> reads = hidden_;
  reads.push_back(d_out);
  b_.weight_gradient(out_, reads);

  d_up_ = b_.tensor("mlp.in dX", wide);
  if (gated) d_gated_ = b_.tensor("mlp.gate dX", wide);
  activation_backward(d_out);

  const TensorIndex in = b_.strategy().regather_tensor_input ? b_.gather("mlp In", normed_, false) : gathered_;
  b_.weight_gradient(in_, {in, d_up_});
  if (gated) b_.weight_gradient(gate_, {in, d_gated_});
  const TensorIndex partial = b_.tensor("mlp dIn partial", b_.shapes().tokens * b_.shapes().d_model);
  b_.input_gradient(in_, d_up_, {partial});
  if (gated) b_.input_gradient(gate_, d_gated_, {partial});
  return b_.norm_backward("mlp", b_.reduce_scatter("mlp dIn", partial), x_, gradient);
}

/// From dOut through W_out and the activation to the gradients of its inputs.
void FeedForwardBlock::activation_backward(TensorIndex gradient) {
  std::vector<TensorIndex> results{d_up_};
  if (b_.model().gated) results.push_back(d_gated_);
  if (!b_.model().elementwise) {
    b_.input_gradient(out_, gradient, results);
    return;
  }
  const double wide = b_.shapes().tokens * b_.shapes().d_ff;
  const TensorIndex d_hidden = b_.tensor("mlp.hidden dX", wide);
  b_.input_gradient(out_, gradient, {d_hidden});
  std::vector<TensorIndex> reads{d_hidden, up_};
  if (b_.model().gated) reads.push_back(gated_);
  const double arrays = static_cast<double>(reads.size() + results.size());
  b_.elementwise("mlp.activation dX", arrays * wide * b_.strategy().activation_bytes, reads, results);
}

}  // namespace stepsim
