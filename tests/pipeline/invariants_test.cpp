// What holds for every schedule, whatever its sizes: work, dependencies and bounds, from what a step has to do and not
// from how a schedule orders it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "schedules/pipeline/clock.h"
#include "tests/pipeline/size_grid.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

ActionCosts long_latency() {
  return {ticks(3), ticks(2), ticks(4), ticks(6), ticks(7), ticks(5)};
}

std::vector<ActionCosts> cost_sets() {
  return {unit_costs(), uneven_costs(), long_latency()};
}

/// What the ranks have to do: a fused pair takes the time of a pair.
Ticks work(const RankOrder& list, const ActionCosts& costs) {
  Ticks sum = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at].fused) {
      sum += costs.fused;
      ++at;
      continue;
    }
    switch (list[at].kind) {
      case ActionKind::forward:
        sum += costs.forward;
        break;
      case ActionKind::input_gradient:
        sum += costs.input_gradient;
        break;
      case ActionKind::weight_gradient:
        sum += costs.weight_gradient;
        break;
      case ActionKind::backward:
        sum += costs.backward;
        break;
    }
  }
  return sum;
}

/// A microbatch (its first unit) forward through all stages and back, alone: the shortest of F, of I or B, and every edge
/// between ranks.
Ticks critical_path(const PipelineOrder& order, const ActionCosts& costs) {
  bool split = false;
  bool whole = false;
  for (const RankOrder& list : order.ranks) {
    for (const Action& action : list) {
      split = split || action.kind == ActionKind::input_gradient;
      whole = whole || action.kind == ActionKind::backward;
    }
  }
  Ticks back = split && !whole ? costs.input_gradient : costs.backward;
  if (split) back = std::min(back, costs.input_gradient);
  Ticks path = order.stages * (costs.forward + back);
  for (std::int32_t stage = 0; stage + 1 < order.stages; ++stage) {
    if (order.rank(stage, 0) != order.rank(stage + 1, 0)) path += 2 * costs.send;
  }
  return path;
}

TEST(EverySchedule, HasEveryActionOnce) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    EXPECT_EQ(order.units, sizes.microbatches * sizes.segments);
    EXPECT_EQ(order.stages * order.copies(), sizes.ranks * sizes.stages_per_rank);
    std::map<std::tuple<std::int32_t, std::int32_t>, std::map<ActionKind, int>> found;
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
      std::map<std::int32_t, int> forwards;
      for (const Action& action : order.ranks[r]) {
        ASSERT_EQ(order.rank(action.stage, action.microbatch), static_cast<std::int32_t>(r)) << to_string(action);
        ++found[{action.stage, action.microbatch}][action.kind];
        if (action.kind == ActionKind::forward) ++forwards[action.stage];
      }
      for (const auto& [stage, count] : forwards) EXPECT_EQ(count, order.units / order.copies()) << stage;
    }
    EXPECT_EQ(found.size(), static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.units));
    for (auto& [key, kinds] : found) {
      EXPECT_EQ(kinds[ActionKind::forward], 1);
      EXPECT_EQ(kinds[ActionKind::backward] + kinds[ActionKind::input_gradient], 1);
      EXPECT_EQ(kinds[ActionKind::weight_gradient], kinds[ActionKind::input_gradient]);
    }
  });
}

TEST(EverySchedule, PlaysWithinItsBounds) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    for (const ActionCosts& costs : cost_sets()) {
      const PlayedOrder played = play(order, {costs});
      Ticks most = 0;
      for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        EXPECT_EQ(played.ranks[r].busy, work(order.ranks[r], costs));
        EXPECT_LE(played.ranks[r].busy, played.ranks[r].end - played.ranks[r].start);
        most = std::max(most, played.ranks[r].busy);
      }
      EXPECT_GE(played.makespan, most);
      EXPECT_GE(played.makespan, played.longest_rank);
      EXPECT_GE(played.makespan, critical_path(order, costs));
      EXPECT_GE(played.bubble(), 0);
      EXPECT_LT(played.bubble(), 1);
    }
  });
}

