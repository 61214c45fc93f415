// Collectives on the clock, from plans written by hand. s: streaming time of a shard, l: latency of a link, w = s + l.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/critical_path.h"
#include "tests/sim/small_program.h"

namespace stepsim {
namespace {

constexpr Picoseconds s = ps(us);  // 1000 bytes at 1 GB/s
constexpr Picoseconds l = ps(300 * ns);
constexpr Picoseconds w = s + l;

/// Members of one group; each arrives after its own time of computing. Op 0 arrives, op 1 is the collective.
Small group(const TransferPlan& plan, const std::vector<RouteId>& routes, Small made,
            const std::vector<Picoseconds>& arrivals) {
  made.add_collective(made.communicator("ring", plan.members), plan, routes);
  for (const Picoseconds arrival : arrivals) {
    const std::uint32_t program = made.new_program();
    made.compute("compute", arrival);
    made.collective("net", 0, {{0}});
    made.add_class(program);
  }
  return made;
}

Small ring(std::uint32_t members, Bytes shard, const std::vector<Picoseconds>& arrivals) {
  Small made;
  const auto routes = made.ring_routes(members, GB, l);
  return group(ring_plan(members, shard), routes, made, arrivals);
}

std::vector<Picoseconds> ends(const Timeline& t) {
  std::vector<Picoseconds> all;
  for (ClassId who = 0; who < t.classes; ++who) all.push_back(t.at(0, who, 1).end);
  return all;
}

// Launching delays each member by as much as it takes: late ones are as late as before.
TEST(OpenCollectives, ALaunchComesBeforeTheFirstTransfer) {
  Small made = ring(4, 1000, {ps(0), ps(2 * us), ps(0), ps(0)});
  const std::vector<Picoseconds> at_once = ends(made.play());
  made.all.collectives[0].launch = ps(7 * us);
  const Timeline t = made.play();
  for (ClassId who = 0; who < 4; ++who) {
    EXPECT_EQ(ends(t)[who], at_once[who] + ps(7 * us));
    EXPECT_EQ(t.at(0, who, 1).start, t.at(0, who, 0).end) << "it starts with the launch";
  }
  // What a member waits for is a late peer, not its own launch.
  EXPECT_FALSE(t.waits.empty());
  for (const Wait& wait : t.waits) EXPECT_GE(wait.start, ps(7 * us));
}

// Alone it takes as long as it launches and streams: nothing of that is contention.
TEST(OpenCollectives, ALaunchIsNoContention) {
  Small made = ring(4, 1000, std::vector<Picoseconds>(4));
  made.all.collectives[0].launch = ps(7 * us);
  for (const PathPiece& piece : critical_path(made.all, made.network, made.play(), {.exact_steps = 1})) {
    EXPECT_EQ(piece.contention, ps(0));
  }
}

// Law of the ring: N - 1 steps of a shard each (Patarasuk & Yuan 2009).
TEST(OpenCollectives, ARingAllGatherTakesNMinusOneStepsOfAShard) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    const Small made = ring(n, 1000, std::vector<Picoseconds>(n));
    const Timeline t = made.play();
    for (const Picoseconds end : ends(t)) EXPECT_EQ(end, w * (n - 1));
    EXPECT_EQ(t.counters.transfers, n * (n - 1));
    EXPECT_TRUE(t.waits.empty());
    for (const LinkUse& use : t.links_at_end.at(0)) {
      EXPECT_EQ(use.bytes, 1000 * (n - 1)) << "each link carries every shard but one";
      EXPECT_EQ(use.busy, s * (n - 1));
    }
  }
}

