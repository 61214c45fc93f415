// The chain of ops that released each other, on programs worked out by hand. 1 GB/s: a byte takes 1 ns.

#include "sim/critical_path.h"

#include <gtest/gtest.h>

#include "tests/sim/small_program.h"

namespace stepsim {
namespace {

struct Piece {
  ClassId who;
  OpId op;
  std::int64_t start;
  std::int64_t end;
  std::int64_t contention;
  bool operator==(const Piece&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Piece& p) {
  return out << "class " << p.who << " op " << p.op << " " << p.start << ".." << p.end << " (" << p.contention << ")";
}

std::vector<Piece> path_of(const Small& made, RunOptions options = {.exact_steps = 1}) {
  std::vector<Piece> pieces;
  for (const PathPiece& p : critical_path(made.all, made.network, made.play(options), options)) {
    pieces.push_back({p.who, p.op, p.start.count(), p.end.count(), p.contention.count()});
  }
  return pieces;
}

/// Forward, gather on a ring of two (5 us), backward: one program for each member.
Small two_members(Picoseconds before_0, Picoseconds after_0, Picoseconds before_1, Picoseconds after_1) {
  Small made;
  made.add_collective(made.communicator("fsdp", 2), ring_plan(2, 5000), made.ring_routes(2, GB, ps(0)));
  for (const auto& [before, after] : {std::pair(before_0, after_0), std::pair(before_1, after_1)}) {
    const std::uint32_t program = made.new_program();
    if (program == 1) made.marker("extra");  // so that the same collective has another op id
    const OpId forward = made.compute("compute", before);
    const OpId gather = made.collective("net", 0, {{forward}});
    made.compute("compute", after, {{gather}});
    made.add_class(program);
  }
  return made;
}

// Member 1 arrives at 20, member 0's backward ends last: the path goes from it through the gather to member 1.
TEST(CriticalPath, GoesOnAtTheLateMember) {
  const Small made = two_members(ps(10 * us), ps(50 * us), ps(20 * us), ps(5 * us));
  EXPECT_EQ(path_of(made),
            (std::vector<Piece>{{1, 1, 0, 20 * us, 0}, {0, 1, 20 * us, 25 * us, 0}, {0, 2, 25 * us, 75 * us, 0}}));
}

TEST(CriticalPath, StaysWhereTheLastMemberIsOnesOwn) {
  const Small made = two_members(ps(30 * us), ps(50 * us), ps(20 * us), ps(5 * us));
  EXPECT_EQ(path_of(made),
            (std::vector<Piece>{{0, 0, 0, 30 * us, 0}, {0, 1, 30 * us, 35 * us, 0}, {0, 2, 35 * us, 85 * us, 0}}));
}

// Two transfers of 1000 bytes at once over one link: 2 us instead of 1, and 300 ns of latency.
TEST(CriticalPath, TellsHowMuchOfATransferWasContention) {
  Small made;
  const RouteId route = made.route({made.link(GB, ps(300 * ns))});
  made.transfer("a", route, 1000);
  made.transfer("b", route, 1000);
  made.compute("compute", ps(5 * us), {{0}});
  made.add_class(0);
  const std::int64_t delivered = 2 * us + 300 * ns;
  EXPECT_EQ(path_of(made), (std::vector<Piece>{{0, 0, 0, delivered, us}, {0, 2, delivered, delivered + 5 * us, 0}}));
}

TEST(CriticalPath, WhatWaitsForTheDrainDoesNotPayTheLatency) {
  Small made;
  const RouteId route = made.route({made.link(GB, ps(300 * ns))});
  made.transfer("a", route, 1000);
  made.transfer("b", route, 1000);
  made.compute("compute", ps(5 * us), {{0, 0, Event::drained}});
  made.add_class(0);
  EXPECT_EQ(path_of(made), (std::vector<Piece>{{0, 0, 0, 2 * us, us}, {0, 2, 2 * us, 7 * us, 0}}));
}

// A copy of 5000 bytes over the link from member 0 to 1, at the time of the gather of 5000: 10 us instead of 5 for
// member 1, which has received then.
TEST(CriticalPath, TellsHowMuchOfACollectiveWasContention) {
  Small made;
  const std::vector<RouteId> routes = made.ring_routes(2, GB, ps(0));
  made.add_collective(made.communicator("fsdp", 2), ring_plan(2, 5000), routes);
  made.collective("net", 0);
  made.transfer("copy", routes[0], 5000);
  made.compute("compute", ps(us), {{0}});
  made.new_program();
  made.collective("net", 0);
  made.compute("compute", ps(3 * us), {{0}});
  made.add_class(0);
  made.add_class(1);
  EXPECT_EQ(path_of(made), (std::vector<Piece>{{1, 0, 0, 10 * us, 5 * us}, {1, 1, 10 * us, 13 * us, 0}}));
}

// An eager sender does not wait for its receiver, so a receiver that comes late is not on the sender's path.
TEST(CriticalPath, AnEagerSenderIsNotHeldUpByItsReceiver) {
  Small made;
  const RouteId route = made.route({made.link(GB)});
  made.add_collective(made.communicator("pipeline", 2), send_plan(4000, true), {route, none});
  made.collective("net", 0);
  made.compute("compute", ps(9 * us), {{0}});
  made.new_program();
  made.compute("compute", ps(2 * us));
  made.collective("net", 0, {{0}});
  made.add_class(0);
  made.add_class(1);
  EXPECT_EQ(path_of(made), (std::vector<Piece>{{0, 0, 0, 4 * us, 0}, {0, 1, 4 * us, 13 * us, 0}}));
}

// As in the breakdown: step 3 runs from 101 to 201, its only op waits until 200 for step 1 to end.
TEST(CriticalPath, WaitingForTheStepBeforeLastIsAPieceWithoutAnOp) {
  Small made;
  const RouteId route = made.route({made.link(GB * 1000)});
  made.compute("compute", ps(1));
  made.op(0).ends_step = true;
  made.transfer("copy", route, 100);
  made.add_class(0);
  EXPECT_EQ(path_of(made, {.exact_steps = 5}), (std::vector<Piece>{{0, none, 101, 200, 0}, {0, 0, 200, 201, 0}}));
}

// A chain over step bounds: each step is cut at its window.
TEST(CriticalPath, IsCutAtTheStep) {
  Small made;
  made.compute("compute", ps(10), {{1, 1}});
  const RouteId route = made.route({made.link(GB * 1000)});
  made.transfer("out", route, 7, {{0}});
  made.op(0).ends_step = true;  // a step goes from 10 to 27 to 44
  made.add_class(0);
  EXPECT_EQ(path_of(made, {.exact_steps = 4}), (std::vector<Piece>{{0, 1, 27, 34, 0}, {0, 0, 34, 44, 0}}));
}

}  // namespace
}  // namespace stepsim
