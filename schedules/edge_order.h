// edge_order.h: what a rank gets from another, in the order in which that one sends it.
#pragma once

#include <map>
#include <vector>

#include "schedules/pipeline/order.h"

namespace stepsim {

/// Results (F, I or B) that leave rank `from` for rank `to`, in the order of the sender's list.
std::vector<Action> sent(const PipelineOrder& order, int from, int to);

/// A result without the letter: is it a gradient, of which stage, of which microbatch.
struct ResultKey {
  bool gradient = false;
  std::int32_t stage = 0;
  std::int32_t unit = 0;
  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};
inline ResultKey key_of(const Action& action) {
  return {action.kind != ActionKind::forward, action.stage, action.microbatch};
}

/// Reads all edges that lead to a rank: messages of an edge arrive in the order in which they are sent.
class Arrivals {
 public:
  Arrivals(const PipelineOrder& order, int rank);
  /// The messages from a rank that have not been taken, up to and including this one; empty if it was taken already.
  std::vector<Action> take(int from, const ResultKey& wanted);

 private:
  const PipelineOrder& order_;
  int rank_;
  struct Edge {
    std::vector<Action> sent;
    std::size_t taken = 0;
  };
  std::map<int, Edge> edges_;
};

}  // namespace stepsim
