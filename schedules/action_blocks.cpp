// action_blocks.cpp: actions as blocks. What a block takes and holds is measured on its ops, written once and cut off.
//
// From outside an action is the messages it waits for and sends, the time in between, and memory. Tensors that pass
// between stages stay tensors; of those inside, a block knows by how much its memory grows at most and in the end.
#include <algorithm>

#include "schedules/action_writer.h"

namespace stepsim {

namespace {

bool communicates(const std::vector<SectionOp>& ops) {
  return std::any_of(ops.begin(), ops.end(), [](const SectionOp& op) { return op.communicates(); });
}

bool communicates(const ModelSection& section) {
  return communicates(section.forward) || communicates(section.backward);
}

/// Weights or gradients come and go with every action.
bool shards_by_action(const Strategy& strategy) {
  return strategy.zero >= 2 && degrees(strategy).shard > 1 && strategy.pipeline.sharded_for != ShardedFor::step;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

/// Units that come first or last on their stage in any kind of action; and which actions belong together.
void ActionWriter::find_ends() {
  const Sections& all = tape_.sections.front();
  mixes_ = communicates(all.layer) || communicates(all.embedding) || communicates(all.head);
  plain_ = strategy_.pipeline.blocks && order_.ranks.size() > 1 && !shards_by_action(strategy_) && !mixes_;
  std::map<std::pair<std::int32_t, ActionKind>, std::int32_t> latest;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Action& action = list_[i];
    const auto [last, is_first] = latest.try_emplace({action.stage, action.kind}, action.microbatch);
    if (is_first) ends_.insert({action.stage, action.microbatch});
    last->second = action.microbatch;
    if (action.kind == ActionKind::backward) whole_.insert({action.stage, action.microbatch});
    if (action.kind == ActionKind::forward && backward_follows(i)) {
      heads_later_.insert({action.stage, action.microbatch});
    }
  }
  for (const auto& [what, unit] : latest) ends_.insert({what.first, unit});
}

bool ActionWriter::as_block() const {
  return plain_ && !trying_ && !ends_.contains({now_.action.stage, now_.action.microbatch});
}

const ActionWriter::Blocks& ActionWriter::blocks() {
  const std::pair<std::int32_t, std::int32_t> unit{now_.action.stage, now_.action.microbatch};
  split_ = !whole_.contains(unit);
  head_follows_ = heads_later_.contains(unit);
  const BlockKey key{now_.stage, now_.action.microbatch % order_.segments, split_, head_follows_};
  const auto known = blocks_.find(key);
  if (known != blocks_.end()) return known->second;
  return blocks_.emplace(key, measure()).first->second;
}

/// Writes forward and backward of one microbatch, reads them off, and cuts them off the tape again.
ActionWriter::Blocks ActionWriter::measure() {
  const Now now = now_;
  Flight* const current = current_;
  const std::size_t ops = tape_.ops.size();
  const std::size_t visits = tape_.visits.size();
  const std::size_t tensors = tape_.tensors.size();
  Flight flight;
  current_ = &flight;
  trying_ = true;
  const auto here = [&] { return static_cast<std::uint32_t>(tape_.ops.size()); };
  const std::uint32_t begin = here();
  now_.action.kind = ActionKind::forward;
  forward(flight);
  const std::uint32_t forward_end = here();
  now_.action.kind = split_ ? ActionKind::input_gradient : ActionKind::backward;
  backward(flight);
  const std::uint32_t backward_end = here();
  if (split_) weight_gradients(flight);
  trying_ = false;

  Blocks made;
  Bytes live = stage().index > 0 ? tape_.tensors[flight.input].bytes : 0;
  const auto end = here();
  made.forward = block_of(begin, end, flight, begin, forward_end, live);
  const auto bytes = [&](std::uint32_t tensor) { return tape_.tensors[tensor].bytes; };
  if (stage().index + 1 < order_.stages) live += bytes(flight.output_gradient) - bytes(flight.output);  // sent by now
  made.backward = block_of(begin, end, flight, forward_end, backward_end, live);
  if (stage().index > 0) live -= bytes(flight.input_gradient);
  if (split_) made.weight = block_of(begin, end, flight, backward_end, end, live);

  tape_.ops.resize(ops);
  tape_.visits.resize(visits);
  tape_.tensors.resize(tensors);
  now_ = now;
  current_ = current;
  return made;
}

/// The ops [from, to) of those in [first, last) as a block. live: bytes that are held before it, and then after it.
ActionWriter::Block ActionWriter::block_of(std::uint32_t first, std::uint32_t last, const Flight& flight,
                                           std::uint32_t from, std::uint32_t to, Bytes& live) {
  Block block;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> users;  // first and last of each tensor
  for (std::uint32_t i = first; i < last; ++i) {
    for (const auto* list : {&tape_.ops[i].reads, &tape_.ops[i].writes}) {
      for (const std::uint32_t t : *list) users.try_emplace(t, i, i).first->second.second = i;
    }
  }
  const bool gets_input = stage().index > 0;
  const bool gives_output = stage().index + 1 < order_.stages;
  // Held by others: until they have sent it, or from when they got it.
  const auto given = [&](std::uint32_t t) {
    return (gets_input && t == flight.input) || (gives_output && t == flight.output_gradient);
  };
  const auto taken = [&](std::uint32_t t) {
    return (gives_output && t == flight.output) || (gets_input && t == flight.input_gradient);
  };
  const Bytes before = live;
  Bytes peak = live;
  std::vector<SectionOp> work;
  std::size_t apart = 0;  // work that starts a new list of kinds
  for (std::uint32_t i = from; i < to; ++i) {
    const TapeOp& op = tape_.ops[i];
    for (const auto& [t, of] : users) {
      if (of.first == i && !given(t)) live += tape_.tensors[t].bytes;
    }
    peak = std::max(peak, live);
    for (const auto& [t, of] : users) {
      if (of.second == i && !taken(t)) live -= tape_.tensors[t].bytes;
    }
    const auto touches = [&](std::uint32_t t) { return contains(op.reads, t) || contains(op.writes, t); };
    if (gives_output && !block.output_gradient && touches(flight.output_gradient)) {
      block.before_gradient = apart = work.size();
    }
    const auto like = std::find_if(work.begin() + static_cast<std::ptrdiff_t>(apart), work.end(),
                                   [&](const SectionOp& one) { return one.phase == op.phase; });
    SectionOp& sum = like != work.end() ? *like : work.emplace_back();
    sum.phase = op.phase;
    sum.time = sum.time.value_or(Picoseconds(0)) + op_time(*op.op, chip_, strategy_);
    sum.flop += op.op->work();
    block.input = block.input || (gets_input && touches(flight.input));
    block.output = block.output || (gives_output && touches(flight.output));
    block.output_gradient = block.output_gradient || (gives_output && touches(flight.output_gradient));
    block.input_gradient = block.input_gradient || (gets_input && touches(flight.input_gradient));
  }
  // What the tape itself will allocate when the block starts, and free when it ends.
  Bytes allocates = 0;
  Bytes frees = 0;
  for (const auto& [t, of] : users) {
    if (taken(t) && of.first >= from && of.first < to) allocates += tape_.tensors[t].bytes;
    if (given(t) && of.second >= from && of.second < to) frees += tape_.tensors[t].bytes;
  }
  block.at_start = peak - before - allocates;
  block.at_end = live - (peak - frees);
  for (SectionOp& sum : work) {
    sum.label = "stage " + std::to_string(stage().index);
    block.ops.push_back(&tape_.own.emplace_back(std::move(sum)));
  }
  return block;
}

void ActionWriter::write_block(Flight& flight) {
  const Blocks& all = blocks();
  const Block& block = now_.action.kind == ActionKind::forward           ? all.forward
                       : now_.action.kind == ActionKind::weight_gradient ? all.weight
                                                                         : all.backward;
  begin_visit();
  const bool gets_input = stage().index > 0;
  const bool gives_output = stage().index + 1 < order_.stages;
  if (now_.action.kind == ActionKind::forward) {
    if (gets_input) flight.input = from_before(stage());
    flight.output = unknown();
  } else if (now_.action.kind != ActionKind::weight_gradient) {
    if (gives_output) flight.output_gradient = from_after(stage());
    flight.input_gradient = unknown();
  }
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  if (block.input) reads.push_back(flight.input);
  if (block.output) (now_.action.kind == ActionKind::forward ? writes : reads).push_back(flight.output);
  if (block.input_gradient) (gives_input_gradient(now_.action.kind) ? writes : reads).push_back(flight.input_gradient);
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    TapeOp& op = add(*block.ops[i]);
    const bool first = i == 0;
    const bool last = i + 1 == block.ops.size();
    if (first || last) op.reads = reads;
    if (first || last) op.writes = writes;
    if (block.output_gradient && (i == block.before_gradient || last)) op.reads.push_back(flight.output_gradient);
    if (first) op.at_start = block.at_start;
    if (last) op.at_end = block.at_end;
  }
  if (now_.action.kind == ActionKind::forward && gives_output) send(now_.action, flight.output);
  if (gives_input_gradient(now_.action.kind) && gets_input) send(now_.action, flight.input_gradient);
  end_visit();
}

}  // namespace stepsim
