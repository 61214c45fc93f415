// scenarios_bench.cpp: every scenario of scenarios/examples, whole.
//
// load/NAME: reading and checking the file. run/NAME: assembling cluster and program, playing the steps,
// reading off the report; transfers/s counts what the clock played, chip_steps/s the chips times the steps
// they were played for.

#include <benchmark/benchmark.h>

#include <string>

#include "scenarios/run.h"
#include "tests/scenarios/examples.h"

namespace {

void load_only(benchmark::State& state, const std::string& name) {
  for (auto _ : state) benchmark::DoNotOptimize(stepsim::load_example(name));
}

void run_only(benchmark::State& state, const std::string& name) {
  const stepsim::Scenario scenario = stepsim::load_example(name);
  double transfers = 0;
  double chip_steps = 0;
  for (auto _ : state) {
    const stepsim::RunResult result = stepsim::run(scenario);
    transfers += static_cast<double>(result.timeline.counters.transfers);
    chip_steps += static_cast<double>(result.assembly.cluster->chips()) * result.timeline.steps;
  }
  state.counters["transfers/s"] = benchmark::Counter(transfers, benchmark::Counter::kIsRate);
  state.counters["chip_steps/s"] = benchmark::Counter(chip_steps, benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string& name : stepsim::examples()) {
    benchmark::RegisterBenchmark(("load/" + name).c_str(), load_only, name)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("run/" + name).c_str(), run_only, name)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
