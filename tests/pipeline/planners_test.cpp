// What holds for every schedule at all sizes that it takes: each action once, no deadlock, nothing above the limit; and
// sizes that it does not take are refused with a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "schedules/pipeline/clock.h"
#include "schedules/pipeline/family.h"
#include "schedules/pipeline/limits.h"
#include "sim/input_error.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

std::vector<PipelineSizes> all_sizes(const PipelineFamily& family, int most_ranks) {
  const std::vector<int> stages =
      family.stages_per_rank > 0 ? std::vector<int>{family.stages_per_rank} : std::vector<int>{1, 2, 3};
  std::vector<PipelineSizes> all;
  for (int p = 1; p <= most_ranks; ++p) {
    for (const int m : {1, 2, 3, 5, 8, 13, 18, 40}) {
      for (const int v : stages) {
        PipelineSizes sizes;
        sizes.ranks = p;
        sizes.stages_per_rank = v;
        sizes.microbatches = m;
        all.push_back(sizes);
      }
    }
  }
  return all;
}

std::string said(const PipelineSizes& sizes) {
  return "p = " + std::to_string(sizes.ranks) + ", v = " + std::to_string(sizes.stages_per_rank) +
         ", m = " + std::to_string(sizes.microbatches) +
         (sizes.memory_limit ? ", limit " + std::to_string(*sizes.memory_limit) : "");
}

void expect_each_action_once(const PipelineOrder& order) {
  std::map<std::string, int> count;
  for (std::size_t r = 0; r < order.ranks.size(); ++r) {
    for (const Action& action : order.ranks[r]) {
      EXPECT_EQ(order.rank(action.stage, action.microbatch), static_cast<int>(r)) << to_string(action);
      ++count[to_string(action)];
    }
  }
  std::size_t actions = 0;
  for (int stage = 0; stage < order.stages; ++stage) {
    for (int unit = 0; unit < order.units; ++unit) {
      EXPECT_EQ(count[to_string(forward(stage, unit))], 1);
      const bool whole = count[to_string(backward(stage, unit))] == 1;
      EXPECT_EQ(count[to_string(input_gradient(stage, unit))], whole ? 0 : 1);
      EXPECT_EQ(count[to_string(weight_gradient(stage, unit))], whole ? 0 : 1);
      actions += whole ? 2 : 3;
    }
  }
  std::size_t listed = 0;
  for (const RankOrder& list : order.ranks) listed += list.size();
  EXPECT_EQ(listed, actions);
}

class EveryOrder : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOrder, HasEachActionOnceAndComesToAnEnd) {
  const PipelineFamily& family = pipeline_families().at("schedule", GetParam());
  int made = 0;
  for (const PipelineSizes& sizes : all_sizes(family, 9)) {
    SCOPED_TRACE(said(sizes));
    const std::vector<std::string> reasons = refusals(family, sizes);
    if (!reasons.empty()) {
      EXPECT_THROW(pipeline_order(GetParam(), sizes), InputError);
      continue;
    }
    const PipelineOrder order = pipeline_order(GetParam(), sizes);
    expect_each_action_once(order);
    EXPECT_NO_THROW(play(order, {uneven_costs()}));
    if (testing::Test::HasFailure()) return;
    ++made;
  }
  EXPECT_GE(made, 6) << "of 72 sizes for each number of stages";
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryOrder, ::testing::ValuesIn(pipeline_families().names()),
                         [](const auto& info) { return info.param; });

struct Planned {
  std::string name;
  double activation;  // of a stage, in the units of its limit
  int per_p;          // its default limit in activations
};

class EveryPlanner : public ::testing::TestWithParam<Planned> {};

