#include "schedules/replicas.h"

#include <algorithm>

namespace stepsim {

Replicas::Replicas(const Tape& tape, const ModelSpec& model, const PipelineOrder& order, int rank, StepWriter& writer)
    : tape_(tape), rank_(rank), writer_(writer) {
  find_copies(order);
  find_tables(model, order);
}

void Replicas::find_copies(const PipelineOrder& order) {
  if (order.copies() < 2) return;
  for (std::size_t s = 0; s < tape_.stages.size(); ++s) {
    const Stage& stage = tape_.stages[s];
    const auto other_copy = static_cast<std::size_t>(1 - stage.copy);
    Shared shared{"copies of stage " + std::to_string(stage.index),
                  order.rank_of[other_copy][static_cast<std::size_t>(stage.index)],
                  {}};
    for (std::size_t u = 0; u < tape_.units.size(); ++u) {
      if (tape_.stage_of[u] == s) shared.units.push_back(static_cast<int>(u));
    }
    shared_.push_back(std::move(shared));
  }
}

/// The table is the first unit of the first stage, and the last unit of the last.
void Replicas::find_tables(const ModelSpec& model, const PipelineOrder& order) {
  if (!model.tied_embeddings || !tape_.has_ends) return;
  const std::int32_t last = order.stages - 1;
  for (std::int32_t copy = 0; copy < order.copies(); ++copy) {
    const auto& rank_of = order.rank_of[static_cast<std::size_t>(copy)];
    const int first_rank = rank_of.front();
    const int last_rank = rank_of[static_cast<std::size_t>(last)];
    if (first_rank == last_rank) continue;
    for (std::size_t s = 0; s < tape_.stages.size(); ++s) {
      const Stage& stage = tape_.stages[s];
      if (stage.copy != copy || (!stage.embedding && !stage.head)) continue;
      const int past = s + 1 < tape_.stages.size() ? tape_.first_unit[s + 1] : static_cast<int>(tape_.units.size());
      const int table = stage.embedding ? tape_.first_unit[s] : past - 1;
      shared_.push_back({"tied table " + std::to_string(copy), stage.embedding ? last_rank : first_rank, {table}});
    }
  }
}

void Replicas::exchange(std::vector<Gradients::Ready>& ready, const Gradients& gradients) {
  for (const Shared& shared : shared_) {
    std::vector<OpId> after;
    Bytes bytes = 0;
    for (const Gradients::Ready& one : ready) {
      if (std::find(shared.units.begin(), shared.units.end(), one.unit) == shared.units.end()) continue;
      bytes += gradients.kept(one.unit);
      if (std::find(after.begin(), after.end(), one.op) == after.end()) after.push_back(one.op);
    }
    if (after.empty()) continue;
    const OpId done = all_reduce(shared, bytes, after);
    for (Gradients::Ready& one : ready) {
      if (std::find(shared.units.begin(), shared.units.end(), one.unit) != shared.units.end()) one.op = done;
    }
  }
}

OpId Replicas::all_reduce(const Shared& shared, Bytes bytes, const std::vector<OpId>& after) {
  const Bytes half = (bytes + 1) / 2;
  const std::vector<OpId> reduced = both_ways(shared, "reduce-scatter", half, after);
  return both_ways(shared, "all-gather", half, reduced).back();
}

std::vector<OpId> Replicas::both_ways(const Shared& shared, const std::string& step, Bytes bytes,
                                      const std::vector<OpId>& after) {
  const auto own = static_cast<std::uint32_t>(rank_);
  const auto other = static_cast<std::uint32_t>(shared.other);
  std::vector<OpId> ends;
  for (const bool sends : {true, false}) {
    PendingOp pending = writer_.message(sends ? own : other, sends ? other : own, bytes, false,
                                        step + " " + shared.queue, shared.queue);
    for (const OpId op : after) pending.waits_for.push_back({op, 0, Event::end});
    ends.push_back(writer_.add(pending));
  }
  return ends;
}

}  // namespace stepsim
