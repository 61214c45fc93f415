// Broadcast, reduce, gather and scatter: flat and by binomial trees, any number of members, any root.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
const std::vector<Star> gigabyte_star{{1'000'000'000, us}};  // a byte is 1 ns
constexpr std::array rooted{CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::gather,
                            CollectiveKind::scatter};

CollectiveSpec spec_of(const std::string& algorithm, CollectiveKind kind, int n, Bytes bytes, std::uint32_t root = 0) {
  return {.kind = kind, .shape = {jumps_of(n)}, .bytes = bytes, .algorithm = algorithm, .root = root};
}

Picoseconds time_of(const CollectiveSpec& spec) {
  return play_on_stars(pattern_of(spec), gigabyte_star).end;
}

bool in_parts(CollectiveKind kind) {
  return kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

// All of it passes the root's link: 7 x 8000 bytes, or 7 x 1000.
TEST(Flat, TakesWhatPassesTheRoot) {
  for (const CollectiveKind kind : rooted) {
    const CollectiveSpec spec = spec_of("flat", kind, 8, 8000, 3);
    EXPECT_EQ(time_of(spec), in_parts(kind) ? us * 8 : us * 57) << to_string(kind);
    EXPECT_EQ(bound_ps(spec, gigabyte_star), time_of(spec).count());
  }
}

// Chan et al. 2007: d (latency + V/w), and d latency + V (N-1)/N / w, N = 2^d.
TEST(Binomial, PowersOfTwoTakeTheClosedForm) {
  for (const auto& [d, n] : {std::pair{1, 2}, std::pair{3, 8}, std::pair{5, 32}}) {
    for (const CollectiveKind kind : rooted) {
      const CollectiveSpec spec = spec_of("binomial", kind, n, n * 1000, 1);
      const Picoseconds time = in_parts(kind) ? us * (d + n - 1) : us * d * (1 + n);
      EXPECT_EQ(time_of(spec), time) << to_string(kind) << " " << n;
      EXPECT_EQ(bound_ps(spec, gigabyte_star), time.count());
    }
  }
}

// Six members by hand, t = 6 us for the array, s = 1 us for a shard, latency 1 us: 4 (with 5), 2 (with 3) and 1 hang below
// the root. Broadcast: 1 has it at 3t + 1, 3 at 2t + 1 + t + 1. Scatter: blocks of 2, 2, 1: 3 at 4 + 1 + 1 + 1, 1 at 5 + 1.
// Reduce: 1 at once, 4 and 2 from t + 1, together until 3t + 1, + 1. Gather: 1 until 1, 4 and 2 from s + 1 for 2 + 2, + 1.
TEST(Binomial, SixMembers) {
  EXPECT_EQ(time_of(spec_of("binomial", CollectiveKind::broadcast, 6, 6000)), us * 20);
  EXPECT_EQ(time_of(spec_of("binomial", CollectiveKind::scatter, 6, 6000)), us * 7);
  EXPECT_EQ(time_of(spec_of("binomial", CollectiveKind::reduce, 6, 6000)), us * 20);
  EXPECT_EQ(time_of(spec_of("binomial", CollectiveKind::gather, 6, 6000)), us * 7);
}

TEST(Binomial, BoundIsTheTimeForAnyNumberOfMembers) {
  for (const CollectiveKind kind : rooted) {
    for (int n = 1; n <= 40; ++n) {
      const CollectiveSpec spec = spec_of("binomial", kind, n, n * 1000);
      EXPECT_NEAR(static_cast<double>(time_of(spec).count()), static_cast<double>(bound_ps(spec, gigabyte_star)), 40)
          << to_string(kind) << " " << n;
    }
  }
}

// Who must hear of whom: everyone of the root, the root of everyone. Bytes: a broadcast brings every other member V; a
// scatter every shard once per level; what a member sends in a reduce is V.
TEST(Rooted, MovesAndRestsOnWhatTheOperationsSay) {
  for (const std::string algorithm : {"flat", "binomial"}) {
    for (const CollectiveKind kind : rooted) {
      for (const auto& [n, root] : {std::pair{1, 0U}, {2, 1U}, {5, 0U}, {6, 5U}, {8, 3U}, {13, 7U}, {16, 15U}}) {
        const TransferPlan plan = tabulate(pattern_of(spec_of(algorithm, kind, n, n * 100, root)));
        check(plan);
        const Causality played = CausalityPlayer(plan).play();
        EXPECT_TRUE(played.finished);
        const bool down = kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
        for (std::uint32_t m = 0; m < plan.members; ++m) {
          EXPECT_TRUE(down ? played.rests_on[m][root] : played.rests_on[root][m]);
          const Bytes whole = m == root ? 0 : n * 100;
          if (kind == CollectiveKind::broadcast) {
            EXPECT_EQ(played.received[m], whole);
          }
          if (kind == CollectiveKind::reduce) {
            EXPECT_EQ(played.sent[m], whole);
          }
          if (in_parts(kind) && m != root) {  // its own shard stays here, those of others pass
            EXPECT_EQ(played.received[m] - played.sent[m], down ? 100 : -100);
          }
        }
        if (in_parts(kind)) {
          EXPECT_EQ(down ? played.sent[root] : played.received[root], (n - 1) * 100);
        }
        EXPECT_LE(played.depth, algorithm == "flat" ? 1U : static_cast<std::uint32_t>(std::ceil(std::log2(n))));
      }
    }
  }
}

// The root is only a matter of names: times do not change, whoever it is.
TEST(Rooted, AnyRootTakesAsLong) {
  for (const std::string algorithm : {"flat", "binomial"}) {
    for (const CollectiveKind kind : rooted) {
      for (std::uint32_t root = 0; root < 7; ++root) {
        EXPECT_EQ(time_of(spec_of(algorithm, kind, 7, 7000, root)), time_of(spec_of(algorithm, kind, 7, 7000)));
      }
    }
  }
}

TEST(Binomial, StaysCompact) {
  EXPECT_EQ(pattern_of(spec_of("binomial", CollectiveKind::scatter, 4096, 1 << 20)).roles.size(), 13u);
  EXPECT_EQ(pattern_of(spec_of("binomial", CollectiveKind::scatter, 4096, 1 << 20)).ports, 12u);
}

TEST(Rooted, RefusesWhatItDoesNotCover) {
  EXPECT_EQ(problem_of(spec_of("flat", CollectiveKind::all_reduce, 4, 1)),
            "collectives.algorithm: 'flat' does not do all-reduce (it does broadcast, reduce, gather and scatter)");
  EXPECT_EQ(problem_of(spec_of("binomial", CollectiveKind::barrier, 4, 1)),
            "collectives.algorithm: 'binomial' does not do barrier (it does broadcast, reduce, gather and scatter)");
  EXPECT_EQ(problem_of(spec_of("flat", CollectiveKind::gather, 4, 1, 4)),
            "collectives.root: expected a rank of 0 to 3, found 4");
  EXPECT_EQ(problem_of(spec_of("binomial", CollectiveKind::gather, 4, -1)),
            "collectives.bytes: expected 0 or more, found -1");
}

}  // namespace
}  // namespace stepsim
