// fold_bench: what folding costs and saves. One all-reduce on a cluster, from the groups on: who sends to whom,
// refinement, layout and the clock ("folded_..."), and the refinement of a torus by itself. Counters: classes, and
// transfers that were played.
#include <benchmark/benchmark.h>

#include "collectives/collective.h"
#include "scenarios/layout.h"
#include "sim/simulation.h"
#include "topology/symmetry.h"

namespace stepsim {
namespace {

/// TPU v5p's links (90 GB/s one way, 1 us a hop) in any shape; every axis wraps.
Cluster torus(std::vector<int> shape) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.chip.name = "chip";
  spec.chip.axes = static_cast<int>(shape.size());
  spec.chip.link_rate = 90'000'000'000;
  spec.chip.link_latency = Picoseconds(1'000'000);
  spec.wraps.assign(shape.size(), true);
  spec.shape = std::move(shape);
  return build(spec);
}

/// All chips are one group.
Communication all_reduce(const Cluster& cluster) {
  CollectiveSpec spec{.kind = CollectiveKind::all_reduce, .shape = {}};
  for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
    spec.shape.push_back({static_cast<int>(axis), cluster.axes()[axis].extent, 1, true});
  }
  spec.bytes = Bytes{60'000} * cluster.chips();
  return lone_pattern(Groups(cluster.axes(), spec.shape),
                      collective_algorithms().at("algorithm", spec.algorithm).pattern(spec));
}

void play_folded(benchmark::State& state, const std::vector<int>& shape) {
  const Cluster cluster = torus(shape);
  Timeline timeline;
  for (auto _ : state) {
    const Communication all = all_reduce(cluster);
    const Symmetry symmetry(cluster, traffic(cluster, all));
    StepProgram program = one_collective();
    Network network;
    lay_out(cluster, all, {CollectiveRequest{}}, symmetry, program, network);
    timeline = simulate(program, network, {.exact_steps = 1});
  }
  state.counters["classes"] = timeline.classes;
  state.counters["transfers"] = static_cast<double>(timeline.counters.transfers);
}

void folded_ring_of_4096(benchmark::State& state) {
  play_folded(state, {4096});
}
BENCHMARK(folded_ring_of_4096)->Unit(benchmark::kMillisecond);

void folded_pod(benchmark::State& state) {
  play_folded(state, {16, 20, 28});
}
BENCHMARK(folded_pod)->Unit(benchmark::kMillisecond);

/// Every move by every chip; with a slow chip all chips differ.
void refine_torus(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const Cluster cluster = torus({n, n, n});
  Traffic all;
  all.colours.assign(cluster.chips(), 0);
  all.colours[0] = static_cast<std::uint32_t>(state.range(1));
  for (int axis = 0; axis < 3; ++axis) {
    for (const int hops : {1, -1}) all.moves.push_back({axis, hops, {}});
  }
  std::uint32_t classes = 0;
  for (auto _ : state) classes = Symmetry(cluster, all).classes();
  state.counters["classes"] = classes;
  state.SetItemsProcessed(state.iterations() * cluster.chips() * 6);  // edges
}
BENCHMARK(refine_torus)->ArgsProduct({{8, 16, 32, 64}, {0, 1}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepsim
