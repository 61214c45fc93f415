// Open lines, played: (N-1) (latency + shard / w) for all-gather and reduce-scatter, about twice that for all-reduce.
#include <gtest/gtest.h>

#include "tests/collectives/play.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};

// "How To Scale Your Model", no wraparound: N-1 hops of V/N at the one-way rate. w = 1 GB/s: 1000 bytes are 1 us.
TEST(Line, TakesNMinusOneShardsAndHops) {
  for (const int n : {2, 3, 4, 7}) {
    for (const std::int64_t latency : {0, 1}) {
      CollectiveSpec spec{.shape = {line_of(n)}, .bytes = 1000 * n};
      const Surroundings around{.rate = 1'000'000'000, .latency = us * latency};
      const Picoseconds phase = us * ((n - 1) * (1 + latency));
      EXPECT_EQ(play(spec, around).end, phase) << n;
      spec.kind = CollectiveKind::reduce_scatter;
      EXPECT_EQ(play(spec, around).end, phase) << n;
      spec.kind = CollectiveKind::all_reduce;
      EXPECT_EQ(play(spec, around).end, phase * 2) << n;
    }
  }
}

// Twice the time of whole shards on the ring that a wrap link would make, less the shard nobody needs: (N-1)/N V/w
// against V/2w.
TEST(Line, LosingTheWrapCostsAboutTwice) {
  const CollectiveSpec line{.shape = {line_of(16)}, .bytes = 16'000};
  const CollectiveSpec ring{.shape = {ring_of(16)}, .bytes = 16'000, .ring = RingStyle::whole_shards};
  const Surroundings around{.rate = 1'000'000'000};
  EXPECT_EQ(play(line, around).end.count() * 16, play(ring, around).end.count() * 30);
}

// Members in the middle have everything sooner: member i waits for the farther end only, but must also pass on what
// the others need. Of 4 shards at 1 us: member 1 receives 1 from below and 2 from above; it sends 2 up, 3 down.
TEST(Line, MembersLeaveWhenTheirPartIsDone) {
  const CollectiveSpec spec{.shape = {line_of(4)}, .bytes = 4000};
  const Played played = play(spec, {.rate = 1'000'000'000});
  EXPECT_EQ(played.left, (std::vector<Picoseconds>{us * 3, us * 3, us * 3, us * 3}));
  const Played slower = play(spec, {.rate = 1'000'000'000, .latency = us});
  // Own sends down: shard 1 at 0..1, shard 2 (here at 2) 2..3, shard 3 (here at 4) 4..5: drained at 5; ends wait for
  // 6.
  EXPECT_EQ(slower.left, (std::vector<Picoseconds>{us * 6, us * 5, us * 5, us * 6}));
}

// The style of rings means nothing on a line.
TEST(Line, RingStyleDoesNotMatter) {
  CollectiveSpec spec{.shape = {line_of(5)}, .bytes = 5 * 777};
  const Surroundings around{.rate = 1'000'000'000, .latency = us};
  const std::vector<Picoseconds> left = play(spec, around).left;
  for (const RingStyle style : {RingStyle::one_way, RingStyle::whole_shards}) {
    spec.ring = style;
    EXPECT_EQ(play(spec, around).left, left);
  }
}

}  // namespace
}  // namespace stepsim
