#include "schedules/step_writer.h"

#include <algorithm>

namespace stepsim {

StepWriter::StepWriter(StepPlan& plan, bool separate_reduce_queue)
    : plan_(plan), separate_reduce_queue_(separate_reduce_queue) {
  plan_.program.programs.resize(1);
  // In the order of WorkPhase: NameId of a phase is 1 + its value.
  for (const char* phase : {"", "forward", "backward_input", "backward_weight", "recompute", "optimizer"}) {
    (void)name(phase);
  }
  compute_stream_ = plan_.program.stream("compute", true);
}

void StepWriter::begin_program(std::uint32_t rank) {
  program_ = rank;
  if (plan_.program.programs.size() <= rank) plan_.program.programs.resize(rank + 1);
  compute_time_ = Picoseconds(0);
  last_compute_ = none;
}

NameId StepWriter::name(const std::string& text) {
  const auto found = names_.find(text);
  if (found != names_.end()) return found->second;
  return names_.emplace(text, plan_.program.name(text)).first->second;
}

MemoryChange StepWriter::change(const std::string& part, Bytes delta, bool at_end) {
  return {name(part), delta, at_end};
}

PendingOp StepWriter::compute(WorkPhase phase, const std::string& label, Picoseconds work, double flop) {
  PendingOp pending;
  pending.op.kind = OpKind::compute;
  pending.op.stream = compute_stream_;
  pending.op.work = work;
  pending.op.tag.phase = 1 + static_cast<NameId>(phase);
  pending.op.tag.label = name(label);
  compute_time_ += work;
  plan_.compute_time = std::max(plan_.compute_time, compute_time_);
  plan_.executed_flops += flop;
  return pending;
}

StreamId StepWriter::stream(const std::string& axes, Queue queue) {
  if (queue == Queue::own) return plan_.program.stream(axes, false);
  if (!separate_reduce_queue_) return plan_.program.stream("comm " + axes, false);
  return plan_.program.stream((queue == Queue::gather ? "gather " : "reduce ") + axes, false);
}

CollectiveId StepWriter::request(const CollectiveRequest& wanted) {
  const auto next = static_cast<CollectiveId>(plan_.collectives.size());
  const auto [found, fresh] = requests_.emplace(
      Asked(wanted.kind, wanted.axes, wanted.bytes, wanted.critical, wanted.from, wanted.to, wanted.rendezvous), next);
  if (fresh) plan_.collectives.push_back(wanted);
  ++plan_.collectives[found->second].uses;
  return found->second;
}

PendingOp StepWriter::collective(CollectiveKind kind, const std::vector<std::string>& axes, Bytes bytes, Queue queue,
                                 const std::string& label, bool critical) {
  PendingOp pending;
  pending.op.kind = OpKind::collective;
  pending.op.stream = stream(group_name(axes), queue);
  CollectiveRequest wanted;
  wanted.kind = kind;
  wanted.axes = axes;
  wanted.bytes = bytes;
  wanted.critical = critical;
  pending.op.collective = request(wanted);
  pending.op.tag.axis = name(group_name(axes));
  pending.op.tag.label = name(label);
  return pending;
}

PendingOp StepWriter::message(std::uint32_t from, std::uint32_t to, Bytes bytes, bool rendezvous,
                              const std::string& label, const std::string& queue) {
  PendingOp pending;
  pending.op.kind = OpKind::collective;
  pending.op.stream = plan_.program.stream(queue + " " + std::to_string(from) + ">" + std::to_string(to), false);
  CollectiveRequest wanted;
  wanted.kind = CollectiveKind::point_to_point;
  wanted.axes = {"pipeline"};
  wanted.bytes = bytes;
  wanted.from = from;
  wanted.to = to;
  wanted.rendezvous = rendezvous;
  pending.op.collective = request(wanted);
  pending.op.tag.axis = name("pipeline");
  pending.op.tag.label = name(label);
  return pending;
}

OpId StepWriter::add(PendingOp& pending) {
  const OpId id = program().add(pending.op, pending.waits_for, pending.memory);
  if (pending.op.kind == OpKind::compute) last_compute_ = id;
  return id;
}

void set_tag(PendingOp& pending, std::int32_t layer, std::int32_t microbatch) {
  pending.op.tag.layer = layer;
  pending.op.tag.microbatch = microbatch;
}

}  // namespace stepsim
