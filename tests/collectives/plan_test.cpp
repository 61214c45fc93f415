// What a plan must be whatever the clock does: whole, able to finish, complete in what every member rests on, and
// exact in bytes.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/play.h"

namespace stepsim {
namespace {

TransferPlan plan_of(const CollectiveSpec& spec) {
  return collective_algorithms().at("algorithm", spec.algorithm).make(spec);
}

std::string describe(const CollectiveSpec& spec) {
  std::string text = to_string(spec.kind) + " " + to_string(spec.ring) + (spec.weighted_parts ? " weighted" : "");
  for (const GroupAxis& axis : spec.shape) text += (axis.closed ? " ring " : " line ") + std::to_string(axis.extent);
  return text + ", " + std::to_string(spec.bytes) + " bytes";
}

// Small shapes of one to three axes, rings and lines mixed, arrays from a byte a member up to large and uneven ones.
std::vector<CollectiveSpec> many_specs() {
  std::mt19937 random(2026);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<CollectiveSpec> specs;
  for (int i = 0; i < 120; ++i) {
    CollectiveSpec spec;
    spec.kind = static_cast<CollectiveKind>(pick(0, 2));
    spec.ring = static_cast<RingStyle>(pick(0, 2));
    spec.weighted_parts = pick(0, 1) == 1;
    const int axes = pick(1, 3);
    for (int a = 0; a < axes; ++a) spec.shape.push_back(pick(0, 1) == 1 ? ring_of(pick(2, 4)) : line_of(pick(2, 4)));
    spec.bytes = pick(0, 3) == 0 ? pick(1, 500) : Bytes{100000} * pick(1, 50) + pick(0, 99);
    specs.push_back(spec);
  }
  return specs;
}

TEST(Plan, IsWholeAndFinishes) {
  for (const CollectiveSpec& spec : many_specs()) {
    const TransferPlan plan = plan_of(spec);
    EXPECT_NO_THROW(check(plan)) << describe(spec);
    EXPECT_TRUE(CausalityPlayer(plan).play().finished) << describe(spec);
  }
}

// All-gather: every shard; reduce-scatter: a share of every member. Arrays so small that a shard is less than the
// parts are cut the same way.
TEST(Plan, EveryMemberRestsOnEveryOther) {
  for (const CollectiveSpec& spec : many_specs()) {
    const TransferPlan plan = plan_of(spec);
    const Causality played = CausalityPlayer(plan).play();
    for (const std::vector<bool>& rests_on : played.rests_on)
      EXPECT_EQ(rests_on, std::vector<bool>(plan.members, true)) << describe(spec);
  }
}

// What an all-reduce gathers are complete sums: each lane's last transfer rests on every member.
TEST(Plan, AllReduceGathersCompleteSums) {
  for (CollectiveSpec spec : many_specs()) {
    spec.kind = CollectiveKind::all_reduce;
    EXPECT_TRUE(CausalityPlayer(plan_of(spec)).play().last_sends_rest_on_all) << describe(spec);
  }
}

// Definition of the operations: an all-gather brings every member the other N-1 shards, no byte more; in a
// reduce-scatter, its time reverse, every member gives as much away; an all-reduce does both.
TEST(Plan, MovesEveryShardOnce) {
  for (const CollectiveSpec& spec : many_specs()) {
    const TransferPlan plan = plan_of(spec);
    const Causality played = CausalityPlayer(plan).play();
    const Bytes n = plan.members;
    const Bytes others = (n - 1) * ((spec.bytes + n - 1) / n);
    Bytes total = 0;
    for (std::uint32_t m = 0; m < plan.members; ++m) {
      EXPECT_EQ(bytes_sent(plan, m), played.sent[m]) << describe(spec);
      if (spec.kind == CollectiveKind::all_gather) {
        EXPECT_EQ(played.received[m], others) << describe(spec);
      }
      if (spec.kind == CollectiveKind::reduce_scatter) {
        EXPECT_EQ(played.sent[m], others) << describe(spec);
      }
      total += played.sent[m];
    }
    EXPECT_EQ(total, (spec.kind == CollectiveKind::all_reduce ? 2 : 1) * n * others) << describe(spec);
  }
}

// Steps of the ring and line laws (Patarasuk & Yuan 2009; line: a shard crosses at most N-1 links).
TEST(Plan, LongestChainIsTheNumberOfSteps) {
  struct Row {
    GroupAxis axis;
    RingStyle style;
    std::uint32_t steps;
  };
  const RingStyle any = RingStyle::halves;
  for (const Row& row :
       {Row{ring_of(8), RingStyle::one_way, 7}, Row{ring_of(8), RingStyle::halves, 7},
        Row{ring_of(8), RingStyle::whole_shards, 4}, Row{ring_of(7), RingStyle::whole_shards, 3},
        Row{ring_of(2), RingStyle::whole_shards, 1}, Row{line_of(8), any, 7}, Row{line_of(2), any, 1}}) {
    CollectiveSpec spec{.shape = {row.axis}, .bytes = 5600, .ring = row.style};
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      spec.kind = kind;
      EXPECT_EQ(CausalityPlayer(plan_of(spec)).play().depth, row.steps) << describe(spec);
    }
    spec.kind = CollectiveKind::all_reduce;
    EXPECT_EQ(CausalityPlayer(plan_of(spec)).play().depth, 2 * row.steps) << describe(spec);
  }
}

// The law of the line: the link from i up carries i+1 shards in an all-gather, N-1-i in a reduce-scatter.
TEST(Plan, LinesLoadTheirLinksByPosition) {
  const CollectiveSpec gather{.kind = CollectiveKind::all_gather, .shape = {line_of(5)}, .bytes = 500};
  const CollectiveSpec reduce{.kind = CollectiveKind::reduce_scatter, .shape = {line_of(5)}, .bytes = 500};
  const Played gathered = play(gather, {.rate = 1'000'000'000});
  const Played reduced = play(reduce, {.rate = 1'000'000'000});
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gathered.carried[link_number(i, 1, 0, 0)], (i + 1) * 100);
    EXPECT_EQ(reduced.carried[link_number(i, 1, 0, 0)], (4 - i) * 100);
    EXPECT_EQ(gathered.carried[link_number(4 - i, 1, 0, 1)], (i + 1) * 100);
    EXPECT_EQ(reduced.carried[link_number(4 - i, 1, 0, 1)], (4 - i) * 100);
  }
}

// Halves and parts of a shard differ by at most a byte: 7 bytes are 4 and 3; on three axes 3, 2, 2.
TEST(Plan, PartsAndHalvesDifferByAtMostAByte) {
  const CollectiveSpec ring{.shape = {ring_of(4)}, .bytes = 28, .ring = RingStyle::halves};
  const Played played = play(ring, {.rate = 1'000'000'000});
  EXPECT_EQ(played.carried[link_number(0, 1, 0, 0)], 3 * 4);
  EXPECT_EQ(played.carried[link_number(0, 1, 0, 1)], 3 * 3);
  const CollectiveSpec cube{.shape = {ring_of(2), ring_of(2), ring_of(2)}, .bytes = 56, .ring = RingStyle::one_way};
  std::vector<Bytes> first;
  const TransferPlan plan = plan_of(cube);
  for (const stepsim::Run& run : plan.roles[0].runs) first.push_back(run.bytes);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (std::vector<Bytes>{2, 2, 3, 4, 4, 6, 8, 8, 12}));  // part x 1, 2, 4 shards
}

// One role round rings whatever their size; one per position on lines; 3 parts x 3 axes x 2 directions on a pod.
TEST(Plan, StaysCompact) {
  const CollectiveSpec pod{.shape = {ring_of(16), ring_of(20), ring_of(28)}, .bytes = 1 << 30};
  const TransferPlan plan = plan_of(pod);
  EXPECT_EQ(plan.members, 8960u);
  EXPECT_EQ(plan.roles.size(), 1u);
  EXPECT_EQ(plan.ports, 18u);
  EXPECT_NO_THROW(check(plan));
  const CollectiveSpec mixed{.shape = {ring_of(16), line_of(5)}, .bytes = 1 << 20};
  EXPECT_EQ(plan_of(mixed).roles.size(), 5u);
}

TEST(Plan, OneMemberSendsNothing) {
  const TransferPlan plan = plan_of({.shape = {}, .bytes = 1000});
  EXPECT_EQ(plan.members, 1u);
  EXPECT_EQ(bytes_sent(plan, 0), 0);
  EXPECT_NO_THROW(check(plan));
}

// Axes of one member change nothing but the numbers of the axes.
TEST(Plan, AxesOfOneMemberAreLeftOut) {
  const TransferPlan plan = plan_of({.shape = {ring_of(1), ring_of(4), line_of(1)}, .bytes = 400});
  EXPECT_EQ(plan.members, 4u);
  EXPECT_EQ(plan.ports, 2u);
  EXPECT_EQ(plan.port[0].axis, 1);
  EXPECT_EQ(bytes_sent(plan, 0), 300);
}

TEST(Plan, ShardsArePaddedUp) {
  EXPECT_EQ(shard_bytes(8, 4), 2);
  EXPECT_EQ(shard_bytes(9, 4), 3);
  EXPECT_EQ(shard_bytes(0, 4), 0);
}

void expect_problem(const CollectiveSpec& spec, const std::string& key, const std::string& part_of_message) {
  try {
    plan_of(spec);
    FAIL() << "expected an error that mentions " << part_of_message;
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().at(0).key, key);
    EXPECT_NE(error.problems().at(0).message.find(part_of_message), std::string::npos)
        << error.problems().at(0).message;
  }
}

TEST(Plan, RefusesWhatItDoesNotCover) {
  expect_problem({.kind = CollectiveKind::point_to_point, .shape = {}}, "collectives.algorithm", "point-to-point");
  expect_problem({.shape = {ring_of(0)}}, "collectives.shape", "found 0");
  expect_problem({.shape = {ring_of(70000), ring_of(70000)}}, "collectives.shape", "2^32");
  expect_problem({.shape = {ring_of(4)}, .bytes = -1}, "collectives.bytes", "-1");
  expect_problem({.shape = {}, .algorithm = "thorus"}, "algorithm", "did you mean 'torus'");
  expect_problem({.shape = {}, .algorithm = "point-to-point"}, "collectives.algorithm", "it does point-to-point");
  expect_problem({.kind = CollectiveKind::point_to_point,
                  .shape = {ring_of(3)},
                  .algorithm = "point-to-point",
                  .root = 1,
                  .to = 1},
                 "collectives.shape", "expected two of 3 members, found 1 and 1");
  expect_problem(
      {.kind = CollectiveKind::point_to_point, .shape = {ring_of(3)}, .algorithm = "point-to-point", .to = 3},
      "collectives.shape", "expected two of 3 members, found 0 and 3");
}

}  // namespace
}  // namespace stepsim
