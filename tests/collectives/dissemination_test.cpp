// Dissemination barrier: ceil(log2 N) latencies, and everyone hears of everyone.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};

CollectiveSpec barrier(int n) {
  return {.kind = CollectiveKind::barrier, .shape = {ring_of(n)}, .algorithm = "dissemination"};
}

// Hensgen, Finkel & Manber 1988: 5 members take 3 rounds, 8 take 3, 9 take 4.
TEST(Dissemination, TakesItsRounds) {
  const std::vector<Star> stars{{1'000'000'000, us}};
  for (const auto& [n, rounds] : {std::pair{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 3}, {9, 4}, {1000, 10}}) {
    const Played played = play_on_stars(pattern_of(barrier(n)), stars);
    EXPECT_EQ(played.left, std::vector<Picoseconds>(static_cast<std::size_t>(n), us * rounds));
    EXPECT_EQ(played.transfers, static_cast<std::uint64_t>(n * rounds));
    EXPECT_EQ(bound_ps(barrier(n), stars), (us * rounds).count());
  }
}

TEST(Dissemination, EveryoneHearsOfEveryone) {
  for (const int n : {1, 2, 3, 5, 8, 12, 33}) {
    const TransferPlan plan = tabulate(pattern_of(barrier(n)));
    const Causality played = CausalityPlayer(plan).play();
    EXPECT_TRUE(played.finished);
    EXPECT_EQ(played.rests_on, std::vector(plan.members, std::vector<bool>(plan.members, true)));
  }
}

// What a barrier is for: nobody leaves before the last has come.
TEST(Dissemination, NobodyLeavesBeforeTheLastHasCome) {
  for (std::uint32_t late = 0; late < 6; ++late) {
    const Played played = play(barrier(6), {.rate = 1'000'000'000, .latency = us, .late = {{late, us * 50}}});
    for (const Picoseconds left : played.left) EXPECT_GE(left, us * 50);
  }
}

TEST(Dissemination, RefusesOtherKinds) {
  CollectiveSpec spec = barrier(4);
  spec.kind = CollectiveKind::broadcast;
  try {
    pattern_of(spec);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "collectives.algorithm: 'dissemination' does not do broadcast (it does barrier)");
  }
}

}  // namespace
}  // namespace stepsim
