// reading.h: small scenarios and ways to read a StepPlan back as text and sums, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "schedules/plan.h"
#include "sim/input_error.h"

namespace stepsim::reading {

/// The book's reduced stack.
inline ModelSpec mlp_stack(std::int64_t layers, std::int64_t d, std::int64_t f) {
  ModelSpec model;
  model.name = "mlp";
  model.layers = layers;
  model.d_model = d;
  model.d_ff = f;
  model.attention = Attention::none;
  model.gated = false;
  model.elementwise = false;
  return model;
}

inline ModelSpec llama(std::int64_t layers, std::int64_t d, std::int64_t f, std::int64_t heads, std::int64_t kv,
                       std::int64_t head_dim, std::int64_t vocabulary) {
  ModelSpec model;
  model.name = "llama";
  model.layers = layers;
  model.d_model = d;
  model.d_ff = f;
  model.heads = heads;
  model.kv_heads = kv;
  model.head_dim = head_dim;
  model.vocabulary = vocabulary;
  model.sequence = 4096;
  return model;
}

inline ModelSpec llama_70b() {
  return llama(80, 8192, 28672, 64, 8, 128, 128256);
}

/// A small full transformer: D = 64, F = 256, 8 heads of 8, 2 of them for keys and values.
inline ModelSpec small_transformer(std::int64_t layers) {
  ModelSpec model = llama(layers, 64, 256, 8, 2, 8, 128);
  model.sequence = 32;
  return model;
}

inline Strategy strategy(std::vector<MeshAxis> mesh, std::int64_t batch_tokens, int zero) {
  Strategy s;
  s.mesh = std::move(mesh);
  s.batch_tokens = batch_tokens;
  s.zero = zero;
  return s;
}

/// One FLOP takes a picosecond, memory is free: the work of an op reads as its FLOP.
inline ChipSpec flop_counter() {
  ChipSpec chip;
  chip.name = "flop counter";
  chip.flops["bf16"] = 1e12;
  chip.memory_rate = 1e30;
  return chip;
}

/// One byte takes a picosecond, FLOP are free: the work of an op reads as its memory traffic.
inline ChipSpec byte_counter() {
  ChipSpec chip;
  chip.name = "byte counter";
  chip.flops["bf16"] = 1e30;
  chip.memory_rate = 1e12;
  return chip;
}

inline const Program& program(const StepPlan& plan) {
  return plan.program.programs.front();
}
inline const std::string& label(const StepPlan& plan, const Op& op) {
  return plan.program.names[op.tag.label];
}

inline std::string phase(const StepPlan& plan, const Op& op) {
  return plan.program.names[op.tag.phase];
}

/// Sum of the work of the compute ops of one phase, optionally of one layer.
inline std::int64_t work(const StepPlan& plan, const std::string& wanted, std::int32_t layer = -2) {
  std::int64_t sum = 0;
  for (const Op& op : program(plan).ops) {
    if (op.kind != OpKind::compute || phase(plan, op) != wanted) continue;
    if (layer == -2 || op.tag.layer == layer) sum += op.work.count();
  }
  return sum;
}

/// "label [labels of what it waits for]"; another layer is named with @, the step before with '.
inline std::string line(const StepPlan& plan, const Op& op) {
  const Program& p = program(plan);
  std::vector<Dependency> waits(p.dependencies.begin() + op.first_dependency,
                                p.dependencies.begin() + op.first_dependency + op.dependencies);
  std::stable_sort(waits.begin(), waits.end(), [](const Dependency& a, const Dependency& b) {
    return a.steps_back != b.steps_back ? a.steps_back < b.steps_back : a.op < b.op;
  });
  std::string text = label(plan, op) + " [";
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Op& other = p.ops[waits[i].op];
    text += (i == 0 ? "" : ", ") + label(plan, other);
    if (other.tag.layer != op.tag.layer) text += "@" + std::to_string(other.tag.layer);
    if (waits[i].steps_back == 1) text += "'";
  }
  return text + "]";
}

/// Where the backward starts: the first op of a backward phase.
inline OpId first_backward(const StepPlan& plan) {
  const auto& ops = program(plan).ops;
  for (OpId id = 0; id < ops.size(); ++id) {
    if (phase(plan, ops[id]).rfind("backward", 0) == 0 || phase(plan, ops[id]) == "recompute") return id;
  }
  return static_cast<OpId>(ops.size());
}

/// The ops of a layer in program order; the second half of the step when `backward`. Optimizer left out.
inline std::vector<std::string> lines(const StepPlan& plan, std::int32_t layer, bool backward) {
  std::vector<std::string> text;
  const auto& ops = program(plan).ops;
  const OpId turn = first_backward(plan);
  for (OpId id = 0; id < ops.size(); ++id) {
    if (ops[id].tag.layer != layer || phase(plan, ops[id]) == "optimizer") continue;
    if ((id >= turn) == backward) text.push_back(line(plan, ops[id]));
  }
  return text;
}

/// Issues of collectives whose label starts with `start`, and the bytes of their arrays.
struct Issued {
  std::int64_t count = 0;
  Bytes bytes = 0;
};
inline Issued issued(const StepPlan& plan, const std::string& start, const std::string& axis) {
  Issued sum;
  for (const Op& op : program(plan).ops) {
    if (op.kind != OpKind::collective || label(plan, op).rfind(start, 0) != 0) continue;
    if (plan.program.names[op.tag.axis] != axis) continue;
    ++sum.count;
    sum.bytes += plan.collectives[op.collective].bytes;
  }
  return sum;
}

/// Memory by part over the program order of one step, beside what is resident: level at the end, lowest, highest.
struct Level {
  Bytes end = 0;
  Bytes lowest = 0;
  Bytes highest = 0;
};
inline std::map<std::string, Level> play_memory(const StepPlan& plan, OpId until = none) {
  std::map<std::string, Level> levels;
  const Program& p = program(plan);
  const auto apply = [&](const Op& op, bool at_end) {
    for (std::uint32_t i = 0; i < op.memory_changes; ++i) {
      const MemoryChange& change = p.memory[op.first_memory + i];
      if (change.at_end != at_end) continue;
      Level& level = levels[plan.program.names[change.part]];
      level.end += change.delta;
      level.lowest = std::min(level.lowest, level.end);
      level.highest = std::max(level.highest, level.end);
    }
  };
  for (OpId id = 0; id < p.ops.size() && id < until; ++id) {
    apply(p.ops[id], false);
    apply(p.ops[id], true);
  }
  return levels;
}

inline Bytes resident(const StepPlan& plan, const std::string& part) {
  Bytes sum = 0;
  for (const MemoryChange& change : program(plan).resident) {
    if (plan.program.names[change.part] == part) sum += change.delta;
  }
  return sum;
}

}  // namespace stepsim::reading
