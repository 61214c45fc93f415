// expect.cpp: a scenario's `expect:` entries (quantities.h) against its result.
#include <algorithm>
#include <cmath>
#include <optional>

#include "scenarios/run.h"

namespace stepsim {
namespace {

std::optional<double> headline_quantity(const RunResult& result, const std::string& name) {
  if (name == "step_time") return to_seconds(result.step_time);
  if (name == "tokens_per_s") return result.tokens_per_s;
  if (name == "tokens_per_s_per_chip") return result.tokens_per_s_per_chip;
  if (name == "model_flops_per_s_per_chip") return result.model_flops_per_s_per_chip;
  if (name == "mfu") return result.mfu;
  if (name == "peak_memory") return static_cast<double>(result.memory.peak);
  return std::nullopt;
}

std::optional<double> collective_quantity(const RunResult& result, const std::string& name) {
  for (const CollectiveReport& use : result.collectives) {
    const std::string rest = "." + use.axis + "." + use.kind;
    if (name == "issued" + rest) return to_seconds(use.issued);
    if (name == "exposed" + rest) return to_seconds(use.exposed);
    if (name == "communicating" + rest) return to_seconds(use.communicating);
    if (name == "overlap" + rest) {
      const double all = to_seconds(use.communicating);
      return all > 0 ? to_seconds(use.overlapped) / all : 0.0;
    }
  }
  return std::nullopt;
}

std::optional<double> breakdown_quantity(const RunResult& result, const std::string& name) {
  const ClassId who = most_common_class(result.breakdown);
  for (const ClassBreakdown& one : result.breakdown) {
    if (one.who != who) continue;
    for (const BreakdownPart& part : one.parts) {
      if (part.name == name) return to_seconds(part.time);
    }
  }
  return std::nullopt;
}

double measured(const RunResult& result, const Expectation& expectation) {
  const std::string& name = expectation.quantity;
  if (const auto value = headline_quantity(result, name)) return *value;
  if (const auto value = collective_quantity(result, name)) return *value;
  if (const auto value = breakdown_quantity(result, name)) return *value;
  return 0;  // load() knows the name: a part of the breakdown that took no time
}

}  // namespace

std::vector<ExpectationResult> check_expectations(const Scenario& scenario, const RunResult& result) {
  std::vector<ExpectationResult> results;
  for (const Expectation& expectation : scenario.expect) {
    const double value = measured(result, expectation);
    const double allowed = std::abs(expectation.value) * expectation.tolerance;
    results.push_back({expectation, value, std::abs(value - expectation.value) <= allowed});
  }
  return results;
}

}  // namespace stepsim
