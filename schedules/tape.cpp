#include "schedules/tape.h"

#include "schedules/checkpoints.h"

namespace stepsim {

namespace {

using Instances = std::vector<std::uint32_t>;  // per tensor of a section
constexpr std::uint32_t unmade = UINT32_MAX;

/// Writes visits to the tape. What a section's forward made stays known until its backward.
class Unroller {
 public:
  Unroller(Tape& tape, const ModelSpec& model, const Strategy& strategy)
      : tape_(tape), model_(model), again_(recomputed(tape.layer, strategy)) {
    const std::size_t ends = tape.has_ends ? tape.embedding.units.size() : 0;
    first_layer_unit_ = static_cast<int>(ends);
    const auto layers = static_cast<int>(model.layers) * static_cast<int>(tape.layer.units.size());
    head_unit_ = model.tied_embeddings ? 0 : first_layer_unit_ + layers;
  }

  void microbatch(std::int32_t index) {
    microbatch_ = index;
    forward_layers();
    std::uint32_t gradient = x_;  // without a head the loss hands the last output back as its gradient
    if (tape_.has_ends) gradient = head();
    backward_layers(gradient);
  }

 private:
  void forward_layers() {
    x_ = unmade;
    if (tape_.has_ends) {
      begin_visit();
      Instances made(tape_.embedding.tensors.size(), unmade);
      play(tape_.embedding, tape_.embedding.forward, made, -1, 0);
      x_ = made[index(tape_.embedding.output)];
      end_visit();
    }
    layers_.assign(static_cast<std::size_t>(model_.layers), Instances(tape_.layer.tensors.size(), unmade));
    for (std::int32_t layer = 0; layer < static_cast<std::int32_t>(model_.layers); ++layer) {
      Instances& made = layers_[static_cast<std::size_t>(layer)];
      made[index(tape_.layer.input)] = x_;
      begin_visit();
      play(tape_.layer, tape_.layer.forward, made, layer, layer_unit(layer));
      end_visit();
      x_ = made[index(tape_.layer.output)];
    }
  }

  std::uint32_t head() {
    Instances made(tape_.head.tensors.size(), unmade);
    made[index(tape_.head.input)] = x_;
    begin_visit();
    play(tape_.head, tape_.head.forward, made, -1, head_unit_);
    play(tape_.head, tape_.head.backward, made, -1, head_unit_);
    end_visit();
    return made[index(tape_.head.input_gradient)];
  }

  void backward_layers(std::uint32_t gradient) {
    for (std::int32_t layer = static_cast<std::int32_t>(model_.layers); layer-- > 0;) {
      Instances& made = layers_[static_cast<std::size_t>(layer)];
      begin_visit();
      play_again(made, layer);
      made[index(tape_.layer.output_gradient)] = gradient;
      play(tape_.layer, tape_.layer.backward, made, layer, layer_unit(layer));
      end_visit();
      gradient = made[index(tape_.layer.input_gradient)];
    }
    if (!tape_.has_ends) return;
    Instances made(tape_.embedding.tensors.size(), unmade);
    made[index(tape_.embedding.output_gradient)] = gradient;
    begin_visit();
    play(tape_.embedding, tape_.embedding.backward, made, -1, 0);
    end_visit();
  }

  /// The forward's results that are made again replace the old ones, which are then free after the forward.
  void play_again(Instances& made, std::int32_t layer) {
    for (const int i : again_) {
      for (const TensorIndex t : tape_.layer.forward[static_cast<std::size_t>(i)].writes) made[index(t)] = unmade;
    }
    for (const int i : again_) {
      const SectionOp& op = tape_.layer.forward[static_cast<std::size_t>(i)];
      play_op(tape_.layer, op, made, layer, layer_unit(layer)).phase = WorkPhase::recompute;
    }
  }

  void play(const ModelSection& section, const std::vector<SectionOp>& ops, Instances& made, std::int32_t layer,
            int first_unit) {
    for (const SectionOp& op : ops) play_op(section, op, made, layer, first_unit);
  }

  TapeOp& play_op(const ModelSection& section, const SectionOp& op, Instances& made, std::int32_t layer,
                  int first_unit) {
    TapeOp tape_op;
    tape_op.op = &op;
    tape_op.phase = op.phase;
    tape_op.layer = layer;
    tape_op.microbatch = microbatch_;
    for (const TensorIndex t : op.reads) tape_op.reads.push_back(touch(section, made, t));
    for (const TensorIndex t : op.writes) tape_op.writes.push_back(touch(section, made, t));
    if (op.weight >= 0) tape_op.weight = first_unit + op.weight;
    if (op.gradient >= 0) tape_op.gradient = first_unit + op.gradient;
    tape_.ops.push_back(std::move(tape_op));
    return tape_.ops.back();
  }

  std::uint32_t touch(const ModelSection& section, Instances& made, TensorIndex t) {
    std::uint32_t& instance = made[index(t)];
    const auto now = static_cast<std::uint32_t>(tape_.ops.size());
    if (instance == unmade) {
      instance = static_cast<std::uint32_t>(tape_.tensors.size());
      tape_.tensors.push_back({section.tensors[index(t)].bytes, now, now});
    }
    tape_.tensors[instance].last = now;
    return instance;
  }

  void begin_visit() { tape_.visits.push_back({static_cast<std::uint32_t>(tape_.ops.size()), 0, microbatch_}); }
  void end_visit() { tape_.visits.back().last = static_cast<std::uint32_t>(tape_.ops.size()); }

  static std::size_t index(TensorIndex t) { return static_cast<std::size_t>(t); }
  [[nodiscard]] int layer_unit(std::int32_t layer) const {
    return first_layer_unit_ + layer * static_cast<int>(tape_.layer.units.size());
  }

  Tape& tape_;
  const ModelSpec& model_;
  std::vector<int> again_;  // indices into the layer's forward
  int first_layer_unit_ = 0;
  int head_unit_ = 0;
  std::int32_t microbatch_ = 0;
  std::uint32_t x_ = unmade;  // what the next section reads
  std::vector<Instances> layers_;
};

void collect_units(std::vector<WeightUnit>& units, const ModelSection& section, int layer) {
  for (WeightUnit unit : section.units) {
    unit.layer = layer;
    units.push_back(unit);
  }
}

}  // namespace

std::vector<WeightUnit> weight_units(const ModelSpec& model, const Strategy& strategy) {
  std::vector<WeightUnit> units;
  if (model.vocabulary > 0) collect_units(units, embedding_section(model, strategy), -1);
  const ModelSection layer = layer_section(model, strategy);
  for (int i = 0; i < model.layers; ++i) collect_units(units, layer, i);
  if (model.vocabulary == 0) return units;
  const ModelSection head = head_section(model, strategy);
  if (model.tied_embeddings) {
    units.front().parameters = head.units.front().parameters;  // the same table, and the final norm
  } else {
    collect_units(units, head, -1);
  }
  return units;
}

void unroll(Tape& tape, const ModelSpec& model, const Strategy& strategy) {
  tape.units = weight_units(model, strategy);
  tape.has_ends = model.vocabulary > 0;
  tape.layer = layer_section(model, strategy);
  split_for_overlap(tape.layer, strategy.tensor_overlap_chunks);
  if (tape.has_ends) {
    tape.embedding = embedding_section(model, strategy);
    tape.head = head_section(model, strategy);
    split_for_overlap(tape.head, strategy.tensor_overlap_chunks);
  }
  Unroller unroller(tape, model, strategy);
  for (std::int32_t m = 0; m < static_cast<std::int32_t>(strategy.microbatches); ++m) unroller.microbatch(m);
}

}  // namespace stepsim
