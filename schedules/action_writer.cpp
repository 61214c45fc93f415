#include "schedules/action_writer.h"

#include <algorithm>

#include "schedules/checkpoints.h"
#include "schedules/pipeline/circle.h"

namespace stepsim {

namespace {

constexpr std::uint32_t unmade = UINT32_MAX;

std::size_t index(TensorIndex t) {
  return static_cast<std::size_t>(t);
}

bool is_backward(const Action& action) {
  return gives_input_gradient(action.kind);
}

/// The ops of two actions in one visit, evenly mixed, so that the communication of one runs under the compute of the
/// other.
void mix(std::vector<TapeOp>& ops, std::size_t first, std::size_t second) {
  struct Placed {
    double at = 0;
    TapeOp op;
  };
  std::vector<Placed> all;
  const auto of_first = static_cast<double>(second - first);
  const auto of_second = static_cast<double>(ops.size() - second);
  for (std::size_t i = first; i < ops.size(); ++i) {
    const double at = i < second ? (static_cast<double>(i - first) + 0.5) / of_first
                                 : (static_cast<double>(i - second) + 0.5) / of_second;
    all.push_back({at, std::move(ops[i])});
  }
  std::stable_sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) { return a.at < b.at; });
  for (std::size_t i = 0; i < all.size(); ++i) ops[first + i] = std::move(all[i].op);
}

}  // namespace

ActionWriter::ActionWriter(Tape& tape, const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip,
                           const PipelineOrder& order, int rank)
    : tape_(tape),
      model_(model),
      strategy_(strategy),
      order_(order),
      rank_(rank),
      list_(order.ranks[static_cast<std::size_t>(rank)]),
      again_(recomputed(tape.sections.front().layer, strategy)),
      arrivals_(order, rank),
      chip_(chip) {
  first_backward_ = static_cast<std::size_t>(std::find_if(list_.begin(), list_.end(), is_backward) - list_.begin());
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].kind == ActionKind::forward) last_forward_ = i;
  }
  find_ends();
}

void ActionWriter::write() {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].fused && i + 1 < list_.size()) {
      write_pair(i++);
    } else {
      write(list_[i], i);
    }
  }
}

void ActionWriter::write_pair(std::size_t place) {
  const std::size_t first = tape_.ops.size();
  const std::size_t visit = tape_.visits.size();
  now_.duration = strategy_.pipeline.fused_duration;
  write(list_[place], place);
  const std::size_t second = tape_.ops.size();
  write(list_[place + 1], place + 1);
  now_.duration = 1;
  if (!mixes_) return;
  mix(tape_.ops, first, second);
  tape_.visits[visit].last = tape_.visits.back().last;
  tape_.visits.resize(visit + 1);
}

void ActionWriter::write(const Action& action, std::size_t place) {
  if (place > 0 && list_[place - 1].stage != action.stage) ++now_.stretch;
  now_.action = action;
  now_.place = place;
  const std::int32_t copy = order_.copy_of(action.microbatch);
  now_.stage = static_cast<std::size_t>(
      std::find_if(tape_.stages.begin(), tape_.stages.end(),
                   [&](const Stage& one) { return one.index == action.stage && one.copy == copy; }) -
      tape_.stages.begin());
  Flight& own = flight(action.stage, action.microbatch);
  current_ = &own;
  if (as_block()) {
    write_block(own);
    return;
  }
  switch (action.kind) {
    case ActionKind::forward:
      forward(own);
      break;
    case ActionKind::input_gradient:
    case ActionKind::backward:
      backward(own);
      break;
    case ActionKind::weight_gradient:
      weight_gradients(own);
      break;
  }
}

void ActionWriter::forward(Flight& flight) {
  const Sections& all = sections();
  std::uint32_t x = unmade;
  if (stage().embedding) {
    begin_visit();
    flight.embedding.assign(all.embedding.tensors.size(), unmade);
    play(all.embedding, all.embedding.forward, flight.embedding, -1, tape_.first_unit[now_.stage]);
    x = flight.embedding[index(all.embedding.output)];
    end_visit();
  }
  flight.layers.assign(static_cast<std::size_t>(stage().layers), Instances(all.layer.tensors.size(), unmade));
  for (std::int32_t layer = 0; layer < stage().layers; ++layer) {
    Instances& made = flight.layers[static_cast<std::size_t>(layer)];
    begin_visit();
    if (layer == 0 && stage().index > 0) x = from_before(stage());
    if (layer == 0) flight.input = x;
    made[index(all.layer.input)] = x;
    play(all.layer, all.layer.forward, made, stage().first_layer + layer, layer_unit(layer));
    x = made[index(all.layer.output)];
    if (layer + 1 == stage().layers && stage().index + 1 < order_.stages) send(now_.action, x);
    end_visit();
  }
  flight.output = x;
  if (!stage().head) return;
  flight.head_later = trying_ ? head_follows_ : backward_follows(now_.place);
  if (flight.head_later) return;
  begin_visit();
  head_forward(flight);
  end_visit();
}