/// Member 0 sends three shards through port 0; lane i of member 1 answers through port i + 1 when it has needs[i] of
/// them, and the answer of lane `longest` is 100 shards long, those of the others one.
TransferPlan answers(const std::array<std::int32_t, 3>& needs, std::uint32_t longest) {
  TransferPlan plan;
  plan.members = 2;
  plan.ports = 4;
  Role asks;
  asks.lanes = {{0, 1}};
  asks.runs = {{.port = 0, .count = 3, .bytes = 1000, .first_need = 0, .needs = 0}};
  Role answers;
  for (std::uint32_t i = 0; i < 3; ++i) {
    answers.lanes.push_back({i, 1});
    answers.runs.push_back(
        {.port = i + 1, .count = 1, .bytes = i == longest ? 100'000 : 1000, .first_need = i, .needs = 1});
    answers.needs.push_back({.port = 0, .base = needs[i], .stride = 0});
  }
  plan.roles = {asks, answers};
  plan.role_of = {0, 1};
  for (std::uint32_t member = 0; member < 2; ++member) {
    for (std::uint32_t port = 0; port < 4; ++port) plan.port.push_back({1 - member, port, -1, 0});
  }
  return plan;
}

// The lanes of member 1 wait for the same port in any order. Delivery k comes at k s + l; the longest answer takes
// 100 s + l from when its lane has what it needs.
TEST(OpenCollectives, EachLaneStartsWhenItHasWhatItNeedsOfAPortThatOthersWaitForToo) {
  std::array<std::int32_t, 3> needs{1, 2, 3};
  do {
    for (std::uint32_t longest = 0; longest < 3; ++longest) {
      Small made;
      const auto routes = made.ring_routes(8, GB, l);  // a link for each member and port
      const Timeline t = group(answers(needs, longest), routes, made, {ps(0), ps(0)}).play();
      EXPECT_EQ(ends(t)[0], s * needs[longest] + l + s * 100 + l) << "longest: " << longest;
    }
  } while (std::next_permutation(needs.begin(), needs.end()));
}

TEST(OpenCollectives, AnEmptyArrayCostsItsLatencies) {
  const Timeline t = ring(5, 0, std::vector<Picoseconds>(5)).play();
  for (const Picoseconds end : ends(t)) EXPECT_EQ(end, l * 4);
}

// Ring 0 -> 1 -> 2 -> 3 -> 0; member 2 arrives at D. No barrier: what does not need member 2 goes on.
//   0 -> 1 sends at 0 and w (3's shard); its last waits for 2's shard by way of 3: D + 2w, there at D + 3w.
//   1 -> 2 can start at D only: D, D + s, D + 2s (it has all by then); 2 has its last at D + 3s + l.
//   2 -> 3 sends at D; then what 1 sent: D + w and D + 2s + l; 3 has its last at D + 3s + 2l.
//   3 -> 0 sends at 0; then 2's at D + w and what came after: D + 2w; 0 has its last at D + 3w.
TEST(OpenCollectives, ALateMemberDelaysOthersStepByStep) {
  constexpr Picoseconds d = ps(10 * us);
  const Timeline t = ring(4, 1000, {ps(0), ps(0), d, ps(0)}).play();
  EXPECT_EQ(ends(t), (std::vector<Picoseconds>{d + w * 3, d + w * 3, d + s * 3 + l, d + s * 3 + l * 2}));
  // Nothing in flight to or from: 0 from its second send's drain until 3 sends again; 1 from the second shard's
  // delivery until it may send; 3 from its first send's drain until 2 sends.
  ASSERT_EQ(t.waits.size(), 3U);
  const auto expect_wait = [&](std::size_t i, ClassId who, Picoseconds start, Picoseconds end) {
    EXPECT_EQ(t.waits[i].who, who);
    EXPECT_EQ(t.waits[i].op, 1U);
    EXPECT_EQ(t.waits[i].start, start);
    EXPECT_EQ(t.waits[i].end, end);
  };
  expect_wait(0, 0, w + s, d + w);
  expect_wait(1, 1, w * 2, d);
  expect_wait(2, 3, s, d);
}

Small send(bool eager, std::uint32_t count, const std::vector<Picoseconds>& arrivals) {
  Small made;
  const RouteId route = made.route({made.link(GB, l)});
  return group(send_plan(1000, eager, count), {route, none}, made, arrivals);
}

TEST(OpenCollectives, AnEagerSendDoesNotWaitForItsReceiver) {
  EXPECT_EQ(ends(send(true, 1, {ps(0), ps(5 * us)}).play()), (std::vector<Picoseconds>{s, ps(5 * us)}));
  EXPECT_EQ(ends(send(true, 1, {ps(0), s}).play()), (std::vector<Picoseconds>{s, w}));
}

TEST(OpenCollectives, ASendThatIsNotEagerWaitsForItsReceiver) {
  constexpr Picoseconds late = ps(5 * us);
  EXPECT_EQ(ends(send(false, 1, {ps(0), late}).play()), (std::vector<Picoseconds>{late + s, late + w}));
}

TEST(OpenCollectives, AReceiverWaitsForItsSender) {
  constexpr Picoseconds late = ps(5 * us);
  for (const bool eager : {false, true}) {
    const Timeline t = send(eager, 1, {late, ps(0)}).play();
    EXPECT_EQ(ends(t), (std::vector<Picoseconds>{late + s, late + w}));
    ASSERT_EQ(t.waits.size(), 1U);
    EXPECT_EQ(t.waits[0].who, 1U);
    EXPECT_EQ(t.waits[0].start, ps(0));
    EXPECT_EQ(t.waits[0].end, late);
  }
}

// A lane goes on when the transfer before has drained, not when it is delivered.
TEST(OpenCollectives, ALaneIsFreeAtTheDrain) {
  EXPECT_EQ(ends(send(false, 5, {ps(0), ps(0)}).play()), (std::vector<Picoseconds>{s * 5, s * 5 + l}));
}

// Two lanes of one member over one link: both transfers at once at half rate.
TEST(OpenCollectives, LanesOfAMemberGoSideBySide) {
  TransferPlan plan = send_plan(1000, false);
  plan.ports = 2;
  plan.roles[0].lanes = {{0, 1}, {1, 1}};
  plan.roles[0].runs.push_back(plan.roles[0].runs[0]);
  plan.roles[0].runs[1].port = 1;
  plan.port = {{1, 0, -1, 0}, {1, 1, -1, 0}, {1, 0, -1, 0}, {1, 1, -1, 0}};
  Small made;
  const RouteId route = made.route({made.link(GB, l)});
  const Timeline t = group(plan, {route, route, none, none}, made, {ps(0), ps(0)}).play();
  EXPECT_EQ(ends(t), (std::vector<Picoseconds>{s * 2, s * 2 + l}));
  EXPECT_EQ(t.links_at_end.at(0).at(0).peak_flows, 2U);
}

TEST(OpenCollectives, AGroupOfOneLeavesAtOnce) {
  TransferPlan plan;
  plan.members = 1;
  plan.roles = {Role()};
  plan.role_of = {0};
  EXPECT_EQ(ends(group(plan, {}, Small(), {ps(7)}).play()), (std::vector<Picoseconds>{ps(7)}));
}

/// Member 0 sends A (1000 bytes) and then B (500 bytes) to member 1 over a latency of 10 s, in every step.
Timeline two_sends(bool eager, std::uint32_t steps) {
  Small made;
  const std::vector<RouteId> routes = {made.route({made.link(GB, s * 10)}), none};
  const CommunicatorId pair = made.communicator("pair", 2);
  made.add_collective(pair, send_plan(1000, eager), routes);
  made.add_collective(pair, send_plan(500, eager), routes);
  made.collective("net", 0);
  made.collective("net", 1);
  made.add_class(0);
  made.add_class(0);
  return made.play({.exact_steps = steps});
}

// Eager: A drains at s, B at 1.5 s while A is still on its way; A is there at 11 s, B at 11.5 s. The next step's A
// drains at 2.5 s.
TEST(OpenCollectives, SeveralOpenAtOnceAreMatchedInOrder) {
  const Timeline t = two_sends(true, 2);
  EXPECT_EQ(t.at(0, 0, 0).end, s);
  EXPECT_EQ(t.at(0, 0, 1).end, s + ps(us / 2));
  EXPECT_EQ(t.at(0, 1, 0).end, s * 11);
  EXPECT_EQ(t.at(0, 1, 1).start, s * 11);
  EXPECT_EQ(t.at(0, 1, 1).end, s * 11 + ps(us / 2));
  EXPECT_EQ(t.at(1, 0, 0).end, s * 2 + ps(us / 2));
  EXPECT_EQ(t.at(1, 1, 0).end, s * 12 + ps(us / 2));
}

// Not eager: B starts when the receiver comes to it, at 11 s.
TEST(OpenCollectives, WithoutEagerSendsTheReceiverMustHaveComeToTheSameOne) {
  const Timeline t = two_sends(false, 1);
  EXPECT_EQ(t.at(0, 0, 1).start, s);
  EXPECT_EQ(t.at(0, 0, 1).end, s * 11 + ps(us / 2));
  EXPECT_EQ(t.at(0, 1, 1).end, s * 21 + ps(us / 2));
}

// Groups {0, 1} and {2, 3} of one communicator; member 1 is late, group {2, 3} does not notice.
TEST(OpenCollectives, GroupsOfACommunicatorAreApart) {
  Small made;
  const auto routes = made.ring_routes(4, GB, l);
  made.all.communicators.push_back(communicator("pairs", 2, {0, 0, 1, 1}, {0, 1, 0, 1}));
  made.add_collective(0, ring_plan(2, 1000), routes);
  for (const Picoseconds arrival : {ps(0), ps(4 * us), ps(0), ps(0)}) {
    const std::uint32_t program = made.new_program();
    made.compute("compute", arrival);
    made.collective("net", 0, {{0}});
    made.add_class(program);
  }
  EXPECT_EQ(ends(made.play()), (std::vector<Picoseconds>{ps(4 * us) + w, ps(4 * us) + w, w, w}));
}

}  // namespace
}  // namespace stepsim
