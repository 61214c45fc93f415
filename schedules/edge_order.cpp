#include "schedules/edge_order.h"

#include "schedules/pipeline/circle.h"

namespace stepsim {

std::vector<Action> sent(const PipelineOrder& order, int from, int to) {
  std::vector<Action> all;
  for (const Action& action : order.ranks[static_cast<std::size_t>(from)]) {
    const auto taker = consumer(order, action);
    if (taker && order.rank(taker->stage, taker->microbatch) == to) all.push_back(action);
  }
  return all;
}

Arrivals::Arrivals(const PipelineOrder& order, int rank) : order_(order), rank_(rank) {}

std::vector<Action> Arrivals::take(int from, const ResultKey& wanted) {
  const auto [edge, is_new] = edges_.try_emplace(from);
  if (is_new) edge->second.sent = sent(order_, from, rank_);
  std::size_t& taken = edge->second.taken;
  std::vector<Action> messages;
  for (std::size_t i = taken; i < edge->second.sent.size(); ++i) {
    messages.push_back(edge->second.sent[i]);
    if (key_of(messages.back()) != wanted) continue;
    taken = i + 1;
    return messages;
  }
  return {};
}

}  // namespace stepsim