void ActionWriter::head_forward(Flight& flight) {
  const ModelSection& head = sections().head;
  flight.head.assign(head.tensors.size(), unmade);
  flight.head[index(head.input)] = flight.output;
  play(head, head.forward, flight.head, -1, head_unit());
}

bool ActionWriter::backward_follows(std::size_t place) const {
  if (place + 1 >= list_.size()) return false;
  const Action& next = list_[place + 1];
  return is_backward(next) && next.stage == list_[place].stage && next.microbatch == list_[place].microbatch;
}

std::uint32_t ActionWriter::head_backward(Flight& flight) {
  const ModelSection& head = sections().head;
  begin_visit();
  if (flight.head_later) head_forward(flight);
  play(head, head.backward, flight.head, -1, head_unit());
  end_visit();
  return flight.head[index(head.input_gradient)];
}

void ActionWriter::backward(Flight& flight) {
  // Without a head the loss hands the last output back as its gradient.
  std::uint32_t gradient = flight.output;
  if (stage().head) gradient = head_backward(flight);
  for (std::int32_t layer = stage().layers; layer-- > 0;) {
    begin_visit();
    if (layer + 1 == stage().layers && stage().index + 1 < order_.stages) gradient = from_after(stage());
    if (layer + 1 == stage().layers) flight.output_gradient = gradient;
    layer_backward(flight, layer, gradient);
    gradient = flight.layers[static_cast<std::size_t>(layer)][index(sections().layer.input_gradient)];
    if (layer == 0 && stage().index > 0) send(now_.action, gradient);
    end_visit();
  }
  flight.input_gradient = gradient;
  if (stage().embedding) embedding_backward(flight, gradient);
}

void ActionWriter::layer_backward(Flight& flight, std::int32_t layer, std::uint32_t gradient) {
  const ModelSection& section = sections().layer;
  Instances& made = flight.layers[static_cast<std::size_t>(layer)];
  play_again(made, layer);
  made[index(section.output_gradient)] = gradient;
  play(section, section.backward, made, stage().first_layer + layer, layer_unit(layer));
}

void ActionWriter::embedding_backward(Flight& flight, std::uint32_t gradient) {
  const ModelSection& section = sections().embedding;
  flight.embedding.assign(section.tensors.size(), unmade);
  flight.embedding[index(section.output_gradient)] = gradient;
  begin_visit();
  play(section, section.backward, flight.embedding, -1, tape_.first_unit[now_.stage]);
  end_visit();
}

void ActionWriter::weight_gradients(Flight& flight) {
  const Deferred* before = nullptr;
  for (const Deferred& one : flight.weight_gradients) {
    if (before == nullptr || before->made != one.made) {
      if (before != nullptr) end_visit();
      begin_visit();
    }
    play_op(*one.section, *one.op, *one.made, one.layer, one.first_unit);
    before = &one;
  }
  if (before != nullptr) end_visit();
  flight.weight_gradients.clear();
}

/// The forward's results that are made again replace the old ones, which are then free after the forward.
void ActionWriter::play_again(Instances& made, std::int32_t layer) {
  const ModelSection& section = sections().layer;
  for (const int i : again_) {
    for (const TensorIndex t : section.forward[static_cast<std::size_t>(i)].writes) made[index(t)] = unmade;
  }
  for (const int i : again_) {
    const SectionOp& op = section.forward[static_cast<std::size_t>(i)];
    play_op(section, op, made, stage().first_layer + layer, layer_unit(layer)).phase = WorkPhase::recompute;
  }
}

void ActionWriter::play(const ModelSection& section, const std::vector<SectionOp>& ops, Instances& made,
                        std::int32_t layer, int first_unit) {
  const bool later = now_.action.kind == ActionKind::input_gradient;
  for (const SectionOp& op : ops) {
    if (later && op.phase == WorkPhase::backward_weight) {
      current_->weight_gradients.push_back({&section, &op, &made, layer, first_unit});
    } else {
      play_op(section, op, made, layer, first_unit);
    }
  }
}

TapeOp& ActionWriter::play_op(const ModelSection& section, const SectionOp& op, Instances& made, std::int32_t layer,
                              int first_unit) {
  TapeOp& tape_op = add(op);
  tape_op.layer = layer;
  for (const TensorIndex t : op.reads) tape_op.reads.push_back(instance(section, made, t));
  for (const TensorIndex t : op.writes) tape_op.writes.push_back(instance(section, made, t));
  if (op.weight >= 0) tape_op.weight = first_unit + op.weight;
  if (op.gradient >= 0) tape_op.gradient = first_unit + op.gradient;
  return tape_op;
}

TapeOp& ActionWriter::add(const SectionOp& op) {
  TapeOp tape_op;
  tape_op.op = &op;
  tape_op.phase = op.phase;
  tape_op.microbatch = now_.action.microbatch;
  tape_op.stage = now_.action.stage;
  tape_op.span = span();
  tape_op.duration = now_.duration;
  tape_.ops.push_back(std::move(tape_op));
  return tape_.ops.back();
}

