// Nothing may depend on the order of what happens at one instant: random programs with collectives, transfers on shared
// links, markers, empty ops and memory are played with 20 permutations of every phase and must give the same timeline.
// The times are drawn from few values, so that ties are many. On the same programs: conservation laws of the reports.

#include <gtest/gtest.h>

#include <random>

#include "sim/breakdown.h"
#include "sim/critical_path.h"
#include "tests/sim/small_program.h"

namespace stepsim {

bool operator==(const OpTimes& a, const OpTimes& b) {
  return a.start == b.start && a.end == b.end && a.drained == b.drained;
}
bool operator==(const Wait& a, const Wait& b) {
  return a.who == b.who && a.op == b.op && a.step == b.step && a.start == b.start && a.end == b.end;
}
bool operator==(const LinkUse& a, const LinkUse& b) {
  return a.bytes == b.bytes && a.busy == b.busy && a.peak_flows == b.peak_flows;
}
bool operator==(const MemoryPeak& a, const MemoryPeak& b) {
  return a.bytes == b.bytes && a.at == b.at && a.by_part == b.by_part;
}
bool operator==(const MemorySample& a, const MemorySample& b) {
  return a.who == b.who && a.at == b.at && a.bytes == b.bytes;
}

namespace {

/// Four classes on a ring, groups of two and of four, each with transfers of its own over links of the ring.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    for (ClassId who = 0; who < classes; ++who) ring_.push_back(made_.link((1 + upto(3)) * GB, ps(upto(2) * us / 2)));
    add_collectives();
    for (std::uint32_t p = 0; p < 2; ++p) made_.new_program();
    const std::int64_t ops = 8 + upto(12);
    for (std::int64_t i = 0; i < ops; ++i) add_op();
    for (ClassId who = 0; who < classes; ++who) made_.add_class(static_cast<std::uint32_t>(upto(2)));
    if (upto(2) == 0) made_.all.slowness = {{1, 1}, {2, 1}, {1, 1}, {4, 1}};
  }

  [[nodiscard]] const Small& made() const { return made_; }

 private:
  static constexpr ClassId classes = 4;
  std::int64_t upto(std::uint64_t n) { return static_cast<std::int64_t>(random_() % n); }

  void add_collectives() {
    std::vector<RouteId> next;
    for (const LinkId link : ring_) next.push_back(made_.route({link}));
    made_.communicator("all", classes);
    made_.all.communicators.push_back(communicator("pairs", 2, {0, 0, 1, 1}, {0, 1, 0, 1}));
    for (const Bytes shard : {0, 1000, 2000}) made_.add_collective(0, ring_plan(classes, shard), next);
    // Back from the second of a pair to the first goes on round the ring.
    const std::vector<RouteId> pairs = {next[0], made_.route({ring_[1], ring_[2], ring_[3]}), next[2],
                                        made_.route({ring_[3], ring_[0], ring_[1]})};
    made_.add_collective(1, ring_plan(2, 1000), pairs);
    made_.add_collective(1, send_plan(3000, true), pairs);
    transfer_routes_ = {next[0], next[2], pairs[1], made_.route({})};
  }

  /// The same kind of op in both programs: dependencies, times and memory differ, collectives do not.
  void add_op() {
    Op op;
    const std::int64_t what = upto(6);
    op.kind = what < 2    ? OpKind::compute
              : what < 4  ? OpKind::collective
              : what == 4 ? OpKind::transfer
                          : OpKind::marker;
    const std::string stream = what < 2 ? "compute" : "queue " + std::to_string(upto(3));
    op.stream = made_.all.stream(stream, what < 2);
    op.collective = op.kind == OpKind::collective ? static_cast<CollectiveId>(upto(5)) : none;
    op.ends_step = upto(8) == 0;
    op.tag.axis = made_.all.name(op.kind == OpKind::transfer ? "copy" : "ring");
    op.tag.phase = made_.all.name(upto(2) == 0 ? "forward" : "backward");
    for (Program& program : made_.all.programs) {
      op.work = ps(upto(4) * us);
      op.route = transfer_routes_[static_cast<std::size_t>(upto(4))];
      op.bytes = upto(3) * 1000;
      program.add(op, dependencies(program), memory());
    }
  }

