// collectives_bench: whole collectives played unfolded, every chip on its own: transfers per second, clock and all.
//
// A ring of N does 4 N (N-1) transfers in an all-reduce with halves, a torus of 8x8x8 does 6 x 2 x 21 x 512. Flows
// that are alone on their links should cost O(1); the rings grow to show it.
#include <benchmark/benchmark.h>

#include "tests/collectives/play.h"

namespace stepsim {
namespace {

Surroundings v5p() {
  return {.rate = 90'000'000'000, .latency = Picoseconds(1'000'000)};
}

CollectiveSpec all_reduce(std::vector<GroupAxis> shape) {
  CollectiveSpec spec{.kind = CollectiveKind::all_reduce, .shape = std::move(shape)};
  spec.bytes = Bytes{60'000} * members(spec.shape);
  return spec;
}

void play_repeatedly(benchmark::State& state, const CollectiveSpec& spec) {
  const LoneCollective alone = set_up(spec, v5p());
  std::uint64_t transfers = 0;
  for (auto _ : state) {
    const Timeline timeline = simulate(alone.program, alone.network, {.exact_steps = 1});
    transfers += timeline.counters.transfers;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(transfers));
}

void ring_all_reduce(benchmark::State& state) {
  play_repeatedly(state, all_reduce({ring_of(static_cast<int>(state.range(0)))}));
}
BENCHMARK(ring_all_reduce)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

// One iteration is 67 million transfers.
BENCHMARK(ring_all_reduce)->Arg(4096)->Iterations(1)->Unit(benchmark::kMillisecond);

void torus_all_reduce(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  play_repeatedly(state, all_reduce({ring_of(n), ring_of(n), ring_of(n)}));
}
BENCHMARK(torus_all_reduce)->Arg(4)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

// Unequal axes: parts meet on links and share them.
void torus_with_shared_links(benchmark::State& state) {
  play_repeatedly(state, all_reduce({ring_of(16), ring_of(8), ring_of(4)}));
}
BENCHMARK(torus_with_shared_links)->Unit(benchmark::kMillisecond);

// All 8960 chips of a pod, 6.6 million transfers.
void shared_links_of_a_pod(benchmark::State& state) {
  play_repeatedly(state, all_reduce({ring_of(16), ring_of(20), ring_of(28)}));
}
BENCHMARK(shared_links_of_a_pod)->Iterations(1)->Unit(benchmark::kMillisecond);

// The plan of a pod: 8960 members, 18 ports each.
void plan_of_a_pod(benchmark::State& state) {
  const CollectiveSpec spec = all_reduce({ring_of(16), ring_of(20), ring_of(28)});
  const Algorithm torus = collective_algorithms().at("algorithm", "torus");
  for (auto _ : state) benchmark::DoNotOptimize(torus.make(spec));
}
BENCHMARK(plan_of_a_pod)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepsim
