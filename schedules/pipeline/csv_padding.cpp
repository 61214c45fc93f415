// csv_padding.cpp: idle slots as in pytorch 2.8, torch.distributed.pipelining.schedules (csv_padding.h).
//
// Rank r starts r slots late. Between its warm-up forwards and the rest it waits
//   gpipe 3(p-1-r), looped_bfs and 1f1b 2(p-1-r), torch_interleaved_1f1b_flex v p + 2(p-1-r) - (warm-up + r) if positive,
// and in 1f1b and torch_interleaved_1f1b_flex one slot before each backward after the last forward.
// torch_interleaved_zb waits p-1-r, then a forward waits until a slot after that of the stage before. torch_zbv leaves
// the slots of microbatches that it plans, up to 2p - 1, and that are not there.
#include "schedules/pipeline/csv_padding.h"

#include <algorithm>

namespace stepsim {
namespace {

/// A rank's list with its slots: an action, or idle.
using Slots = std::vector<std::optional<Action>>;

struct Padding {
  int after_warm_up = 0;
  bool cool_down = false;
};

/// `warm`: how many forwards come before the wait.
Slots padded(const RankOrder& list, int rank, std::size_t warm, const Padding& padding) {
  Slots slots(static_cast<std::size_t>(rank));
  const auto last_forward =
      std::find_if(list.rbegin(), list.rend(), [](const Action& a) { return a.kind == ActionKind::forward; });
  const std::size_t forwards_end = static_cast<std::size_t>(list.rend() - last_forward);
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (at == warm && warm > 0) slots.resize(slots.size() + static_cast<std::size_t>(padding.after_warm_up));
    // The last pair's backward follows its forward at once.
    const bool cooling = at >= forwards_end && (at > forwards_end || warm == forwards_end);
    if (padding.cool_down && cooling) slots.emplace_back();
    slots.emplace_back(list[at]);
  }
  return slots;
}

std::size_t forwards(const RankOrder& list) {
  return static_cast<std::size_t>(
      std::count_if(list.begin(), list.end(), [](const Action& a) { return a.kind == ActionKind::forward; }));
}

std::vector<Slots> in_phases(const std::string& schedule, const PipelineSizes& sizes, const PipelineOrder& order) {
  const int p = sizes.ranks;
  std::vector<Slots> all;
  for (int rank = 0; rank < p; ++rank) {
    const RankOrder& list = order.ranks[static_cast<std::size_t>(rank)];
    const int behind = p - 1 - rank;
    if (schedule == "gpipe" || schedule == "looped_bfs") {
      all.push_back(padded(list, rank, forwards(list), {schedule == "gpipe" ? 3 * behind : 2 * behind, false}));
      continue;
    }
    // The warm-ups of the schedules themselves (one_forward_one_backward.cpp, interleaved.cpp).
    const int v = sizes.stages_per_rank;
    const int group = sizes.microbatches / std::max(1, sizes.microbatches / p);
    const int hops = schedule == "torch_interleaved_zb" ? behind : 2 * behind;
    const int full = schedule == "1f1b" ? behind : (v - 1) * group + hops;
    const int warm = std::min(full, sizes.microbatches * v);
    Padding padding{schedule == "1f1b" ? 2 * behind : behind, schedule == "1f1b"};
    if (schedule == "torch_interleaved_1f1b_flex") {
      padding = {std::max(0, v * p + 2 * behind - (warm + rank)), true};
    }
    all.push_back(padded(list, rank, static_cast<std::size_t>(warm), padding));
  }
  return all;
}

/// Slot by slot: a forward waits for the slot after that of the stage before.
std::vector<Slots> with_bubbles(const std::vector<Slots>& lists, const PipelineOrder& order) {
  std::vector<Slots> all(lists.size());
  std::vector<std::size_t> next(lists.size(), 0);
  const auto units = static_cast<std::size_t>(order.units);
  std::vector<bool> seen(static_cast<std::size_t>(order.stages) * units, false);
  for (bool left = true; left;) {
    left = false;
    std::vector<std::size_t> now;
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
      if (next[rank] == lists[rank].size()) continue;
      left = true;
      const std::optional<Action>& action = lists[rank][next[rank]];
      if (action && action->kind == ActionKind::forward) {
        const std::size_t at =
            static_cast<std::size_t>(action->stage) * units + static_cast<std::size_t>(action->microbatch);
        if (action->stage > 0 && !seen[at - units]) {
          all[rank].emplace_back();
          continue;
        }
        now.push_back(at);
      }
      all[rank].push_back(action);
      ++next[rank];
    }
    for (const std::size_t at : now) seen[at] = true;
  }
  return all;
}

std::vector<Slots> of_zbv(const PipelineSizes& sizes) {
  PipelineSizes planned = sizes;
  planned.microbatches = std::max(2 * sizes.ranks - 1, sizes.microbatches);
  const PipelineOrder order = pipeline_order("torch_zbv", planned);
  std::vector<Slots> all;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    Slots& slots = all.emplace_back(rank);
    for (const Action& action : order.ranks[rank]) {
      slots.push_back(action.microbatch < sizes.microbatches ? std::optional(action) : std::nullopt);
    }
  }
  return all;
}

IdleSlots counted(const std::vector<Slots>& lists) {
  IdleSlots all;
  for (const Slots& list : lists) {
    std::vector<std::int32_t>& idle = all.emplace_back(1, 0);
    for (const std::optional<Action>& slot : list) {
      if (slot) {
        idle.push_back(0);
      } else {
        ++idle.back();
      }
    }
  }
  return all;
}

}  // namespace

std::optional<IdleSlots> torch_idle_slots(const std::string& schedule, const PipelineSizes& sizes) {
  if (schedule == "torch_zbv") return counted(of_zbv(sizes));
  const bool known = schedule == "gpipe" || schedule == "1f1b" || schedule == "looped_bfs" ||
                     schedule == "torch_interleaved_1f1b_flex" || schedule == "torch_interleaved_zb";
  if (!known) return std::nullopt;
  const PipelineOrder order = pipeline_order(schedule, sizes);
  std::vector<Slots> lists = in_phases(schedule, sizes, order);
  if (schedule == "torch_interleaved_zb") lists = with_bubbles(lists, order);
  return counted(lists);
}

}  // namespace stepsim