std::uint32_t ActionWriter::instance(const ModelSection& section, Instances& made, TensorIndex t) {
  std::uint32_t& known = made[index(t)];
  if (known == unmade) {
    known = static_cast<std::uint32_t>(tape_.tensors.size());
    tape_.tensors.push_back({section.tensors[index(t)].bytes, 0, 0});
  }
  return known;
}

std::uint32_t ActionWriter::unknown() {
  tape_.tensors.push_back({sections().layer.tensors[index(sections().layer.input)].bytes, 0, 0});
  return static_cast<std::uint32_t>(tape_.tensors.size() - 1);
}

std::uint32_t ActionWriter::from_before(const Stage& stage) {
  if (trying_) return unknown();
  const std::int32_t unit = now_.action.microbatch;
  if (order_.rank(stage.index - 1, unit) == rank_) return flight(stage.index - 1, unit).output;
  return received(stage.index - 1, false);
}

std::uint32_t ActionWriter::from_after(const Stage& stage) {
  if (trying_) return unknown();
  const std::int32_t unit = now_.action.microbatch;
  if (order_.rank(stage.index + 1, unit) == rank_) return flight(stage.index + 1, unit).input_gradient;
  return received(stage.index + 1, true);
}

std::uint32_t ActionWriter::received(std::int32_t stage, bool gradient) {
  const ResultKey key{gradient, stage, now_.action.microbatch};
  const int from = order_.rank(stage, now_.action.microbatch);
  for (const Action& message : arrivals_.take(from, key)) receive(message, from);
  return arrived_.at(key);
}

void ActionWriter::receive(const Action& message, int from) {
  const ResultKey key = key_of(message);
  const Sections& all = tape_.sections[static_cast<std::size_t>(message.microbatch % order_.segments)];
  const TensorIndex like = key.gradient ? all.layer.output_gradient : all.layer.input;
  const Bytes bytes = all.layer.tensors[index(like)].bytes;
  arrived_[key] = static_cast<std::uint32_t>(tape_.tensors.size());
  tape_.tensors.push_back({bytes, 0, 0});
  SectionOp& op = tape_.own.emplace_back();
  op.label = key.gradient ? "receive gradient" : "receive activation";
  op.axis = "pipeline";
  op.collective = CollectiveKind::point_to_point;
  op.array = bytes;
  TapeOp& tape_op = add(op);
  tape_op.from = from;
  tape_op.to = rank_;
  tape_op.writes = {arrived_[key]};
  tape_op.waits = phase_of(now_.place);
}

void ActionWriter::send(const Action& result, std::uint32_t tensor) {
  if (trying_) return;
  const Action taker = *consumer(order_, result);
  const int to = order_.rank(taker.stage, taker.microbatch);
  if (to == rank_) return;
  SectionOp& op = tape_.own.emplace_back();
  op.label = key_of(result).gradient ? "send gradient" : "send activation";
  op.axis = "pipeline";
  op.collective = CollectiveKind::point_to_point;
  op.array = tape_.tensors[tensor].bytes;
  TapeOp& tape_op = add(op);
  tape_op.from = rank_;
  tape_op.to = to;
  tape_op.reads = {tensor};
}

PipelinePhase ActionWriter::phase_of(std::size_t place) const {
  if (place <= first_backward_) return PipelinePhase::warm_up;
  return place > last_forward_ ? PipelinePhase::drain : PipelinePhase::steady;
}

void ActionWriter::begin_visit() {
  tape_.visits.push_back({static_cast<std::uint32_t>(tape_.ops.size()), 0, now_.action.microbatch, stay()});
}

void ActionWriter::end_visit() {
  tape_.visits.back().last = static_cast<std::uint32_t>(tape_.ops.size());
}

const Sections& ActionWriter::sections() const {
  return tape_.sections[static_cast<std::size_t>(now_.action.microbatch % order_.segments)];
}

int ActionWriter::layer_unit(std::int32_t layer) const {
  const int table = stage().embedding ? static_cast<int>(sections().embedding.units.size()) : 0;
  return tape_.first_unit[now_.stage] + table + layer * static_cast<int>(sections().layer.units.size());
}

int ActionWriter::head_unit() const {
  if (model_.tied_embeddings) {
    const Stage* const table = table_of(tape_.stages, stage());
    if (table != nullptr) return tape_.first_unit[static_cast<std::size_t>(table - tape_.stages.data())];
  }
  return layer_unit(stage().layers);
}

std::int32_t ActionWriter::span() const {
  switch (strategy_.pipeline.sharded_for) {
    case ShardedFor::stage:
      return now_.stretch;
    case ShardedFor::step:
      return 0;
    case ShardedFor::microbatch:
      break;
  }
  return now_.action.microbatch;
}

std::int32_t ActionWriter::stay() const {
  if (strategy_.pipeline.sharded_for != ShardedFor::microbatch) return span();
  return strategy_.reshard_after_forward ? static_cast<std::int32_t>(tape_.visits.size()) : now_.action.microbatch;
}

}  // namespace stepsim
