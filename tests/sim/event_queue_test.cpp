// The radix heap against std::priority_queue ordered by (time, sequence): both must give the same events in the same
// order, for spread, skewed and tied times (a calendar queue that popped out of order is known to be found only this
// way).

#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <tuple>

namespace stepsim {
namespace {

using Key = std::tuple<std::int64_t, std::uint32_t>;  // time, sequence
using Draw = std::function<std::int64_t(std::mt19937_64&)>;

/// Holds `pending` events; takes instants and pushes a later (or equal) event for each taken one.
void hold(const Draw& increment, std::uint32_t pending, std::uint32_t pushes) {
  std::mt19937_64 random(7);
  EventQueue queue;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> reference;
  std::uint32_t sequence = 0;
  const auto push = [&](std::int64_t now) {
    const std::int64_t time = now + increment(random);
    queue.push({.time = Picoseconds(time), .a = sequence});
    reference.emplace(time, sequence++);
  };
  for (std::uint32_t i = 0; i < pending; ++i) push(0);
  std::vector<QueuedEvent> batch;
  while (!queue.empty()) {
    ASSERT_EQ(queue.size(), reference.size());
    queue.take_instant(batch);
    ASSERT_FALSE(batch.empty());
    const std::int64_t now = batch.front().time.count();
    ASSERT_EQ(queue.now().count(), now);
    for (const QueuedEvent& event : batch) {
      ASSERT_EQ(Key(event.time.count(), event.a), reference.top());
      reference.pop();
    }
    ASSERT_TRUE(reference.empty() || std::get<0>(reference.top()) > now) << "the whole instant is taken";
    for (std::size_t i = 0; i < batch.size() && sequence < pushes; ++i) push(now);
  }
  EXPECT_TRUE(reference.empty());
  EXPECT_EQ(sequence, pushes);
}

TEST(EventQueue, GivesTheOrderOfABinaryHeapForExponentialIncrements) {
  std::exponential_distribution<double> draw(1e-6);
  const Draw increment = [&](auto& random) { return static_cast<std::int64_t>(draw(random)) + 1; };
  for (const std::uint32_t pending : {1U, 10U, 1000U}) hold(increment, pending, 30000);
}

TEST(EventQueue, GivesTheOrderOfABinaryHeapForTimesOverTenDecades) {
  std::uniform_real_distribution<double> draw(1, 11);
  hold([&](auto& random) { return static_cast<std::int64_t>(std::pow(10, draw(random))); }, 500, 30000);
}

TEST(EventQueue, GivesTheOrderOfABinaryHeapForLockStepWithThousandsOfTies) {
  hold([](auto& random) { return static_cast<std::int64_t>(1 + random() % 4) * 1'000'000; }, 2000, 30000);
}

TEST(EventQueue, TiesComeFirstInFirstOut) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.push({.time = Picoseconds(i % 2 == 0 ? 5000 : 4097), .a = i});
  std::vector<QueuedEvent> batch;
  queue.take_instant(batch);
  // Pushed now, from a nearer instant: still behind those that were there.
  queue.push({.time = Picoseconds(5000), .a = 100});
  queue.take_instant(batch);
  ASSERT_EQ(batch.size(), 51U);
  for (std::uint32_t i = 0; i < 51; ++i) EXPECT_EQ(batch[i].a, 2 * i);
}

TEST(EventQueue, WhatIsPushedAtTheCurrentInstantComesWithTheNextCall) {
  EventQueue queue;
  queue.push({.time = Picoseconds(10), .a = 1});
  queue.push({.time = Picoseconds(11), .a = 2});
  std::vector<QueuedEvent> batch;
  queue.take_instant(batch);
  ASSERT_EQ(batch.size(), 1U);
  EXPECT_FALSE(queue.more_now());
  queue.push({.time = Picoseconds(10), .a = 3});
  EXPECT_TRUE(queue.more_now());
  queue.take_instant(batch);
  ASSERT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch[0].a, 3U);
  EXPECT_EQ(queue.now(), Picoseconds(10));
  queue.take_instant(batch);
  EXPECT_EQ(batch[0].a, 2U);
  EXPECT_TRUE(queue.empty());
  queue.take_instant(batch);
  EXPECT_TRUE(batch.empty());
}

TEST(EventQueue, ReachesTheLargestTime) {
  EventQueue queue;
  queue.push({.time = Picoseconds::max(), .a = 2});
  queue.push({.time = Picoseconds(0), .a = 1});
  std::vector<QueuedEvent> batch;
  queue.take_instant(batch);
  EXPECT_EQ(batch.at(0).a, 1U);
  queue.take_instant(batch);
  EXPECT_EQ(batch.at(0).time, Picoseconds::max());
}

}  // namespace
}  // namespace stepsim
