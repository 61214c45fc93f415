// Where the time goes, on programs worked out by hand. 1 GB/s, latency 0: a byte takes 1 ns.

#include "sim/breakdown.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/sim/small_program.h"

namespace stepsim {
namespace {

using Parts = std::map<std::string, std::int64_t>;

Parts parts_of(const ClassBreakdown& one) {
  Parts parts;
  for (const BreakdownPart& part : one.parts) parts[part.name] += part.time.count();
  return parts;
}

/// Two members of a ring "fsdp": forward `before`, gather 5000 bytes (5 us), backward `after`.
std::uint32_t gather_program(Small& made, Picoseconds before, Picoseconds after) {
  const std::uint32_t program = made.new_program();
  made.compute("compute", before, {}, {}, "forward");
  made.collective("net", 0, {{0}});
  made.compute("compute", after, {{1}}, {}, "backward");
  return program;
}

Small ring_of_two() {
  Small made;
  made.all.name("forward");
  made.all.name("backward");
  made.add_collective(made.communicator("fsdp", 2), ring_plan(2, 5000), made.ring_routes(2, GB, ps(0)));
  return made;
}

TEST(Breakdown, CommunicationAloneIsExposedAndLikeClassesAreMerged) {
  Small made = ring_of_two();
  gather_program(made, ps(10 * us), ps(20 * us));
  made.add_class(0, 3);
  made.add_class(0, 4);
  const auto all = breakdown(made.all, made.play());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].who, 0U);
  EXPECT_EQ(all[0].chips, 7U);
  EXPECT_EQ(parts_of(all[0]), (Parts{{"forward", 10 * us}, {"backward", 20 * us}, {"exposed.fsdp", 5 * us}}));
  EXPECT_EQ(all[0].parts.at(0).name, "forward");
  EXPECT_EQ(all[0].parts.at(1).name, "backward");
}

// Class 1 at half speed: forward until 20, gather until 25, backward until 65. Class 0 is there at 10, waits for its
// peer until 20, and is done at 45.
TEST(Breakdown, WaitingForALatePeerIsStragglerAndNothingLeftIsIdle) {
  Small made = ring_of_two();
  gather_program(made, ps(10 * us), ps(20 * us));
  made.add_class(0);
  made.add_class(0);
  made.all.slowness = {{1, 1}, {2, 1}};
  const Timeline t = made.play();
  const auto all = breakdown(made.all, t);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(t.step_time(), ps(65 * us));
  EXPECT_EQ(parts_of(all[0]), (Parts{{"forward", 10 * us},
                                     {"straggler", 10 * us},
                                     {"exposed.fsdp", 5 * us},
                                     {"backward", 20 * us},
                                     {"idle.end", 20 * us}}));
  EXPECT_EQ(parts_of(all[1]), (Parts{{"forward", 20 * us}, {"exposed.fsdp", 5 * us}, {"backward", 40 * us}}));
}

// On the copy queue: first 15 us for "data", then 5 us for "fsdp", which the backward needs. The forward ends at 10:
// until 15 the op ahead in the queue is to blame, then the needed one.
TEST(Breakdown, AnotherOpAheadInTheQueueIsChargedForTheWaitBehindIt) {
  Small made;
  const RouteId route = made.route({made.link(GB)});
  made.compute("compute", ps(10 * us), {}, {}, "forward");
  made.transfer("queue", route, 15000, {}, "data");
  made.transfer("queue", route, 5000, {}, "fsdp");
  made.compute("compute", ps(7 * us), {{2}}, {}, "backward");
  made.add_class(0);
  const auto all = breakdown(made.all, made.play());
  EXPECT_EQ(parts_of(all.at(0)),
            (Parts{{"forward", 10 * us}, {"exposed.data", 5 * us}, {"exposed.fsdp", 5 * us}, {"backward", 7 * us}}));
}

// The backward needs 8000 bytes of "data" (drained at 8 us) and 12000 of "fsdp" from another link: the last to end
// counts for all of the wait in which it is under way.
TEST(Breakdown, OfSeveralCausesTheOneThatEndsLastCounts) {
  Small made;
  const RouteId one = made.route({made.link(GB, ps(50 * us))});
  const RouteId two = made.route({made.link(GB)});
  made.compute("compute", ps(2 * us), {}, {}, "forward");
  made.transfer("a", one, 8000, {}, "data");
  made.transfer("b", two, 12000, {}, "fsdp");
  made.compute("compute", ps(3 * us), {{1, 0, Event::drained}, {2}}, {}, "backward");
  made.op(3).ends_step = true;
  made.add_class(0);
  const auto all = breakdown(made.all, made.play());
  EXPECT_EQ(parts_of(all.at(0)), (Parts{{"forward", 2 * us}, {"exposed.fsdp", 10 * us}, {"backward", 3 * us}}));
}

