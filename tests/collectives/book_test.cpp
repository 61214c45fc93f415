// Worked answers of "How To Scale Your Model", chapter "Sharded matrices and how to multiply them", played. v5e and
// v4p: 45 GB/s one way per link, about 1 us a hop. The book's V/W is what whole shards take on an even ring; halves
// save the half step that is used one way: (N-1)/N of it. Values in seconds as printed or, where the printed one is
// rounded, recomputed from the exercise's numbers.
#include <gtest/gtest.h>

#include "tests/collectives/play.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
constexpr std::int64_t w = 45'000'000'000;
constexpr double rounding = 1e-11;  // a picosecond up per transfer on the path, and the digits given

double seconds(const CollectiveSpec& spec, const Surroundings& around) {
  return to_seconds(play(spec, around).end);
}

CollectiveSpec gather(std::vector<GroupAxis> shape, Bytes bytes, RingStyle style) {
  return {.kind = CollectiveKind::all_gather, .shape = std::move(shape), .bytes = bytes, .ring = style};
}

// Pop quiz 2: AllGather_Y of bf16[2048, 8192], Y = 4 on v5e: 33,554,432 bytes; if there were a ring, V/W = 372.8 us.
TEST(Book, PopQuiz2OnARing) {
  EXPECT_NEAR(seconds(gather({ring_of(4)}, 33'554'432, RingStyle::whole_shards), {.rate = w}), 3.728270222e-4,
              rounding);
  EXPECT_NEAR(seconds(gather({ring_of(4)}, 33'554'432, RingStyle::halves), {.rate = w}), 2.796202667e-4, rounding);
}

// The real 4 chips are a line: 3 hops of V/4 one way, 560 us; 562 us with the hops' latency.
TEST(Book, PopQuiz2OnALine) {
  const CollectiveSpec spec = gather({line_of(4)}, 33'554'432, RingStyle::halves);
  EXPECT_NEAR(seconds(spec, {.rate = w}), 5.592405333e-4, rounding);
  EXPECT_NEAR(seconds(spec, {.rate = w, .latency = us}), 5.622405333e-4, rounding);
}

// The same with bf16[256, 256]: latency-bound. The book counts max(1 us, 0.73 us) a hop: 3 us; added up: 5.18 us.
TEST(Book, PopQuiz2Small) {
  const CollectiveSpec spec = gather({line_of(4)}, 131'072, RingStyle::halves);
  Surroundings around{.rate = w, .latency = us};
  EXPECT_NEAR(seconds(spec, around), 5.184533333e-6, rounding);
  around.latency_model = LatencyModel::max;
  EXPECT_NEAR(seconds(spec, around), 3.0e-6, rounding);
}

// Question 2 (v4p, 4x4x4, bf16[1024, 4096] = 8,388,608 bytes). a: AllGather_X of [B_X, D_Y]: a quarter on a ring of
// 4.
TEST(Book, Question2a) {
  EXPECT_NEAR(seconds(gather({ring_of(4)}, 2'097'152, RingStyle::whole_shards), {.rate = w}), 2.330168889e-5, rounding);
  EXPECT_NEAR(seconds(gather({ring_of(4)}, 2'097'152, RingStyle::halves), {.rate = w}), 1.747626667e-5, rounding);
}

// b: AllGather_XY: the book's V/2W is 46.6 us; the least possible is 15/16 of it, 43.69 us, which halves reach. Whole
// shards take 2 steps of 1 and 2 of 4 shards: 10/8 of V/2W.
TEST(Book, Question2b) {
  const std::vector<GroupAxis> xy{ring_of(4), ring_of(4)};
  EXPECT_NEAR(seconds(gather(xy, 8'388'608, RingStyle::halves), {.rate = w}), 4.369066667e-5, rounding);
  EXPECT_NEAR(seconds(gather(xy, 8'388'608, RingStyle::whole_shards), {.rate = w}), 1.25 * 4.660337778e-5, rounding);
}

// c: AllReduce_Z of [B_X, D_Y]: twice the all-gather of a sixteenth.
TEST(Book, Question2c) {
  CollectiveSpec spec = gather({ring_of(4)}, 524'288, RingStyle::whole_shards);
  spec.kind = CollectiveKind::all_reduce;
  EXPECT_NEAR(seconds(spec, {.rate = w}), 1.165084444e-5, rounding);
  spec.ring = RingStyle::halves;
  EXPECT_NEAR(seconds(spec, {.rate = w}), 8.738133333e-6, rounding);
}

// b on all three axes after resharding for free (fun fact): 31.1 us by V/3W; halves take 63/64 of it. A shard of
// 131,072 bytes in three parts is up to a byte a shard larger than a third: 63 bytes, 1.4 ns.
TEST(Book, Question2bOnThreeAxes) {
  const std::vector<GroupAxis> xyz{ring_of(4), ring_of(4), ring_of(4)};
  EXPECT_NEAR(seconds(gather(xyz, 8'388'608, RingStyle::halves), {.rate = w}), 3.106891852e-5 * 63 / 64, 1.4e-9);
}

// Question 3: 256 bytes over a ring of 4 are two hops of latency: 2 us, and 64 bytes twice.
TEST(Book, Question3) {
  const CollectiveSpec spec = gather({ring_of(4)}, 256, RingStyle::whole_shards);
  EXPECT_NEAR(seconds(spec, {.rate = w, .latency = us}), 2.002844444e-6, rounding);
  EXPECT_NEAR(seconds(spec, {.rate = w, .latency = us, .latency_model = LatencyModel::max}), 2.0e-6, rounding);
}

}  // namespace
}  // namespace stepsim
