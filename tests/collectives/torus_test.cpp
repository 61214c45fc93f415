// Products of axes: loads, times and the true bound (ingress: V (N-1)/N / (M W)).
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "collectives/balance.h"
#include "tests/collectives/play.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
constexpr std::int64_t gigabyte_per_s = 1'000'000'000;  // a byte is 1000 ps

CollectiveSpec gather_on_rings(const std::vector<int>& extents, Bytes bytes_per_member, RingStyle style) {
  CollectiveSpec spec{.shape = {}, .ring = style};
  spec.bytes = bytes_per_member;
  for (const int n : extents) {
    spec.shape.push_back(ring_of(n));
    spec.bytes *= n;
  }
  return spec;
}

// Bytes that every link would carry if all 2M links into a member shared its N-1 foreign shards.
double perfect_load(const CollectiveSpec& spec) {
  const double n = members(spec.shape);
  return static_cast<double>(spec.bytes) * (n - 1) / n / (2.0 * static_cast<double>(spec.shape.size()));
}

double busiest_over_perfect(const CollectiveSpec& spec) {
  const std::vector<Bytes> loads = axis_loads(spec);
  return static_cast<double>(*std::max_element(loads.begin(), loads.end())) / perfect_load(spec);
}

double time_over_perfect(const CollectiveSpec& spec) {
  return static_cast<double>(play(spec, {.rate = gigabyte_per_s}).end.count()) / 1000 / perfect_load(spec);
}

// Equal extents: every axis carries the same and no two parts meet: halves reach the bound to the picosecond.
TEST(Torus, HalvesOnEqualExtentsReachTheIngressBound) {
  for (const auto& extents : std::vector<std::vector<int>>{{4, 4}, {8, 8}, {4, 4, 4}, {6, 6, 6}, {3, 3, 3}}) {
    CollectiveSpec spec = gather_on_rings(extents, 12 * 5, RingStyle::halves);
    EXPECT_DOUBLE_EQ(time_over_perfect(spec), 1);
    EXPECT_DOUBLE_EQ(busiest_over_perfect(spec), 1);
    spec.kind = CollectiveKind::reduce_scatter;
    EXPECT_DOUBLE_EQ(time_over_perfect(spec), 1);
    spec.kind = CollectiveKind::all_reduce;
    EXPECT_DOUBLE_EQ(time_over_perfect(spec), 2);
  }
}

// Whole shards on three axes of 4: 2 steps of 1, 4 and 16 shards a part: 42/32 = 1.3125 V/(MW).
TEST(Torus, WholeShardsOnACubeOfFour) {
  const CollectiveSpec spec = gather_on_rings({4, 4, 4}, 300, RingStyle::whole_shards);
  const double v_over_mw_ps = static_cast<double>(spec.bytes) * 1000 / 6;
  EXPECT_DOUBLE_EQ(static_cast<double>(play(spec, {.rate = gigabyte_per_s}).end.count()), 1.3125 * v_over_mw_ps);
  // Latency of the book, sum of N_i / 2 hops: 6 us.
  EXPECT_EQ(play(spec, {.rate = gigabyte_per_s, .latency = us}).end, play(spec, {.rate = gigabyte_per_s}).end + us * 6);
}

// Equal parts in cyclic order on unequal axes, worked by hand in shards of a part, (n-1) x shards gathered before:
// 16x20x28: z carries 27 (1 + 20 + 320) = 9207 of 8959 on average: 1.0277. 16x16x4: y carries 15 (1 + 16 + 64) = 1215
// of 1023: 1.188, and takes 1227 (1.1994) as it stands idle for 12 while x is shared at the start.
TEST(Torus, EqualPartsOverloadOneOfUnequalAxes) {
  EXPECT_NEAR(busiest_over_perfect(gather_on_rings({16, 20, 28}, 600, RingStyle::halves)), 9207.0 / 8959, 1e-9);
  EXPECT_NEAR(busiest_over_perfect(gather_on_rings({16, 16, 4}, 600, RingStyle::halves)), 1215.0 / 1023, 1e-9);
  const double played = time_over_perfect(gather_on_rings({16, 16, 4}, 6000, RingStyle::halves));
  EXPECT_NEAR(played, 1227.0 / 1023, 5e-4);
  EXPECT_NEAR(played, 1.20, 1e-3);
}

// The best w of parts (x y z), (y z x), (z x y) on 16x16x4 keeps axes and parts below t: y carries w1 240 + w2 15 +
// w3 960 and parts take 1023 w. With w1 = w2: t = 1023 w1, w3 = 1 - 2 w1: 1023 w1 = 255 w1 + 960 (1 - 2 w1), so w1 =
// 960 / 2688 = 0.35714 and t = 1.0714 of a third.
TEST(Torus, WeightedPartsDoBetter) {
  CollectiveSpec spec = gather_on_rings({16, 16, 4}, 6000, RingStyle::halves);
  spec.weighted_parts = true;
  EXPECT_NEAR(busiest_over_perfect(spec), 3 * 960.0 / 2688, 1e-3);
  EXPECT_NEAR(time_over_perfect(spec), 3 * 960.0 / 2688, 1e-3);
  CollectiveSpec pod = gather_on_rings({16, 20, 28}, 600, RingStyle::halves);
  pod.weighted_parts = true;
  EXPECT_LT(busiest_over_perfect(pod), 1.011);
  for (const auto& extents : std::vector<std::vector<int>>{{16, 4}, {8, 4, 2}, {12, 8, 4}, {4, 4, 8}}) {
    for (const RingStyle style : {RingStyle::halves, RingStyle::whole_shards}) {
      CollectiveSpec weighted = gather_on_rings(extents, 6000, style);
      const CollectiveSpec equal = weighted;
      weighted.weighted_parts = true;
      EXPECT_LT(time_over_perfect(weighted), time_over_perfect(equal)) << extents[0] << "x" << extents[1];
    }
  }
}