TEST_P(EveryPlanner, KeepsToItsLimit) {
  const PipelineFamily& family = pipeline_families().at("schedule", GetParam().name);
  const double one = GetParam().activation;
  const bool is_search = GetParam().name.starts_with("v_adaptive");  // slow, and not for p = 1
  int made = 0;
  for (PipelineSizes sizes : all_sizes(family, is_search ? 5 : 9)) {
    const int p = sizes.ranks;
    const double standard = one * GetParam().per_p * p;
    for (const double limit :
         {0.0, one * (p - 1), one * p, one * (p + 1), one * (3 * p / 2 + 0.5), one * 2 * p, one * 3 * p}) {
      if (limit > 0) sizes.memory_limit = limit;
      SCOPED_TRACE(said(sizes));
      if (!refusals(family, sizes).empty()) {
        EXPECT_TRUE((is_search && p == 1) || limit < one * family.stages_per_rank * p)
            << "p microbatches always have room";
        continue;
      }
      const PipelineOrder order = pipeline_order(GetParam().name, sizes);
      EXPECT_NO_THROW(play(order, {unit_costs()}));
      const ActivationUnits activation{one, one == 4 ? 2 : one};
      for (const RankOrder& list : order.ranks) {
        EXPECT_LE(most_held(list, activation), sizes.memory_limit.value_or(standard));
      }
      if (testing::Test::HasFailure()) return;
      ++made;
    }
    sizes.memory_limit.reset();
  }
  EXPECT_GE(made, 100);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryPlanner,
                         ::testing::Values(Planned{"zb_1p", 1, 1}, Planned{"zb_2p", 1, 2}, Planned{"zb_1p_auto", 1, 1},
                                           Planned{"zb_2p_auto", 1, 2}, Planned{"zb_auto_profiled", 1, 1},
                                           Planned{"zbv", 1, 2}, Planned{"zbv_auto", 1, 2},
                                           Planned{"zbv_auto_mw", 4, 2}, Planned{"v_adaptive", 1, 2},
                                           Planned{"v_adaptive_profiled", 1, 2}),
                         [](const auto& info) { return info.param.name; });

/// M_B and M_W of one's own, times of one's own: the limit holds in those units.
TEST(EveryPlanner, KeepsToItsLimitInOtherUnits) {
  for (const char* name : {"zb_auto_profiled", "zbv"}) {
    for (int p = 1; p <= 8; ++p) {
      for (const int m : {1, 4, 11, 30}) {
        for (const double limit : {1.5 * p, 2.0 * p, 2.7 * p}) {
          PipelineSizes sizes;
          sizes.ranks = p;
          sizes.stages_per_rank = std::string(name) == "zbv" ? 2 : 1;
          sizes.microbatches = m;
          sizes.costs = uneven_costs();
          sizes.activation = {5, 2};
          sizes.memory_limit = 5 * limit;
          if (!refusals(pipeline_families().at("schedule", name), sizes).empty()) continue;
          for (const RankOrder& list : pipeline_order(name, sizes).ranks) {
            EXPECT_LE(most_held(list, sizes.activation), *sizes.memory_limit) << name << " " << said(sizes);
          }
        }
      }
    }
  }
}

std::string refusal(const std::string& name, PipelineSizes sizes) {
  const std::vector<std::string> reasons = refusals(pipeline_families().at("schedule", name), sizes);
  return reasons.empty() ? "" : reasons.front();
}

TEST(PlannerRefusals, SayWhatWouldDo) {
  PipelineSizes sizes;
  sizes.ranks = 4;
  sizes.microbatches = 8;
  sizes.memory_limit = 0.5;
  EXPECT_EQ(refusal("zb_1p_auto", sizes), "memory limit = 0.5: expected at least one activation, 1");
  sizes.activation = {2, 3};
  EXPECT_EQ(refusal("zb_auto_profiled", sizes), "memory limit = 0.5: expected at least one activation, 2");
  sizes.memory_limit.reset();
  EXPECT_EQ(refusal("zb_auto_profiled", sizes),
            "activation after I = 3: expected at least 0 and at most what is held after F, 2");
  sizes.activation = {0, 0};
  EXPECT_EQ(refusal("zb_1p", sizes), "activation after F = 0: expected more than 0");
  EXPECT_EQ(refusal("zbv", sizes), "v = 1: expected 2 stages a rank");
  sizes.activation = {};
  sizes.stages_per_rank = 2;
  sizes.memory_limit = 2;
  EXPECT_EQ(refusal("zbv_auto", sizes),
            "memory limit = 2: the plan comes to a stop at 3F1 on rank 3; 2p chunks, 8, are always enough");
  EXPECT_EQ(refusal("v_adaptive", sizes),
            "memory limit = 2: no building block keeps to so few chunk activations; 2p = 8 are always enough");
  EXPECT_EQ(refusal("torch_zbv", sizes), "memory limit: it is not made to one");
  sizes.memory_limit.reset();
  sizes.ranks = 1;
  EXPECT_EQ(refusal("v_adaptive", sizes), "p = 1: expected at least 2 ranks, between which blocks differ");
}

}  // namespace
}  // namespace stepsim