// A chain of transfers: each is charged while it is under way.
TEST(Breakdown, AWaitIsFollowedBackThroughWhatTheAwaitedOpWaitsFor) {
  Small made;
  const RouteId one = made.route({made.link(GB)});
  const RouteId two = made.route({made.link(GB)});
  made.compute("compute", ps(1 * us), {}, {}, "forward");
  made.transfer("a", one, 4000, {{0}}, "data");
  made.transfer("b", two, 6000, {{1}}, "tensor");
  made.compute("compute", ps(3 * us), {{2}}, {}, "backward");
  made.add_class(0);
  const auto all = breakdown(made.all, made.play());
  EXPECT_EQ(parts_of(all.at(0)),
            (Parts{{"forward", us}, {"exposed.data", 4 * us}, {"exposed.tensor", 6 * us}, {"backward", 3 * us}}));
}

// Quick ops of 1 ps, a copy of 100 ps in every step. The quick op of step s >= 2 starts when step s - 2 has ended, at
// 100 (s - 1). The step ends with it: step 3 runs from 101 to 201.
TEST(Breakdown, WaitingForTheStepBeforeLastIsRunAhead) {
  Small made;
  const RouteId route = made.route({made.link(GB * 1000)});
  made.compute("compute", ps(1));
  made.op(0).ends_step = true;
  made.transfer("copy", route, 100);
  made.add_class(0);
  const Timeline t = made.play({.exact_steps = 5});
  ASSERT_EQ(t.window_start(), ps(101));
  ASSERT_EQ(t.window_end(), ps(201));
  EXPECT_EQ(parts_of(breakdown(made.all, t).at(0)), (Parts{{"idle.run_ahead", 99}, {"forward", 1}}));
}

// Two computing streams: time counts once, for the op that started first.
TEST(Breakdown, TwoComputingStreamsCountOnce) {
  Small made;
  made.compute("one", ps(10), {}, {}, "forward");
  made.compute("two", ps(4), {}, {}, "recompute");
  made.compute("two", ps(9), {}, {}, "optimizer");
  made.add_class(0);
  EXPECT_EQ(parts_of(breakdown(made.all, made.play()).at(0)), (Parts{{"forward", 10}, {"optimizer", 3}}));
}

// Communication under computing is not seen: it is hidden.
TEST(Breakdown, ComputingCountsAsComputingWhateverItCommunicates) {
  Small made = ring_of_two();
  made.new_program();
  made.compute("compute", ps(30 * us), {}, {}, "forward");
  made.collective("net", 0);
  made.add_class(0);
  made.add_class(0);
  EXPECT_EQ(parts_of(breakdown(made.all, made.play()).at(0)), (Parts{{"forward", 30 * us}}));
}

// First gather 4 us under a forward of 10; needed by the second forward at 10: slack 10. Second gather from 10, 15 us,
// under the second forward (10 to 20), needed at 20 by the third, which starts at 25: slack 10, 5 exposed.
TEST(CollectiveUse, TellsHiddenExposedOverlapSlackAndRates) {
  Small made;
  const auto routes = made.ring_routes(2, GB, ps(0));
  const CommunicatorId fsdp = made.communicator("fsdp", 2);
  made.add_collective(fsdp, ring_plan(2, 4000), routes, "all-gather", 8000);
  made.add_collective(fsdp, ring_plan(2, 15000), routes, "all-gather", 30000);
  made.compute("compute", ps(10 * us));
  made.collective("net", 0);
  made.compute("compute", ps(10 * us), {{1}});
  made.collective("net", 1, {{0}});
  made.compute("compute", ps(5 * us), {{3}});
  made.add_class(0);
  made.add_class(0);
  const auto uses = collective_uses(made.all, made.play(), 1);
  ASSERT_EQ(uses.size(), 1U);
  const CollectiveUse& use = uses[0];
  EXPECT_EQ(use.axis, "fsdp");
  EXPECT_EQ(use.kind, "all-gather");
  EXPECT_EQ(use.count, 2U);
  EXPECT_EQ(use.issued, ps(19 * us));
  EXPECT_EQ(use.hidden, ps(14 * us));
  EXPECT_EQ(use.exposed, ps(5 * us));
  EXPECT_EQ(use.communicating, ps(19 * us));
  EXPECT_EQ(use.overlapped, ps(14 * us));
  EXPECT_EQ(use.array, 38000);
  EXPECT_EQ(use.sent, 19000);
  EXPECT_DOUBLE_EQ(use.achieved, 1e9);
  EXPECT_EQ(use.slack, ps(20 * us));
  EXPECT_DOUBLE_EQ(use.required, 0.95e9);
}

// Two gathers of one kind at once on two queues share the links, 5 us each alone: 10 us each, 10 us of communicating.
TEST(CollectiveUse, OverlappingSpansAreCommunicatingOnce) {
  Small made = ring_of_two();
  made.new_program();
  made.collective("net", 0);
  made.collective("net 2", 0);
  made.compute("compute", ps(us), {{0}, {1}});
  made.add_class(0);
  made.add_class(0);
  const auto uses = collective_uses(made.all, made.play(), 0);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].issued, ps(20 * us));
  EXPECT_EQ(uses[0].communicating, ps(10 * us));
  EXPECT_EQ(uses[0].overlapped, ps(0));
  EXPECT_EQ(uses[0].exposed, ps(10 * us));
}

}  // namespace
}  // namespace stepsim