TEST(EverySchedule, ActionsWaitForWhatTheyRead) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    const ActionCosts costs = uneven_costs();
    const PlayedOrder played = play(order, {costs});
    std::map<std::tuple<bool, std::int32_t, std::int32_t>, Ticks> ends;
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
      for (std::size_t at = 0; at < order.ranks[r].size(); ++at) {
        const Action& action = order.ranks[r][at];
        if (action.kind == ActionKind::weight_gradient) continue;
        ends[{action.kind == ActionKind::forward, action.stage, action.microbatch}] = played.ranks[r].actions[at].end;
      }
    }
    const auto arrives = [&](bool ahead, std::int32_t from, std::int32_t to, std::int32_t unit) {
      return ends.at({ahead, from, unit}) + (order.rank(from, unit) == order.rank(to, unit) ? 0 : costs.send);
    };
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
      for (std::size_t at = 0; at < order.ranks[r].size(); ++at) {
        const Action& action = order.ranks[r][at];
        const std::int32_t stage = action.stage;
        const std::int32_t unit = action.microbatch;
        Ticks ready = 0;
        const auto needs = [&](bool ahead, std::int32_t from, std::int32_t of) {
          ready = std::max(ready, arrives(ahead, from, stage, of));
        };
        if (action.kind == ActionKind::forward) {
          if (stage > 0) needs(true, stage - 1, unit);
          if (unit % order.segments > 0) needs(true, stage, unit - 1);
        } else if (action.kind == ActionKind::weight_gradient) {
          needs(false, stage, unit);
        } else {
          needs(true, stage, unit);
          if (stage + 1 < order.stages) needs(false, stage + 1, unit);
          if (unit % order.segments + 1 < order.segments) needs(false, stage, unit + 1);
        }
        EXPECT_GE(played.ranks[r].actions[at].start, ready) << to_string(action);
      }
    }
  });
}

ActionCosts scaled(ActionCosts costs, Ticks by) {
  for (Ticks* cost :
       {&costs.forward, &costs.input_gradient, &costs.weight_gradient, &costs.backward, &costs.fused, &costs.send}) {
    *cost *= by;
  }
  return costs;
}

TEST(EverySchedule, TimesScaleWithCosts) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    const PlayedOrder once = play(order, {uneven_costs()});
    const PlayedOrder seven = play(order, {scaled(uneven_costs(), 7)});
    EXPECT_EQ(seven.makespan, 7 * once.makespan);
    for (std::size_t r = 0; r < once.ranks.size(); ++r) {
      for (std::size_t at = 0; at < once.ranks[r].actions.size(); ++at) {
        EXPECT_EQ(seven.ranks[r].actions[at].start, 7 * once.ranks[r].actions[at].start);
      }
    }
  });
}

// Every start is a maximum of sums of costs, so that more of any cost makes nothing earlier, and one more tick of latency
// delays by at most the edges of the longest path: one F and one I or B for each stage of each unit.
TEST(EverySchedule, NothingIsEarlierForMoreOfACost) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    const ActionCosts costs = uneven_costs();
    const PlayedOrder before = play(order, {costs});
    for (Ticks ActionCosts::*which :
         {&ActionCosts::forward, &ActionCosts::input_gradient, &ActionCosts::weight_gradient, &ActionCosts::backward,
          &ActionCosts::fused, &ActionCosts::send}) {
      ActionCosts more = costs;
      more.*which += 1;
      const PlayedOrder after = play(order, {more});
      EXPECT_GE(after.makespan, before.makespan);
      EXPECT_LE(after.makespan, before.makespan + 2 * static_cast<Ticks>(order.stages) * order.units);
      for (std::size_t r = 0; r < before.ranks.size(); ++r) EXPECT_GE(after.ranks[r].end, before.ranks[r].end);
    }
  });
}

// Rendezvous is an order of events more; where it does not stand still it is never faster.
TEST(EverySchedule, BlockingSendsAreNoFaster) {
  int played = 0;
  for_all_schedules([&](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    ClockOptions options{uneven_costs()};
    const Ticks eager = play(order, options).makespan;
    options.blocking_sends = true;
    try {
      EXPECT_GE(play(order, options).makespan, eager);
      ++played;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("deadlock: rank "), std::string::npos);
    }
  });
  EXPECT_GT(played, 20);
}

// Peaks by hand: an activation alive until W or B is one until I or B, at least; a rank holds no more than all.
TEST(EverySchedule, PeaksAreWithinTheirBounds) {
  for_all_schedules([](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    for (const PlayedRank& rank : play(order, {unit_costs()}).ranks) {
      EXPECT_GE(rank.peak_until_input, 1);
      EXPECT_GE(rank.peak_until_weight, rank.peak_until_input);
      EXPECT_LE(rank.peak_until_weight, sizes.stages_per_rank * order.units / order.copies());
    }
  });
}

}  // namespace
}  // namespace stepsim
