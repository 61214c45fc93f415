#include "tools/schedule_gantt.h"

#include <algorithm>

namespace stepsim {

namespace {

SpanKind span_kind(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return SpanKind::forward;
    case ActionKind::input_gradient:
      return SpanKind::input_gradient;
    case ActionKind::weight_gradient:
      return SpanKind::weight_gradient;
    case ActionKind::backward:
      return SpanKind::backward;
  }
  return SpanKind::other;
}

}  // namespace

std::vector<std::string> chunk_names(const PipelineOrder& order) {
  if (order.copies() == 2) return {"first half of the microbatches, down", "second half, up"};
  const int chunks = std::max(1, order.stages / std::max(1, static_cast<int>(order.ranks.size())));
  std::vector<std::string> names;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    names.push_back(chunks == 2 ? std::string(chunk == 0 ? "a rank's first stage" : "its second stage")
                                : "chunk " + std::to_string(chunk));
  }
  return names;
}

int chunk_of(const PipelineOrder& order, const Action& action) {
  if (order.copies() == 2) return order.copy_of(action.microbatch);
  const int rank = order.rank(action.stage, action.microbatch);
  int chunk = 0;
  for (int stage = 0; stage < action.stage; ++stage) {
    if (order.rank(stage, action.microbatch) == rank) ++chunk;
  }
  return chunk;
}

Gantt schedule_gantt(const PipelineOrder& order, const PlayedOrder& played, const std::string& title,
                     const std::string& subtitle) {
  Gantt gantt{title, subtitle, {}, chunk_names(order), played.makespan, ticks_per_unit, ""};
  std::vector<int> chunks(static_cast<std::size_t>(order.stages));
  for (int stage = 0; stage < order.stages; ++stage) {
    chunks[static_cast<std::size_t>(stage)] = chunk_of(order, forward(stage, 0));
  }
  for (std::size_t r = 0; r < order.ranks.size(); ++r) {
    GanttRow& row = gantt.rows.emplace_back();
    row.label = "rank " + std::to_string(r);
    const RankOrder& list = order.ranks[r];
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Action& action = list[i];
      const PlayedAction span = played.ranks[r].actions[i];
      // A pair that is played one after the other is drawn so.
      const auto together = [&](std::size_t first) {
        const auto& spans = played.ranks[r].actions;
        return list[first].fused && first + 1 < list.size() && spans[first].start == spans[first + 1].start;
      };
      SpanHalf half = SpanHalf::whole;
      if (together(i)) half = SpanHalf::upper;
      if (i > 0 && together(i - 1)) half = SpanHalf::lower;
      const int chunk =
          order.copies() == 2 ? order.copy_of(action.microbatch) : chunks[static_cast<std::size_t>(action.stage)];
      row.spans.push_back({span.start, span.end, span_kind(action.kind), half, chunk, std::to_string(action.microbatch),
                           to_string(action)});
    }
  }
  return gantt;
}

}  // namespace stepsim
