// flows_bench.cpp: flow churn: every flow that ends is followed by another on its route. items/s are flows/s.
//
// ring: one flow per link, N links, never shared: an end and a start cost O(1).
// shared_link: k flows on one link: every end re-solves all k.
// star: all-to-all over N chips with one link in and one out each, all N (N-1) flows one component. Equal
// sizes end together; sizes spread over 97 values end one by one, so each of them re-solves everything. The
// sizes of the star follow a measurement of SimGrid 4.1 (N = 64: 0.28-0.32 M flows/s equal, 3.6 k spread).

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flows.h"
#include "sim/network.h"

namespace {

using stepsim::Bytes;
using stepsim::EventQueue;
using stepsim::FlowId;
using stepsim::Flows;
using stepsim::LinkId;
using stepsim::Network;
using stepsim::Picoseconds;
using stepsim::QueuedEvent;
using stepsim::RouteId;

constexpr std::int64_t capacity = 50'000'000'000;  // bytes/s
constexpr Bytes base_size = 1 << 20;

Network ring(int links) {
  Network network;
  for (int i = 0; i < links; ++i) {
    const LinkId link = network.add_link(capacity, Picoseconds(0));
    network.add_route(std::vector<LinkId>{link});
  }
  return network;
}

Network shared_link(int flows) {
  Network network;
  const LinkId link = network.add_link(capacity, Picoseconds(0));
  for (int i = 0; i < flows; ++i) network.add_route(std::vector<LinkId>{link});
  return network;
}

Network star(int chips) {
  Network network;
  for (int i = 0; i < 2 * chips; ++i) network.add_link(capacity, Picoseconds(0));
  for (int from = 0; from < chips; ++from) {
    for (int to = 0; to < chips; ++to) {
      if (from == to) continue;
      network.add_route(std::vector<LinkId>{static_cast<LinkId>(from), static_cast<LinkId>(chips + to)});
    }
  }
  return network;
}

/// Keeps one flow on every route of a network. The sizes repeat after `sizes` flows.
class Churn {
 public:
  Churn(const Network& network, int sizes) : flows_(network, queue_, 0), sizes_(sizes) {
    for (RouteId route = 0; route < network.routes(); ++route) start(route);
    flows_.settle();
  }

  /// Plays the next instant; how many flows ended.
  std::int64_t play_instant() {
    queue_.take_instant(batch_);
    again_.clear();
    for (const QueuedEvent& event : batch_) {
      ended_.clear();
      flows_.finish_due(event, ended_);
      for (const FlowId flow : ended_) again_.push_back(flows_.route(flow));
    }
    for (const RouteId route : again_) start(route);
    flows_.settle();
    return static_cast<std::int64_t>(again_.size());
  }

 private:
  void start(RouteId route) { flows_.start(route, base_size + 4096 * static_cast<Bytes>(started_++ % sizes_)); }

  EventQueue queue_;
  Flows flows_;
  std::uint64_t sizes_;
  std::uint64_t started_ = 0;
  std::vector<QueuedEvent> batch_;
  std::vector<FlowId> ended_;
  std::vector<RouteId> again_;
};

void churn(benchmark::State& state, const Network& network, int sizes) {
  Churn churn(network, sizes);
  std::int64_t ended = 0;
  for (auto _ : state) ended += churn.play_instant();
  state.SetItemsProcessed(ended);
}

void ring_equal(benchmark::State& state) {
  churn(state, ring(static_cast<int>(state.range(0))), 1);
}
void ring_spread(benchmark::State& state) {
  churn(state, ring(static_cast<int>(state.range(0))), 97);
}
void shared_link_spread(benchmark::State& state) {
  churn(state, shared_link(static_cast<int>(state.range(0))), 97);
}
void star_equal(benchmark::State& state) {
  churn(state, star(static_cast<int>(state.range(0))), 1);
}
void star_spread(benchmark::State& state) {
  churn(state, star(static_cast<int>(state.range(0))), 97);
}

BENCHMARK(ring_equal)->Arg(64)->Arg(4096);
BENCHMARK(ring_spread)->Arg(64)->Arg(4096);
BENCHMARK(shared_link_spread)->Arg(2)->Arg(8)->Arg(64);
BENCHMARK(star_equal)->Arg(16)->Arg(64);
BENCHMARK(star_spread)->Arg(16)->Arg(64);

}  // namespace
