// The clock on small programs worked out by hand. At 1 GB/s a byte takes 1000 ps.

#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/small_program.h"

namespace stepsim {
namespace {

using testing::HasSubstr;

TEST(Simulation, OpsOfAStreamRunInOrderAndStreamsRunAtOnce) {
  Small s;
  const OpId a = s.compute("one", ps(10));
  const OpId b = s.compute("one", ps(5));
  const OpId c = s.compute("two", ps(7));
  s.add_class(0);
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, a).end, ps(10));
  EXPECT_EQ(t.at(0, 0, b).start, ps(10));
  EXPECT_EQ(t.at(0, 0, b).end, ps(15));
  EXPECT_EQ(t.at(0, 0, c).start, ps(0));
  EXPECT_EQ(t.step_time(), ps(15));
}

TEST(Simulation, AnOpWaitsForItsDependenciesAndTheOpsBehindItWaitToo) {
  Small s;
  const OpId slow = s.compute("two", ps(20));
  s.compute("one", ps(3));
  const OpId b = s.compute("one", ps(1), {{slow}});
  const OpId c = s.compute("one", ps(1));
  s.add_class(0);
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, b).start, ps(20));
  EXPECT_EQ(t.at(0, 0, c).start, ps(21));
}

TEST(Simulation, MarkersAndEmptyOpsTakeNoTimeAndEndInTheirInstant) {
  Small s;
  const OpId a = s.marker("one");
  const OpId b = s.marker("one", {{a}});
  const OpId c = s.compute("two", ps(0), {{b}});
  const OpId d = s.compute("two", ps(4), {{c}});
  s.add_class(0);
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, c).end, ps(0));
  EXPECT_EQ(t.at(0, 0, d).start, ps(0));
  EXPECT_EQ(t.step_time(), ps(4));
}

// 1000 bytes at 1 GB/s, 300 ps of latency: drained at 1,000,000, delivered 300 later.
TEST(Simulation, ATransferIsDrainedThenDelivered) {
  Small s;
  const RouteId route = s.route({s.link(GB, ps(300))});
  const OpId send = s.transfer("out", route, 1000);
  const OpId early = s.compute("one", ps(1), {{send, 0, Event::drained}});
  const OpId late = s.compute("two", ps(1), {{send}});
  s.add_class(0);
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, send).drained, ps(us));
  EXPECT_EQ(t.at(0, 0, send).end, ps(us + 300));
  EXPECT_EQ(t.at(0, 0, early).start, ps(us));
  EXPECT_EQ(t.at(0, 0, late).start, ps(us + 300));
}

TEST(Simulation, AnEmptyTransferTakesItsLatencyAndALocalCopyNothing) {
  Small s;
  const RouteId far = s.route({s.link(GB, ps(300)), s.link(GB, ps(40))});
  const RouteId local = s.route({});
  const OpId empty = s.transfer("a", far, 0);
  const OpId copy = s.transfer("b", local, 1'000'000);
  const OpId after = s.compute("c", ps(5), {{empty, 0, Event::drained}, {copy}});
  s.add_class(0);
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, empty).drained, ps(0));
  EXPECT_EQ(t.at(0, 0, empty).end, ps(340));
  EXPECT_EQ(t.at(0, 0, copy).end, ps(0));
  EXPECT_EQ(t.at(0, 0, after).start, ps(0));
}

// Delivered at start + max(latency, streaming): 1 us of streaming hides 0.3 us of latency and not 3 us.
TEST(Simulation, WithTheLatencyModelMaxTheLongerOfLatencyAndStreamingCounts) {
  for (const auto& [latency, end] : {std::pair(300 * ns, us), std::pair(3 * us, 3 * us)}) {
    Small s;
    const RouteId route = s.route({s.link(GB, ps(latency))});
    const OpId send = s.transfer("out", route, 1000);
    s.add_class(0);
    const Timeline t = s.play({.latency_model = LatencyModel::max, .exact_steps = 1});
    EXPECT_EQ(t.at(0, 0, send).drained, ps(us));
    EXPECT_EQ(t.at(0, 0, send).end, ps(end));
  }
}

