// scale_bench: what a run costs against its size. chips/N, classes/N, layers/N, microbatches/N: the scenario
// scale.yaml from its file to its report, with one size changed.
//
// peak_bytes is the largest resident size of the whole process so far: it belongs to a benchmark only when that is
// alone in its process, as tools/bench --curves runs them.
#include <benchmark/benchmark.h>

#include <fstream>
#include <string>
#include <vector>

#include "scenarios/run.h"

namespace stepsim {
namespace {

using Overrides = std::vector<std::string>;

/// Not ru_maxrss: that counts what the process was before it became this program, too.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void run_with(benchmark::State& state, const Overrides& overrides) {
  for (auto _ : state) {
    const RunResult result =
        run(load(STEPSIM_SOURCE_DIR "/bench/scale.yaml", overrides, STEPSIM_SOURCE_DIR "/scenarios/catalog"));
    state.counters["classes"] = result.timeline.classes;
    state.counters["steps"] = result.timeline.steps;
    state.counters["transfers"] = static_cast<double>(result.timeline.counters.transfers);
  }
  state.counters["peak_bytes"] = peak_bytes();
}

/// A torus of n chips as near to a cube as whole doublings of 2x2x2 allow; from 4x4x4 on its axes wrap.
Overrides torus_of(std::int64_t n) {
  int extents[] = {2, 2, 2};
  for (std::int64_t chips = 8, axis = 2; chips < n; chips *= 2, axis = (axis + 2) % 3) extents[axis] *= 2;
  std::string shape;
  for (const int extent : extents) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  return {"cluster.shape=[" + shape + "]", "parallelism.mesh.fsdp=" + std::to_string(n / 4)};
}

void chips(benchmark::State& state) {
  run_with(state, torus_of(state.range(0)));
}
BENCHMARK(chips)->RangeMultiplier(8)->Range(8, 32768)->Arg(8192)->Arg(65536)->Unit(benchmark::kMillisecond);

/// 512 chips with so many axes that do not wrap: a chip's place along a line tells it from others, so classes are more.
void classes(benchmark::State& state) {
  std::string wraps;
  for (int axis = 0; axis < 3; ++axis) {
    wraps += std::string(axis > 0 ? ", " : "") + (axis < state.range(0) ? "false" : "true");
  }
  run_with(state, {"cluster.wraps=[" + wraps + "]"});
}
BENCHMARK(classes)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void layers(benchmark::State& state) {
  run_with(state, {"model.layers=" + std::to_string(state.range(0))});
}
BENCHMARK(layers)->RangeMultiplier(4)->Range(1, 64)->Unit(benchmark::kMillisecond);

/// Every microbatch has 512 tokens per chip.
void microbatches(benchmark::State& state) {
  const std::string n = std::to_string(state.range(0));
  run_with(state, {"parallelism.microbatches=" + n,
                   "parallelism.batch_per_chip=" + std::to_string(512 * state.range(0)) + " tokens"});
}
BENCHMARK(microbatches)->RangeMultiplier(4)->Range(1, 64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepsim
