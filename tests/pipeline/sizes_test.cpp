// Sizes that a schedule cannot have are refused with what would do: each limit as its source states it (the comment of
// the schedule's file).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/pipeline/family.h"

namespace stepsim {
namespace {

using ::testing::ElementsAreArray;

struct BadSizes {
  std::string schedule;
  PipelineSizes sizes;
  std::vector<std::string> expected;
};

PipelineSizes sizes(int p, int v, int m, int group = 0, int segments = 1) {
  PipelineSizes all;
  all.ranks = p;
  all.stages_per_rank = v;
  all.microbatches = m;
  all.group = group;
  all.segments = segments;
  return all;
}

std::vector<BadSizes> bad_sizes() {
  return {
      {"1f1b", sizes(0, 1, 4), {"p = 0: expected at least 1"}},
      {"1f1b",
       sizes(-2, 0, 0),
       {"p = -2: expected at least 1", "v = 0: expected at least 1", "m = 0: expected at least 1"}},
      {"1f1b", sizes(4, 2, 8), {"v = 2: expected 1 stage a rank"}},
      {"1f1b", sizes(4, 1, 8, 4), {"group = 4: it has no groups of microbatches to choose"}},
      {"1f1b", sizes(4, 1, 8, 0, 2), {"segments = 2: it does not cut sequences"}},
      {"gpipe", sizes(4, 2, 8), {"v = 2: expected 1 stage a rank"}},
      {"zb_h1", sizes(4, 2, 8), {"v = 2: expected 1 stage a rank"}},
      {"interleaved_1f1b", sizes(4, 1, 8), {"v = 1: expected at least 2 stages a rank"}},
      {"interleaved_1f1b", sizes(4, 2, 3), {"group = 4: expected p = 4 <= group <= m = 3"}},
      {"interleaved_1f1b", sizes(4, 2, 8, 3), {"group = 3: expected p = 4 <= group <= m = 8"}},
      {"interleaved_1f1b",
       sizes(4, 2, 10),
       {"m = 10: the last group has 2 microbatches; expected none or at least p = 4 (group = 4)"}},
      {"torch_interleaved_1f1b_flex", sizes(4, 2, 9), {"m = 9: expected a multiple of the 2 rounds (m div p)"}},
      {"torch_interleaved_zb", sizes(2, 2, 7), {"m = 7: expected a multiple of the 3 rounds (m div p)"}},
      {"seq1f1b", sizes(4, 2, 8, 0, 2), {"v = 2: expected 1 stage a rank"}},
      {"seq1f1b", sizes(4, 1, 8, 0, 0), {"segments = 0: expected at least 1"}},
      {"grouped_interleaved", sizes(4, 2, 8, 5), {"group = 5: expected 1 to p = 4"}},
      {"grouped_interleaved", sizes(4, 2, 8, -1), {"group = -1: expected 1 to p = 4"}},
      {"dualpipe", sizes(4, 2, 6), {"m = 6: expected at least 2p = 8"}},
      {"dualpipe", sizes(3, 2, 8), {"p = 3: expected an even number of ranks"}},
      {"dualpipe", sizes(4, 2, 9), {"m = 9: expected an even number, one half each way"}},
      {"dualpipe",
       sizes(5, 1, 7),
       {"v = 1: expected 2 stages a rank", "p = 5: expected an even number of ranks",
        "m = 7: expected an even number, one half each way", "m = 7: expected at least 2p = 10"}},
      {"dualpipev", sizes(4, 2, 7), {"m = 7: expected at least 2p = 8"}},
      {"dualpipev", sizes(4, 3, 8), {"v = 3: expected 2 stages a rank"}},
      {"chimera", sizes(3, 2, 6), {"p = 3: expected an even number of ranks"}},
      {"chimera", sizes(4, 2, 6), {"m = 6: expected a multiple of p = 4 (whole units of p/2 microbatches each way)"}},
      {"chimera", sizes(4, 1, 8), {"v = 1: expected 2 stages a rank"}},
      {"hanayo", sizes(4, 3, 8), {"v = 3: expected an even number, two stages a rank for each wave"}},
  };
}

TEST(PipelineSizes, AreRefusedWithWhatWouldDo) {
  for (const BadSizes& bad : bad_sizes()) {
    const PipelineFamily* family = pipeline_families().find(bad.schedule);
    ASSERT_NE(family, nullptr) << bad.schedule;
    EXPECT_THAT(refusals(*family, bad.sizes), ElementsAreArray(bad.expected)) << bad.schedule;
    std::vector<std::string> thrown;
    try {
      pipeline_order(bad.schedule, bad.sizes);
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems()) thrown.push_back(problem.message);
    }
    ASSERT_EQ(thrown.size(), bad.expected.size()) << bad.schedule;
    for (std::size_t i = 0; i < thrown.size(); ++i) EXPECT_EQ(thrown[i], bad.schedule + ": " + bad.expected[i]);
  }
}

TEST(PipelineSizes, MemoryLimitIsOfSchedulesMadeToOne) {
  PipelineSizes limited = sizes(4, 1, 8);
  limited.memory_limit = 4;
  EXPECT_EQ(refusals(*pipeline_families().find("1f1b"), limited),
            std::vector<std::string>{"memory limit: it is not made to one"});
}

}  // namespace
}  // namespace stepsim