TEST(Simulation, ASlowClassTakesLongerRoundedUp) {
  Small s;
  const OpId op = s.compute("one", ps(1000));
  for (int i = 0; i < 3; ++i) s.add_class(0);
  s.all.slowness = {{1, 1}, {10, 9}, {1, 2}};
  const Timeline t = s.play();
  EXPECT_EQ(t.at(0, 0, op).end, ps(1000));
  EXPECT_EQ(t.at(0, 1, op).end, ps(1112));  // 1111.1 up
  EXPECT_EQ(t.at(0, 2, op).end, ps(500));
}

// --- steps ---

// Work of a step waits for the gather of the step before: T = 10 + 7, from step 1 on.
TEST(Simulation, ADependencyOnTheStepBeforeHoldsInEveryStepButTheFirst) {
  Small s;
  s.compute("one", ps(10), {{1, 1}});
  s.compute("two", ps(7), {{0}});
  s.add_class(0);
  const Timeline t = s.play({.exact_steps = 4});
  EXPECT_EQ(t.step_end, (std::vector<Picoseconds>{ps(17), ps(34), ps(51), ps(68)}));
  EXPECT_EQ(t.at(3, 0, 0).start, ps(51));
}

TEST(Simulation, ADependencyOnTheStepBeforeMayBeOnTheDrain) {
  Small s;
  const RouteId route = s.route({s.link(GB, ps(500))});
  s.compute("one", ps(10), {{1, 1, Event::drained}});
  s.transfer("out", route, 1, {{0}});
  s.add_class(0);
  const Timeline t = s.play({.exact_steps = 3});
  EXPECT_EQ(t.at(0, 0, 1).drained, ps(1010));
  EXPECT_EQ(t.at(1, 0, 0).start, ps(1010));
  EXPECT_EQ(t.at(1, 0, 1).start, ps(1510)) << "its stream is free at the delivery";
}

TEST(Simulation, StopsAtTheSecondOfTwoLikeStepsAndReportsTheFirstOfThem) {
  Small s;
  s.compute("one", ps(10), {{1, 1}});
  s.compute("two", ps(7), {{0}});
  s.add_class(0);
  const Timeline t = s.play({.max_steps = 10});
  EXPECT_TRUE(t.periodic);
  EXPECT_EQ(t.steps, 2U);
  EXPECT_EQ(t.reported(), 0U);
  EXPECT_EQ(t.step_time(), ps(17));
}

// A (10) feeds B (30). Step 0: A 0-10, B 10-40. Step 1: A 10-20 already, B 40-70. Step 2: A when step 0 has ended, 40-50;
// B 70-100. Relative to their starts 0, 40, 70, steps 1 and 2 are alike (A at -30, B at 0), step 0 is not.
TEST(Simulation, PlaysOnUntilTheTransientIsOver) {
  Small s;
  s.compute("one", ps(10));
  s.compute("two", ps(30), {{0}});
  s.add_class(0);
  const Timeline t = s.play({.max_steps = 10});
  EXPECT_TRUE(t.periodic);
  EXPECT_EQ(t.steps, 3U);
  EXPECT_EQ(t.step_end.at(0), ps(40));
  EXPECT_EQ(t.reported(), 1U);
  EXPECT_EQ(t.step_time(), ps(30));
}

// Two classes of different speed that never wait for each other: the slow one falls behind step by step, so no two
// steps are alike; the fast one is far ahead, and both must still be written down.
TEST(Simulation, ClassesThatDriftApartAreReportedAsNotPeriodic) {
  Small s;
  const OpId op = s.compute("one", ps(100));
  s.add_class(0);
  s.add_class(0);
  s.all.slowness = {{1, 1}, {20, 1}};
  const Timeline t = s.play({.max_steps = 10});
  EXPECT_FALSE(t.periodic);
  EXPECT_EQ(t.steps, 10U);
  for (std::uint32_t step = 7; step < 10; ++step) {
    EXPECT_EQ(t.at(step, 0, op).end, ps(100) * (step + 1));
    EXPECT_EQ(t.at(step, 1, op).end, ps(2000) * (step + 1));
  }
  EXPECT_EQ(t.step_time(), ps(2000));
}

