// calculator.h: the closed-form figures of one scenario, as `stepsim check` prints them.
//
// Nothing is simulated: each row is a law of scenarios/formulas.h, a count of schedules/model.h and
// schedules/plan.h or a bound of collectives/collective.h with the scenario's numbers put in, and says which.
#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace stepsim {

struct CalculatorRow {
  std::string name;   // "tokens per chip"
  std::string value;  // "468.1"
  std::string law;    // "batch / chips", with its source where it is not plain arithmetic
};

/// In a fixed order: model, memory, work, thresholds, times, cost. Rows that do not apply are left out.
std::vector<CalculatorRow> calculate(const Scenario& scenario);

/// Sequence length at which attention scores cost as many FLOP as all matmuls (book: T = 8D for F = 4D, N H =
/// D, gated, not causal); infinite without attention.
double attention_crossover(const ModelSpec& model);

/// Bytes of state that one parameter needs on an unsharded chip: weights and optimizer, without gradients
/// (the book's 10 with bf16 weights and two fp32 moments).
double state_bytes_per_parameter(const Strategy& strategy);

/// Elements per token that one layer keeps for its backward: D with full checkpoints, k D with k per layer;
/// when nothing is recomputed 20 D for a transformer (the book's count), input and hidden activations for the
/// MLP stack.
double kept_width(const ModelSpec& model, const Strategy& strategy);

}  // namespace stepsim
