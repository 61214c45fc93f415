// scenarios_bench.cpp: every scenario of scenarios/examples, whole.
//
// load/NAME: reading and checking the file. run/NAME: assembling cluster and program, playing the steps,
// reading off the report; transfers/s counts what the clock played, chip_steps/s the chips times the steps
// they were played for.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/run.h"
#include "scenarios/scenario.h"

namespace {

const std::string source_dir = STEPSIM_SOURCE_DIR;

stepsim::Scenario load(const std::string& file) {
  return stepsim::load(file, {}, source_dir + "/scenarios/catalog");
}

std::vector<std::string> examples() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir + "/scenarios/examples")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void load_example(benchmark::State& state, const std::string& file) {
  for (auto _ : state) benchmark::DoNotOptimize(load(file));
}

void run_example(benchmark::State& state, const std::string& file) {
  const stepsim::Scenario scenario = load(file);
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
  for (const std::string& file : examples()) {
    const std::string name = std::filesystem::path(file).stem().string();
    benchmark::RegisterBenchmark(("load/" + name).c_str(), load_example, file)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("run/" + name).c_str(), run_example, file)->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