// A class without incoming data plays step after step; each op of step s + 2 waits for all ops of step s.
TEST(Simulation, AnOpDoesNotStartBeforeTheStepBeforeLastHasEnded) {
  Small s;
  const OpId quick = s.compute("quick", ps(1));
  const OpId slow = s.compute("slow", ps(100));
  s.add_class(0);
  const Timeline t = s.play({.exact_steps = 5});
  EXPECT_EQ(t.at(4, 0, quick).start, ps(300)) << "step 2 ends at 300";
  EXPECT_EQ(t.at(3, 0, quick).start, ps(200));
  EXPECT_EQ(t.at(4, 0, slow).end, ps(500));
}

TEST(Simulation, TheEndOfAStepIsThatOfItsMarkedOpsOverAllClasses) {
  Small s;
  const OpId optimizer = s.compute("one", ps(10));
  s.op(optimizer).ends_step = true;
  s.compute("two", ps(50));
  s.add_class(0);
  s.add_class(0);
  s.all.slowness = {{1, 1}, {2, 1}};
  const Timeline t = s.play({.exact_steps = 2});
  EXPECT_EQ(t.step_end.at(0), ps(20)) << "the slow class's, not the 100 of its unmarked op";
  EXPECT_EQ(t.step_end.at(1), ps(40));
}

TEST(Simulation, LinkTotalsStandAtTheEndOfEachStep) {
  Small s;
  const LinkId link = s.link(GB, ps(0));
  s.transfer("out", s.route({link}), 5);
  s.compute("one", ps(1), {{0}});
  s.op(0).ends_step = true;
  s.add_class(0);
  const Timeline t = s.play({.exact_steps = 2});
  EXPECT_EQ(t.links_at_end.at(0).at(link).bytes, 5);
  EXPECT_EQ(t.links_at_end.at(0).at(link).busy, ps(5000));
  EXPECT_EQ(t.links_at_end.at(1).at(link).busy, ps(10000));
  EXPECT_EQ(t.counters.transfers, 2U);
}

TEST(Simulation, ManyStepsDoNotPileUp) {
  Small s;
  s.transfer("out", s.route({s.link(GB, ps(0))}), 5);
  s.add_class(0);
  const Timeline t = s.play({.exact_steps = 1000});
  EXPECT_EQ(t.steps, 1000U);
  EXPECT_LE(t.times.size(), 6U);
  EXPECT_TRUE(t.links_at_end.at(990).empty());
  EXPECT_EQ(t.links_at_end.at(998).at(0).bytes, 5 * 999);
  EXPECT_EQ(t.step_time(), ps(5000));
}

// --- memory ---

// 100 resident. The op takes 40 at its start, 7 at its end; the next frees 40 at its start, and takes 20: freed and
// taken at one picosecond, so at 10 it is 127, not 147 or 167.
TEST(Simulation, WhatIsFreedAndTakenAtOneInstantDoesNotCountTwice) {
  Small s;
  const NameId weights = s.all.name("weights");
  const NameId work = s.all.name("work");
  s.compute("one", ps(10), {}, {{work, 40, false}, {work, 7, true}});
  s.compute("one", ps(10), {}, {{work, -40, false}, {work, 20, false}, {work, -27, true}});
  s.current().resident = {{weights, 100}};
  s.add_class(0);
  Timeline t = s.play({.exact_steps = 1, .record_memory = true});
  EXPECT_EQ(t.peak.at(0).bytes, 140);
  EXPECT_EQ(t.peak.at(0).at, ps(0));
  EXPECT_EQ(t.peak.at(0).by_part.at(weights), 100);
  EXPECT_EQ(t.peak.at(0).by_part.at(work), 40);
  ASSERT_EQ(t.memory.size(), 3U);
  EXPECT_EQ(t.memory[0].bytes, 140);
  EXPECT_EQ(t.memory[1].bytes, 127);
  EXPECT_EQ(t.memory[1].at, ps(10));
  EXPECT_EQ(t.memory[2].bytes, 100);
}

