#include "schedules/pipeline/circle.h"

#include <algorithm>

namespace stepsim {
namespace {

/// The letter that the list has for it: B stands for I where both gradients are taken at once.
std::optional<Action> listed(const PipelineOrder& order, std::int32_t rank, const Action& wanted) {
  for (const Action& action : order.ranks[static_cast<std::size_t>(rank)]) {
    if (action.stage == wanted.stage && action.microbatch == wanted.microbatch &&
        (action.kind == wanted.kind || (gives_input_gradient(action.kind) && gives_input_gradient(wanted.kind)))) {
      return action;
    }
  }
  return std::nullopt;
}

std::string sentence(const PipelineOrder& order, std::int32_t rank, const Stuck& stuck) {
  const std::optional<Action> other = listed(order, stuck.rank, stuck.awaited);
  const std::string name = to_string(other.value_or(stuck.awaited));
  const std::string here = "rank " + std::to_string(rank) + " at cell " + std::to_string(stuck.position + 1);
  const std::string peer = "rank " + std::to_string(stuck.rank);
  std::string text =
      stuck.sending ? here + " cannot end the send of " + to_string(stuck.at) + " until " + peer + " comes to " + name
                    : here + " (" + to_string(stuck.at) + ") waits for " + name + " of " + peer;
  if (!other) text += ", which has no such action";
  return text;
}

}  // namespace

std::vector<Action> inputs(const PipelineOrder& order, const Action& action) {
  std::vector<Action> all;
  const std::int32_t segment = action.microbatch % order.segments;
  switch (action.kind) {
    case ActionKind::forward:
      if (action.stage > 0) all.push_back(forward(action.stage - 1, action.microbatch));
      if (segment > 0) all.push_back(forward(action.stage, action.microbatch - 1));
      break;
    case ActionKind::input_gradient:
    case ActionKind::backward:
      all.push_back(forward(action.stage, action.microbatch));
      if (action.stage + 1 < order.stages) all.push_back(input_gradient(action.stage + 1, action.microbatch));
      if (segment + 1 < order.segments) all.push_back(input_gradient(action.stage, action.microbatch + 1));
      break;
    case ActionKind::weight_gradient:
      all.push_back(input_gradient(action.stage, action.microbatch));
      break;
  }
  return all;
}

std::optional<Action> consumer(const PipelineOrder& order, const Action& action) {
  if (action.kind == ActionKind::forward && action.stage + 1 < order.stages) {
    return forward(action.stage + 1, action.microbatch);
  }
  if (gives_input_gradient(action.kind) && action.stage > 0) {
    return input_gradient(action.stage - 1, action.microbatch);
  }
  return std::nullopt;
}

std::string explain_circle(const PipelineOrder& order, const std::vector<Stuck>& stuck) {
  std::vector<std::int32_t> path;
  std::int32_t rank = 0;
  while (stuck[static_cast<std::size_t>(rank)].rank < 0) ++rank;
  while (std::find(path.begin(), path.end(), rank) == path.end()) {
    path.push_back(rank);
    const Stuck& here = stuck[static_cast<std::size_t>(rank)];
    if (!listed(order, here.rank, here.awaited)) return "deadlock: " + sentence(order, rank, here);
    if (stuck[static_cast<std::size_t>(here.rank)].rank < 0) break;  // cannot be: a rank that is done waits for nobody
    rank = here.rank;
  }
  std::string text = "deadlock: ";
  for (auto at = std::find(path.begin(), path.end(), rank); at != path.end(); ++at) {
    if (text.back() != ' ') text += "; ";
    text += sentence(order, *at, stuck[static_cast<std::size_t>(*at)]);
  }
  return text;
}

}  // namespace stepsim
