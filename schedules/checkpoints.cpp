#include "schedules/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/input_error.h"

namespace stepsim {

namespace {

using Tensors = std::vector<bool>;  // per tensor of the section

Tensors written_by(const std::vector<SectionOp>& ops, std::size_t tensors) {
  Tensors written(tensors, false);
  for (const SectionOp& op : ops) {
    for (const TensorIndex t : op.writes) written[static_cast<std::size_t>(t)] = true;
  }
  return written;
}

Tensors read_by(const std::vector<SectionOp>& ops, std::size_t tensors) {
  Tensors read(tensors, false);
  for (const SectionOp& op : ops) {
    for (const TensorIndex t : op.reads) read[static_cast<std::size_t>(t)] = true;
  }
  return read;
}

/// `count` of these, evenly spread: never the first, nearer the end.
void keep_evenly(const std::vector<std::size_t>& candidates, std::size_t count, Tensors& kept) {
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t at = count >= candidates.size() ? i - 1 : i * candidates.size() / (count + 1);
    kept[candidates[at]] = true;
  }
}

/// The tensors kept with per_layer.
Tensors kept_per_layer(const ModelSection& section, int per_layer) {
  const std::size_t tensors = section.tensors.size();
  const Tensors made = written_by(section.forward, tensors);
  const Tensors needed = read_by(section.backward, tensors);
  const Bytes input_bytes = section.tensors[static_cast<std::size_t>(section.input)].bytes;
  std::vector<std::size_t> narrow;
  std::vector<std::size_t> wide;
  for (std::size_t t = 0; t < tensors; ++t) {
    if (made[t] && needed[t]) (section.tensors[t].bytes <= input_bytes ? narrow : wide).push_back(t);
  }
  const std::size_t most = 1 + narrow.size() + wide.size();
  if (per_layer < 1 || static_cast<std::size_t>(per_layer) > most) {
    throw InputError("parallelism.checkpoints_per_layer",
                     fmt::format("expected 1 to {} (what a layer's backward reads), found {}", most, per_layer));
  }
  Tensors kept(tensors, false);
  const auto beside_input = static_cast<std::size_t>(per_layer - 1);
  const std::size_t of_narrow = std::min(beside_input, narrow.size());
  keep_evenly(narrow, of_narrow, kept);
  keep_evenly(wide, beside_input - of_narrow, kept);
  return kept;
}

}  // namespace

std::vector<int> recomputed(const ModelSection& section, const Strategy& strategy) {
  std::vector<int> ops;
  if (strategy.checkpoints == Checkpoints::none) return ops;
  const bool all = strategy.checkpoints == Checkpoints::full;
  Tensors kept(section.tensors.size(), false);
  if (!all) kept = kept_per_layer(section, strategy.checkpoints_per_layer);
  // Backwards through the forward: an op is needed when something that is needed and not kept is its result.
  Tensors needed = read_by(section.backward, section.tensors.size());
  std::vector<bool> again(section.forward.size(), all);
  for (std::size_t i = section.forward.size(); i-- > 0;) {
    const SectionOp& op = section.forward[i];
    for (const TensorIndex t : op.writes) {
      const auto written = static_cast<std::size_t>(t);
      if (needed[written] && !kept[written]) again[i] = true;
    }
    if (!again[i]) continue;
    for (const TensorIndex t : op.reads) needed[static_cast<std::size_t>(t)] = true;
  }
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i]) ops.push_back(static_cast<int>(i));
  }
  return ops;
}

}  // namespace stepsim
