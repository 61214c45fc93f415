#include "schedules/activations.h"

#include <algorithm>

namespace stepsim {

Activations::Activations(const Tape& tape, StepWriter& writer)
    : tape_(tape), writer_(writer), writers_(tape.tensors.size()) {}

void Activations::before(std::uint32_t tape_op, PendingOp& pending) {
  const TapeOp& op = tape_.ops[tape_op];
  for (const std::uint32_t tensor : op.reads) {
    for (const Written& written : writers_[tensor]) {
      const bool other_part = op.op->chunks > 1 && op.op->chunks == written.chunks && op.op->chunk != written.chunk;
      if (!other_part) pending.waits_for.push_back({written.op, 0, Event::end});
    }
  }
  std::vector<std::uint32_t> touched = op.reads;
  touched.insert(touched.end(), op.writes.begin(), op.writes.end());
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const std::uint32_t tensor : touched) {
    const TensorInstance& instance = tape_.tensors[tensor];
    const bool received = op.to >= 0 && op.reads.empty();  // its buffer counts from when it is full
    if (instance.first == tape_op) pending.memory.push_back(writer_.change("activations", instance.bytes, received));
    if (instance.last == tape_op) pending.memory.push_back(writer_.change("activations", -instance.bytes, true));
  }
  if (op.at_start != 0) pending.memory.push_back(writer_.change("activations", op.at_start, false));
  if (op.at_end != 0) pending.memory.push_back(writer_.change("activations", op.at_end, true));
}

void Activations::after(std::uint32_t tape_op, OpId id) {
  const TapeOp& op = tape_.ops[tape_op];
  for (const std::uint32_t tensor : op.writes) writers_[tensor].push_back({id, op.op->chunk, op.op->chunks});
  // What nobody will read again need not be remembered.
  for (const std::uint32_t tensor : op.reads) {
    if (tape_.tensors[tensor].last == tape_op) writers_[tensor] = {};
  }
}

}  // namespace stepsim