TEST(Simulation, ThePeakSaysWhenAndOfWhatForEachClass) {
  Small s;
  const NameId gathered = s.all.name("gathered");
  const NameId activations = s.all.name("activations");
  s.compute("one", ps(10), {}, {{activations, 50, true}});
  s.compute("one", ps(10), {}, {{gathered, 30, false}, {gathered, -30, true}});
  s.compute("one", ps(10), {}, {{activations, -50, true}});
  s.add_class(0);
  s.add_class(0);
  s.all.slowness = {{1, 1}, {2, 1}};
  const Timeline t = s.play();
  for (ClassId who = 0; who < 2; ++who) {
    EXPECT_EQ(t.peak.at(who).bytes, 80);
    EXPECT_EQ(t.peak.at(who).at, who == 0 ? ps(10) : ps(20));
    EXPECT_EQ(t.peak.at(who).by_part.at(gathered), 30);
  }
}

// --- deadlock and checks ---

// 500 ops a step and 5000 steps are 2.5 million events: two reports, after a million each, in steps 2000 and 4000.
TEST(Simulation, ReportsItsProgressAboutEveryMillionEvents) {
  Small small;
  for (int i = 0; i < 500; ++i) small.compute("compute", ps(10));
  small.add_class(0);
  RunOptions options;
  options.exact_steps = 5000;
  std::vector<std::uint32_t> reports;
  options.progress = [&](std::uint32_t steps, double share) {
    reports.push_back(steps);
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  };
  const Timeline timeline = simulate(small.all, small.network, options);
  EXPECT_EQ(reports, (std::vector<std::uint32_t>{2000, 4000}));
  EXPECT_EQ(timeline.step_end.back(), ps(5000 * 500 * 10));
}

TEST(Simulation, ADeadlockNamesClassStreamOpAndWhatItWaitsFor) {
  Small s;
  const OpId a = s.compute("one", ps(1), {{1}});
  const OpId b = s.compute("two", ps(1), {{0}});
  s.op(a).tag.label = s.all.name("mlp.in");
  s.op(a).tag.layer = 3;
  s.op(b).tag.label = s.all.name("mlp.out");
  s.add_class(0);
  try {
    static_cast<void>(s.play());
    FAIL();
  } catch (const Deadlock& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("class 0, stream one: mlp.in of layer 3 in step 0, waits for mlp.out in step 0"));
    EXPECT_THAT(error.what(), HasSubstr("stream two: mlp.out in step 0, waits for mlp.in of layer 3 in step 0"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("step 1"))) << "one step was asked for";
  }
}

TEST(Simulation, ADeadlockNamesTheMemberThatHasNotArrived) {
  Small s;
  const CommunicatorId ring = s.communicator("fsdp", 2);
  const CollectiveId gather = s.add_collective(ring, ring_plan(2, 100), s.ring_routes(2, GB, ps(0)));
  s.collective("net", gather);
  s.compute("one", ps(5));
  s.new_program();
  s.collective("net", gather, {{1}});
  s.compute("one", ps(5), {{0}});  // waits for the collective that waits for it
  s.add_class(0);
  s.add_class(1);
  try {
    static_cast<void>(s.play());
    FAIL();
  } catch (const Deadlock& error) {
    EXPECT_THAT(error.what(), HasSubstr("has started, all-gather on fsdp: class 1 has not arrived"));
  }
}

