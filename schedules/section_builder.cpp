#include "schedules/section_builder.h"

namespace stepsim {

SectionBuilder::SectionBuilder(const ModelSpec& model, const Strategy& strategy)
    : model_(model), strategy_(strategy), shapes_(local_shapes(model, strategy)), ops_(&section.forward) {}

TensorIndex SectionBuilder::tensor(const std::string& name, double elements) {
  section.tensors.push_back({name, to_bytes(elements, strategy_.activation_bytes)});
  return static_cast<TensorIndex>(section.tensors.size() - 1);
}

UnitIndex SectionBuilder::unit(const std::string& block, const std::string& matrix, double parameters) {
  const std::string name = matmuls_only(model_) && block == "mlp" ? block + "." + matrix : block;
  for (std::size_t i = 0; i < section.units.size(); ++i) {
    if (section.units[i].name != name) continue;
    section.units[i].parameters += parameters;
    return static_cast<UnitIndex>(i);
  }
  section.units.push_back({name, -1, parameters});
  return static_cast<UnitIndex>(section.units.size() - 1);
}

Matrix SectionBuilder::matrix(const std::string& block, const std::string& name, double rows, double columns) {
  return {block + "." + name, unit(block, name, rows * columns), rows, columns};
}

SectionOp& SectionBuilder::add(const std::string& label, WorkPhase phase, const std::vector<TensorIndex>& reads,
                               const std::vector<TensorIndex>& writes) {
  SectionOp op;
  op.label = label;
  op.phase = phase;
  op.reads = reads;
  op.writes = writes;
  ops_->push_back(op);
  return ops_->back();
}

void SectionBuilder::multiply(const Matrix& w, const std::vector<TensorIndex>& reads, TensorIndex writes) {
  SectionOp& op = add(w.label, WorkPhase::forward, reads, {writes});
  op.m = shapes_.tokens;
  op.k = w.rows;
  op.n = w.columns;
  op.weight = w.unit;
}

void SectionBuilder::weight_gradient(const Matrix& w, const std::vector<TensorIndex>& reads) {
  SectionOp& op = add(w.label + " dW", WorkPhase::backward_weight, reads, {});
  op.m = w.rows;
  op.k = shapes_.tokens;
  op.n = w.columns;
  op.gradient = w.unit;
}

void SectionBuilder::input_gradient(const Matrix& w, TensorIndex reads, const std::vector<TensorIndex>& writes) {
  SectionOp& op = add(w.label + " dX", WorkPhase::backward_input, {reads}, writes);
  op.m = shapes_.tokens;
  op.k = w.columns;
  op.n = w.rows;
  op.weight = w.unit;
}

SectionOp& SectionBuilder::elementwise(const std::string& label, double bytes, const std::vector<TensorIndex>& reads,
                                       const std::vector<TensorIndex>& writes) {
  SectionOp& op = add(label, forward() ? WorkPhase::forward : WorkPhase::backward_input, reads, writes);
  op.bytes = bytes;
  return op;
}

TensorIndex SectionBuilder::norm(const std::string& block, TensorIndex x) {
  if (!model_.elementwise) return x;
  const TensorIndex normed = tensor(block + ".normed", residual());
  const double bytes = 2 * residual() * strategy_.activation_bytes;  // reads x, writes the result
  // The D weights of a norm are split over tensor like the rest of their unit.
  elementwise(block + ".norm", bytes, {x}, {normed}).weight = unit(block, "", shapes_.d_model / shapes_.tensor);
  return normed;
}

TensorIndex SectionBuilder::norm_backward(const std::string& block, TensorIndex gradient, TensorIndex x,
                                          TensorIndex skip) {
  if (!model_.elementwise) return gradient;
  const TensorIndex result = tensor(block + ".dx", residual());
  std::vector<TensorIndex> reads{gradient, x};
  if (skip >= 0) reads.push_back(skip);  // the gradient that came round the block is added in passing
  const double arrays = static_cast<double>(reads.size()) + 1;
  SectionOp& op = elementwise(block + ".norm dX", arrays * residual() * strategy_.activation_bytes, reads, {result});
  op.weight = op.gradient = unit(block, "", 0);
  return result;
}

TensorIndex SectionBuilder::residual(const std::string& block, TensorIndex x, TensorIndex out) {
  if (!model_.elementwise) return out;
  const TensorIndex sum = tensor(block + ".sum", residual());
  elementwise(block + ".residual", 3 * residual() * strategy_.activation_bytes, {x, out}, {sum});
  return sum;
}

TensorIndex SectionBuilder::gather(const std::string& label, TensorIndex x, bool critical) {
  if (shapes_.tensor <= 1) return x;
  const TensorIndex whole = tensor(label, shapes_.tokens * shapes_.d_model);
  const Bytes array = section.tensors[static_cast<std::size_t>(whole)].bytes;
  collective("all-gather " + label, "tensor", CollectiveKind::all_gather, array, {x}, whole).critical = critical;
  return whole;
}

TensorIndex SectionBuilder::reduce_scatter(const std::string& label, TensorIndex partial) {
  if (shapes_.tensor <= 1) return partial;
  const Bytes array = section.tensors[static_cast<std::size_t>(partial)].bytes;
  const TensorIndex mine = tensor(label, residual());
  collective("reduce-scatter " + label, "tensor", CollectiveKind::reduce_scatter, array, {partial}, mine);
  return mine;
}

SectionOp& SectionBuilder::collective(const std::string& label, const std::string& axis, CollectiveKind kind,
                                      Bytes array, const std::vector<TensorIndex>& reads, TensorIndex writes) {
  SectionOp& op = add(label, forward() ? WorkPhase::forward : WorkPhase::backward_input, reads, {writes});
  op.axis = axis;
  op.collective = kind;
  op.array = array;
  return op;
}

}  // namespace stepsim
