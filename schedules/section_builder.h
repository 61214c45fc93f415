// section_builder.h: writes a ModelSection op by op. For the files that hold the tables of a block only.
#pragma once

#include <string>
#include <vector>

#include "schedules/section.h"

namespace stepsim {

/// One matrix of a block on this chip.
struct Matrix {
  std::string label;  // "mlp.in"
  UnitIndex unit = 0;
  double rows = 0;  // contracted in the forward
  double columns = 0;
};

class SectionBuilder {
 public:
  SectionBuilder(const ModelSpec& model, const Strategy& strategy);

  [[nodiscard]] const LocalShapes& shapes() const { return shapes_; }
  [[nodiscard]] const ModelSpec& model() const { return model_; }
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }
  /// Elements of an activation [T, D] that is split over tensor between blocks.
  [[nodiscard]] double residual() const { return shapes_.tokens * shapes_.d_model / shapes_.tensor; }

  TensorIndex tensor(const std::string& name, double elements);
  /// Adds parameters to the unit of a matrix: its own in the reduced stack, one per block otherwise.
  UnitIndex unit(const std::string& block, const std::string& matrix, double parameters);
  Matrix matrix(const std::string& block, const std::string& name, double rows, double columns);

  /// From here on ops belong to the backward.
  void start_backward() { ops_ = &section.backward; }

  void multiply(const Matrix& w, const std::vector<TensorIndex>& reads, TensorIndex writes);
  void weight_gradient(const Matrix& w, const std::vector<TensorIndex>& reads);
  void input_gradient(const Matrix& w, TensorIndex reads, const std::vector<TensorIndex>& writes);

  /// A memory-bound op; bytes is all that it reads and writes. In the backward it counts as backward for
  /// inputs.
  SectionOp& elementwise(const std::string& label, double bytes, const std::vector<TensorIndex>& reads,
                         const std::vector<TensorIndex>& writes);

  /// Norms, and y = x + out; the input itself when the model has no elementwise ops.
  TensorIndex norm(const std::string& block, TensorIndex x);
  TensorIndex norm_backward(const std::string& block, TensorIndex gradient, TensorIndex x, TensorIndex skip);
  TensorIndex residual(const std::string& block, TensorIndex x, TensorIndex out);

  /// Collectives over the tensor axis of an array [T, D]; the input itself when there is one chip.
  TensorIndex gather(const std::string& label, TensorIndex x, bool critical = true);
  TensorIndex reduce_scatter(const std::string& label, TensorIndex partial);
  SectionOp& collective(const std::string& label, const std::string& axis, CollectiveKind kind, Bytes array,
                        const std::vector<TensorIndex>& reads, TensorIndex writes);

  ModelSection section;

 private:
  SectionOp& add(const std::string& label, WorkPhase phase, const std::vector<TensorIndex>& reads,
                 const std::vector<TensorIndex>& writes);
  [[nodiscard]] bool forward() const { return ops_ == &section.forward; }

  const ModelSpec& model_;
  const Strategy& strategy_;
  LocalShapes shapes_;
  std::vector<SectionOp>* ops_;
};

/// Forward of the block reading x; returns what the next block reads. The tensors that the backward needs are
/// kept inside, so one object writes both.
class FeedForwardBlock {
 public:
  explicit FeedForwardBlock(SectionBuilder& builder);
  TensorIndex forward(TensorIndex x);
  /// From the gradient of the block's result to that of x.
  TensorIndex backward(TensorIndex gradient);

 private:
  void activate();
  void activation_backward(TensorIndex gradient);

  SectionBuilder& b_;
  Matrix gate_, in_, out_;
  TensorIndex x_ = -1, normed_ = -1, gathered_ = -1;
  TensorIndex up_ = -1, gated_ = -1;  // results of W_in and W_gate
  TensorIndex d_up_ = -1, d_gated_ = -1;
  std::vector<TensorIndex> hidden_;  // what W_out reads
};

class AttentionBlock {
 public:
  explicit AttentionBlock(SectionBuilder& builder);
  TensorIndex forward(TensorIndex x);
  TensorIndex backward(TensorIndex gradient);

 private:
  [[nodiscard]] double query_elements() const;
  [[nodiscard]] double key_value_elements() const;
  void attend();
  TensorIndex attend_backward(TensorIndex gradient);

  SectionBuilder& b_;
  Matrix qkv_, out_;
  TensorIndex x_ = -1, normed_ = -1, gathered_ = -1;
  TensorIndex projected_ = -1;  // Q, K and V
  TensorIndex keys_ = -1;       // gathered keys and values of split sequences
  TensorIndex attended_ = -1;
};

}  // namespace stepsim
