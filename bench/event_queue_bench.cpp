// event_queue_bench.cpp: the event queue in the hold model: take the earliest events, put one later event in
// for each.
//
// Three sizes (pending events) by two distributions of increments: exponential (mean 0.1 ms, few ties) and
// lock-step (four distinct steps, ties by the thousand: what collectives on like chips make). Each is also
// run on std::priority_queue ordered by (time, sequence), so that the ratio comes from one run. items/s are
// holds/s. Source of the model: Jones, "An empirical comparison of priority-queue and event-set
// implementations", CACM 1986.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <queue>
#include <random>
#include <vector>

#include "sim/event_queue.h"

namespace {

using stepsim::EventQueue;
using stepsim::Picoseconds;
using stepsim::QueuedEvent;

/// The comparison: a binary heap with the interface of EventQueue.
class BinaryHeap {
 public:
  void push(const QueuedEvent& event) { heap_.push({event, sequence_++}); }

  void take_instant(std::vector<QueuedEvent>& batch) {
    batch.clear();
    const Picoseconds now = heap_.top().event.time;
    while (!heap_.empty() && heap_.top().event.time == now) {
      batch.push_back(heap_.top().event);
      heap_.pop();
    }
  }

 private:
  struct Entry {
    QueuedEvent event;
    std::uint64_t sequence = 0;
    bool operator<(const Entry& other) const {  // priority_queue has the greatest on top
      return event.time != other.event.time ? event.time > other.event.time : sequence > other.sequence;
    }
  };
  std::priority_queue<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

constexpr std::size_t table_size = 1 << 16;  // increments are drawn beforehand: only the queue is timed

std::vector<Picoseconds> exponential() {
  std::mt19937_64 random(1);
  std::vector<Picoseconds> table(table_size);
  for (Picoseconds& increment : table) {
    const double uniform = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;  // in (0, 1]
    increment = Picoseconds(1 + static_cast<std::int64_t>(-std::log(uniform) * 1e8));
  }
  return table;
}

std::vector<Picoseconds> lock_step() {
  std::mt19937_64 random(1);
  std::vector<Picoseconds> table(table_size);
  for (Picoseconds& increment : table) increment = Picoseconds(static_cast<std::int64_t>(1 + random() % 4) * 1'000'000);
  return table;
}

template <class Queue>
void hold(benchmark::State& state, const std::vector<Picoseconds>& increments) {
  Queue queue;
  std::size_t draw = 0;
  const auto push_after = [&](Picoseconds now, std::uint32_t id) {
    queue.push({.time = now + increments[draw++ % table_size], .a = id});
  };
  for (std::uint32_t id = 0; id < state.range(0); ++id) push_after(Picoseconds(0), id);

  std::vector<QueuedEvent> batch;
  std::int64_t holds = 0;
  for (auto _ : state) {
    queue.take_instant(batch);
    for (const QueuedEvent& event : batch) push_after(event.time, event.a);
    holds += static_cast<std::int64_t>(batch.size());
  }
  state.SetItemsProcessed(holds);
}

void radix_exponential(benchmark::State& state) {
  hold<EventQueue>(state, exponential());
}
void binary_exponential(benchmark::State& state) {
  hold<BinaryHeap>(state, exponential());
}
void radix_lock_step(benchmark::State& state) {
  hold<EventQueue>(state, lock_step());
}
void binary_lock_step(benchmark::State& state) {
  hold<BinaryHeap>(state, lock_step());
}

BENCHMARK(radix_exponential)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(binary_exponential)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(radix_lock_step)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(binary_lock_step)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
