#include "schedules/pipeline/order.h"

#include <utility>

namespace stepsim {

std::string to_string(const Action& action) {
  constexpr char letters[] = {'F', 'I', 'W', 'B'};
  return std::to_string(action.stage) + letters[static_cast<std::size_t>(action.kind)] +
         std::to_string(action.microbatch);
}

std::vector<std::string> cells(const RankOrder& order) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i].fused && i + 1 < order.size()) {
      all.push_back("(" + to_string(order[i]) + ";" + to_string(order[i + 1]) + ")OVERLAP_F_B");
      ++i;
    } else {
      all.push_back(to_string(order[i]));
    }
  }
  return all;
}

std::vector<std::int32_t> loop_placement(int ranks, int stages_per_rank) {
  std::vector<std::int32_t> rank_of;
  for (int stage = 0; stage < ranks * stages_per_rank; ++stage) rank_of.push_back(stage % ranks);
  return rank_of;
}

std::vector<std::int32_t> v_placement(int ranks) {
  return wave_placement(ranks, 2);
}

std::vector<std::int32_t> wave_placement(int ranks, int stages_per_rank) {
  std::vector<std::int32_t> rank_of;
  for (int stage = 0; stage < ranks * stages_per_rank; ++stage) {
    const int offset = stage % ranks;
    rank_of.push_back(stage / ranks % 2 == 0 ? offset : ranks - 1 - offset);
  }
  return rank_of;
}

std::vector<std::int32_t> mirrored(const std::vector<std::int32_t>& placement, int ranks) {
  std::vector<std::int32_t> rank_of;
  for (const std::int32_t rank : placement) rank_of.push_back(ranks - 1 - rank);
  return rank_of;
}

PipelineOrder empty_order(int ranks, int units, std::vector<std::int32_t> placement) {
  PipelineOrder order;
  order.stages = static_cast<std::int32_t>(placement.size());
  order.units = units;
  order.rank_of.push_back(std::move(placement));
  order.ranks.resize(static_cast<std::size_t>(ranks));
  return order;
}

}  // namespace stepsim
