// section.cpp: the embedding, one layer, the head, put together from their blocks.
#include "schedules/section.h"

#include <optional>

#include "schedules/plan.h"
#include "schedules/section_builder.h"

namespace stepsim {

/// A lookup: each chip reads its part of D of the rows of its tokens. The backward adds to the rows of the gradient.
ModelSection embedding_section(const ModelSpec& model, const Strategy& strategy) {
  SectionBuilder b(model, strategy);
  const UnitIndex table = b.unit("embedding", "", b.shapes().vocabulary * b.shapes().d_model);
  b.section.output = b.tensor("embedding", b.residual());
  b.elementwise("embedding", 2 * b.residual() * strategy.activation_bytes, {}, {b.section.output}).weight = table;
  b.start_backward();
  b.section.output_gradient = b.tensor("embedding dOut", b.residual());
  const double bytes = b.residual() * (strategy.activation_bytes + 2 * strategy.gradient_bytes);
  SectionOp& op = b.elementwise("embedding dW", bytes, {b.section.output_gradient}, {});
  op.phase = WorkPhase::backward_weight;
  op.gradient = table;
  return b.section;
}

ModelSection layer_section(const ModelSpec& model, const Strategy& strategy) {
  SectionBuilder b(model, strategy);
  const bool attends = model.attention != Attention::none;
  b.section.input = b.tensor("layer input", b.residual());
  TensorIndex x = b.section.input;
  std::optional<AttentionBlock> attention;
  if (attends) attention.emplace(b);
  FeedForwardBlock feed_forward(b);
  if (attends) x = attention->forward(x);
  b.section.output = feed_forward.forward(x);

  b.start_backward();
  b.section.output_gradient = b.tensor("layer dOut", b.residual());
  TensorIndex gradient = feed_forward.backward(b.section.output_gradient);
  if (attends) gradient = attention->backward(gradient);
  b.section.input_gradient = gradient;
  return b.section;
}

/// Final norm, logits, and softmax with its loss as one op over the logits and their gradient. Tied embeddings share
/// the embedding's unit (tape.h), with the final norm in it.
ModelSection head_section(const ModelSpec& model, const Strategy& strategy) {
  SectionBuilder b(model, strategy);
  const double logits = b.shapes().tokens * b.shapes().vocabulary;
  b.section.input = b.tensor("head input", b.residual());
  const Matrix w = b.matrix("head", "logits", b.shapes().d_model, b.shapes().vocabulary);
  const TensorIndex gathered = b.gather("head In", b.norm("head", b.section.input));
  const TensorIndex scores = b.tensor("head.logits", logits);
  b.multiply(w, {gathered}, scores);
  TensorIndex d_scores = scores;
  if (model.elementwise) {
    d_scores = b.tensor("head.logits dOut", logits);
    b.elementwise("head.loss", 3 * logits * strategy.activation_bytes, {scores}, {d_scores});
  }

  b.start_backward();
  b.weight_gradient(w, {gathered, d_scores});
  const TensorIndex partial = b.tensor("head dIn partial", b.shapes().tokens * b.shapes().d_model);
  b.input_gradient(w, d_scores, {partial});
  b.section.input_gradient = b.norm_backward("head", b.reduce_scatter("head dIn", partial), b.section.input, -1);
  return b.section;
}

Picoseconds op_time(const SectionOp& op, const ChipSpec& chip, const Strategy& strategy) {
  if (op.m > 0) return matmul_time(chip, strategy.dtype, op.m, op.k, op.n, strategy.activation_bytes);
  return op_time(chip, strategy.dtype, op.flop, op.bytes);
}

}  // namespace stepsim