  std::vector<Dependency> dependencies(const Program& program) {
    std::vector<Dependency> all;
    const std::size_t here = program.ops.size();
    for (std::int64_t k = upto(3); k > 0 && here > 0; --k) {
      const auto op = static_cast<OpId>(upto(here));
      const bool drained = program.ops[op].kind == OpKind::transfer && upto(2) == 0;
      all.push_back({op, static_cast<std::uint32_t>(upto(3)), drained ? Event::drained : Event::end});
    }
    return all;
  }

  std::vector<MemoryChange> memory() {
    const NameId part = made_.all.name(upto(2) == 0 ? "weights" : "activations");
    const Bytes bytes = 1 + upto(4);
    return {{part, bytes, upto(2) == 0}, {part, -bytes, true}};
  }

  std::mt19937_64 random_;
  Small made_;
  std::vector<LinkId> ring_;
  std::vector<RouteId> transfer_routes_;
};

void expect_same(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.periodic, b.periodic);
  EXPECT_EQ(a.first_kept, b.first_kept);
  EXPECT_TRUE(a.times == b.times);
  EXPECT_TRUE(a.waits == b.waits);
  EXPECT_TRUE(a.step_end == b.step_end);
  EXPECT_TRUE(a.links_at_end == b.links_at_end);
  EXPECT_TRUE(a.peak == b.peak);
  EXPECT_TRUE(a.memory == b.memory);
  EXPECT_EQ(a.counters.events, b.counters.events);
  EXPECT_EQ(a.counters.transfers, b.counters.transfers);
  EXPECT_EQ(a.counters.rate_solves, b.counters.rate_solves);
}

TEST(Order, PermutingWhatHappensAtOneInstantChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RandomProgram program(seed);
    RunOptions options{.max_steps = 5, .record_memory = true};
    options.latency_model = seed % 4 == 0 ? LatencyModel::max : LatencyModel::additive;
    const Timeline expected = program.made().play(options);
    for (std::uint64_t shuffle = 1; shuffle <= 20; ++shuffle) {
      options.shuffle_seed = shuffle;
      expect_same(program.made().play(options), expected);
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", shuffle " << shuffle;
    }
  }
}

TEST(Order, PlayingAgainGivesTheSame) {
  const RandomProgram program(77);
  const RunOptions options{.max_steps = 5, .record_memory = true};
  expect_same(program.made().play(options), program.made().play(options));
}

TEST(Reports, PartsOfEveryClassSumToTheStep) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RandomProgram program(seed);
    const StepProgram& all = program.made().all;
    const Timeline t = program.made().play({.max_steps = 6});
    std::uint64_t chips = 0;
    for (const ClassBreakdown& one : breakdown(all, t)) {
      Picoseconds sum;
      for (const BreakdownPart& part : one.parts) {
        EXPECT_GT(part.time, ps(0));
        sum += part.time;
      }
      EXPECT_EQ(sum, t.step_time()) << "seed " << seed << ", class " << one.who;
      chips += one.chips;
    }
    EXPECT_EQ(chips, all.program_of.size());
  }
}

TEST(Reports, ThePathFillsTheStepWithoutGaps) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RandomProgram program(seed);
    const RunOptions options{.max_steps = 6};
    const Timeline t = program.made().play(options);
    Picoseconds at = t.window_start();
    for (const PathPiece& piece : critical_path(program.made().all, program.made().network, t, options)) {
      ASSERT_EQ(piece.start, at) << "seed " << seed;
      ASSERT_GT(piece.end, piece.start);
      ASSERT_GE(piece.contention, ps(0));
      ASSERT_LE(piece.contention, piece.end - piece.start);
      at = piece.end;
    }
    ASSERT_EQ(at, t.window_end()) << "seed " << seed;
  }
}

TEST(Reports, CollectiveUsesAddUp) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomProgram program(seed);
    const Timeline t = program.made().play({.max_steps = 6});
    for (ClassId who = 0; who < t.classes; ++who) {
      for (const CollectiveUse& use : collective_uses(program.made().all, t, who)) {
        EXPECT_LE(use.hidden, use.issued);
        EXPECT_LE(use.communicating, use.issued);
        EXPECT_LE(use.overlapped, use.communicating);
        EXPECT_LE(use.overlapped, use.hidden);
        EXPECT_LE(use.exposed, t.step_time());
      }
    }
  }
}

}  // namespace
}  // namespace stepsim