/// What check() says of a program, or nothing.
std::string complaint(const Small& s) {
  try {
    check(s.all, s.network);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

Small two_members() {
  Small s;
  const CommunicatorId ring = s.communicator("fsdp", 2);
  s.add_collective(ring, ring_plan(2, 100), s.ring_routes(2, GB, ps(0)));
  s.collective("net", 0);
  s.add_class(0);
  s.add_class(0);
  return s;
}

TEST(Check, AtLeastOneStepMustBePlayed) {
  EXPECT_THROW(static_cast<void>(two_members().play({.max_steps = 0})), std::logic_error);
}

TEST(Check, AcceptsAWholeProgram) {
  EXPECT_EQ(complaint(two_members()), "");
}

TEST(Check, FindsIdsOutOfRange) {
  const auto broken = [](auto change) {
    Small s = two_members();
    change(s);
    return complaint(s);
  };
  EXPECT_THAT(broken([](Small& s) { s.op(0).stream = 9; }), HasSubstr("no such stream"));
  EXPECT_THAT(broken([](Small& s) { s.op(0).collective = 9; }), HasSubstr("no such collective"));
  EXPECT_THAT(broken([](Small& s) { s.op(0).tag.axis = 99; }), HasSubstr("no such name"));
  EXPECT_THAT(broken([](Small& s) { s.op(0).work = ps(-1); }), HasSubstr("negative"));
  EXPECT_THAT(broken([](Small& s) { s.transfer("out", 77, 1); }), HasSubstr("no such route"));
  EXPECT_THAT(broken([](Small& s) { s.marker("m", {{9}}); }), HasSubstr("does not exist"));
  EXPECT_THAT(broken([](Small& s) { s.marker("m", {{1}}); }), HasSubstr("waits for itself"));
  EXPECT_THAT(broken([](Small& s) { s.marker("m", {}, {{99, 1}}); }), HasSubstr("memory change"));
  EXPECT_THAT(broken([](Small& s) { s.all.program_of[1] = 5; }), HasSubstr("program that does not exist"));
  EXPECT_THAT(broken([](Small& s) { s.all.chips_of.pop_back(); }), HasSubstr("chips_of"));
  EXPECT_THAT(broken([](Small& s) { s.all.slowness = {{1, 1}}; }), HasSubstr("slowness"));
  EXPECT_THAT(broken([](Small& s) { s.all.slowness = {{1, 1}, {1, 0}}; }), HasSubstr("no speed"));
  EXPECT_THAT(broken([](Small& s) { s.all.route_tables[0].pop_back(); }), HasSubstr("route table"));
  EXPECT_THAT(broken([](Small& s) { s.all.route_tables[0][1] = 99; }), HasSubstr("no route for port 0"));
  EXPECT_THAT(broken([](Small& s) { s.all.plans[0] = ring_plan(3, 1); }), HasSubstr("differ in size"));
  EXPECT_THAT(broken([](Small& s) { s.all.communicators[0].rank_of[1] = 0; }), HasSubstr("another group or rank"));
  EXPECT_THAT(broken([](Small& s) { s.all.programs[0].ops.clear(); }), HasSubstr("anything to do"));
}

TEST(Check, FindsAClassThatIssuesACollectiveItIsNoMemberOf) {
  Small s = two_members();
  s.add_class(0);
  for (auto* list : {&s.all.communicators[0].group_of, &s.all.communicators[0].rank_of}) list->push_back(none);
  s.all.route_tables[0].push_back(none);
  EXPECT_THAT(complaint(s), HasSubstr("class 2 issues a collective to 'fsdp' without being a member"));
}

TEST(Check, FindsMembersThatIssueOtherCollectives) {
  Small s = two_members();
  s.add_collective(0, ring_plan(2, 50), s.all.route_tables[0]);
  s.collective("net", 1);
  s.new_program();
  s.collective("net", 1);
  s.collective("net", 0);
  s.all.program_of[1] = 1;
  EXPECT_THAT(complaint(s), HasSubstr("classes 0 and 1 issue different collectives to 'fsdp' on stream 'net'"));
}

TEST(Check, FindsAPlanThatIsNotWhole) {
  const auto broken = [](auto change) {
    TransferPlan plan = ring_plan(4, 10);
    change(plan);
    try {
      check(plan);
    } catch (const std::logic_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(broken([](TransferPlan&) {}), "");
  EXPECT_THAT(broken([](TransferPlan& p) { p.port.pop_back(); }), HasSubstr("port table"));
  EXPECT_THAT(broken([](TransferPlan& p) { p.port[2].to = 4; }), HasSubstr("member 2, port 0: leads nowhere"));
  EXPECT_THAT(broken([](TransferPlan& p) { p.port[2].to = 1; }), HasSubstr("one incoming port"));
  EXPECT_THAT(broken([](TransferPlan& p) { p.roles[0].runs[0].port = 1; }), HasSubstr("no such port"));
  EXPECT_THAT(broken([](TransferPlan& p) { p.roles[0].runs[0].count = 0; }), HasSubstr("empty run"));
  EXPECT_THAT(broken([](TransferPlan& p) { p.roles[0].needs[0].base = 2; }), HasSubstr("needs more than is delivered"));
  EXPECT_THAT(broken([](TransferPlan& p) {
                p.roles[0].needs[0] = {0, 4, -1};  // transfer 0 needs four, the last only two
              }),
              HasSubstr("needs more than is delivered"));
}

}  // namespace
}  // namespace stepsim