// Nothing to gain where axes are alike.
TEST(Torus, WeightedPartsOfEqualAxesAreEqual) {
  CollectiveSpec spec = gather_on_rings({4, 4, 4}, 600, RingStyle::halves);
  const std::vector<Bytes> equal = axis_loads(spec);
  spec.weighted_parts = true;
  EXPECT_EQ(axis_loads(spec), equal);
  EXPECT_DOUBLE_EQ(time_over_perfect(spec), 1);
}

// A line costs as much as a ring of two links less: the weights move bytes to the ring.
TEST(Torus, WeightsSpareTheLine) {
  CollectiveSpec spec{.shape = {ring_of(8), line_of(8)}, .bytes = 64 * 6000};
  const Surroundings around{.rate = gigabyte_per_s};
  const std::vector<Bytes> equal = axis_loads(spec);
  const Picoseconds before = play(spec, around).end;
  EXPECT_EQ(equal[1], 2 * equal[0]);
  spec.weighted_parts = true;
  EXPECT_LT(axis_loads(spec)[1], equal[1]);
  EXPECT_LE(play(spec, around).end, before);
}

// Value of a matrix game with costs {{3, 1}, {1, 2}}: the columns mix 1/3 : 2/3 to 5/3 (von Neumann's rule for 2x2).
TEST(Balance, MakesTheGreatestCostLeast) {
  const Balance found = balance({{3, 1}, {1, 2}});
  EXPECT_NEAR(found.greatest, 5.0 / 3, 1e-12);
  EXPECT_NEAR(found.weights[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(found.weights[1], 2.0 / 3, 1e-12);
}

std::vector<CollectiveSpec> random_specs(int count) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<CollectiveSpec> specs;
  for (int i = 0; i < count; ++i) {
    CollectiveSpec spec{.kind = static_cast<CollectiveKind>(pick(0, 2)), .shape = {}, .bytes = pick(1, 2'000'000)};
    spec.ring = static_cast<RingStyle>(pick(0, 2));
    spec.weighted_parts = pick(0, 1) == 1;
    const int axes = pick(1, 3);
    for (int a = 0; a < axes; ++a) spec.shape.push_back(pick(0, 2) > 0 ? ring_of(pick(2, 5)) : line_of(pick(2, 5)));
    specs.push_back(spec);
  }
  return specs;
}

double bound_ps(const CollectiveSpec& spec, double rate, double latency) {
  const std::vector<double> rates(spec.shape.size(), rate);
  const std::vector<double> latencies(spec.shape.size(), latency);
  return collective_algorithms().at("algorithm", spec.algorithm).bound(spec, {rates, latencies}) * 1e12;
}

// Exact on one axis up to the rounding of each transfer to a picosecond; never below it on several, nor below the
// ingress bound of a member.
TEST(Torus, NeverFasterThanTheBound) {
  for (const CollectiveSpec& spec : random_specs(100)) {
    const Picoseconds end = play(spec, {.rate = 7 * gigabyte_per_s, .latency = us}).end;
    const double bound = bound_ps(spec, 7e9, 1e-6);
    const auto played = static_cast<double>(end.count());
    EXPECT_GE(played, bound - 1);
    if (spec.shape.size() == 1) {
      EXPECT_LE(played, bound + 2 * members(spec.shape));
    }
    const double n = members(spec.shape);
    const double ingress =
        static_cast<double>(spec.bytes) * (n - 1) / n / (7e9 * 2 * static_cast<double>(spec.shape.size()));
    EXPECT_GE(played, ingress * 1e12 - 1);
  }
}

// The closed form of the loads is what the links carried, to the byte.
TEST(Torus, LinksCarryTheLoadsOfTheirAxes) {
  for (const CollectiveSpec& spec : random_specs(50)) {
    const Played played = play(spec, {.rate = gigabyte_per_s});
    const std::vector<Bytes> loads = axis_loads(spec);
    for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
      Bytes most = 0;
      for (std::uint32_t m = 0; m < members(spec.shape); ++m) {
        for (const std::uint32_t down : {0u, 1u})
          most = std::max(most, played.carried[link_number(m, spec.shape.size(), a, down)]);
      }
      EXPECT_EQ(most, loads[a]);
    }
  }
}

// One late member of a 4x4x4: nobody leaves before it came and its shard reached the member's corner, and it needs as
// long as its links for all the other shards. (It can end a little later than lateness + the time of all in time:
// parts that are out of step meet on links.)
TEST(Torus, NobodyLeavesBeforeALateMemberCame) {
  const CollectiveSpec spec = gather_on_rings({4, 4, 4}, 600, RingStyle::halves);
  const Played late = play(spec, {.rate = gigabyte_per_s, .latency = us, .late = {{21, us * 50}}});
  for (const Picoseconds left : late.left) EXPECT_GT(left, us * 51);
  EXPECT_GE(static_cast<double>((late.left[21] - us * 50).count()), perfect_load(spec) * 1000);
}

TEST(Torus, TwiceAsFastLinksHalveTheTime) {
  const CollectiveSpec spec = gather_on_rings({4, 6, 2}, 600, RingStyle::halves);
  const Picoseconds slow = play(spec, {.rate = gigabyte_per_s, .latency = us}).end;
  const Picoseconds fast = play(spec, {.rate = 2 * gigabyte_per_s, .latency = Picoseconds(500'000)}).end;
  EXPECT_NEAR(static_cast<double>((fast * 2).count()), static_cast<double>(slow.count()), 2 * (3 + 5 + 1));
}

}  // namespace
}  // namespace stepsim
