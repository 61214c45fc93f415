// tensor_overlap.cpp: chunked collectives and matmuls ("collective matmul", Wang et al. 2023).
//
// A gather of V bytes and the op that reads it first become `chunks` gathers of V / chunks and as many parts of the
// op, cut along the tokens; part i waits for gather i only, so gather i + 1 runs under part i. A reduce-scatter
// mirrors it: scatter i waits for part i of the op before. Every part pays the launch overhead and pads to tiles.
#include <algorithm>

#include "schedules/section.h"

namespace stepsim {

namespace {

bool touches(const std::vector<TensorIndex>& tensors, TensorIndex wanted) {
  return std::find(tensors.begin(), tensors.end(), wanted) != tensors.end();
}

/// The op that first reads what ops[gather] brings, or last writes what ops[scatter] reduces; ops.size() when none.
std::size_t partner(const std::vector<SectionOp>& ops, std::size_t collective) {
  const SectionOp& op = ops[collective];
  if (op.collective == CollectiveKind::all_gather) {
    for (std::size_t i = collective + 1; i < ops.size(); ++i) {
      if (touches(ops[i].reads, op.writes.front())) return i;
    }
  } else {
    for (std::size_t i = collective; i-- > 0;) {
      if (touches(ops[i].writes, op.reads.front())) return i;
    }
  }
  return ops.size();
}

SectionOp part(const SectionOp& whole, int chunk, int chunks) {
  SectionOp op = whole;
  op.chunk = chunk;
  op.chunks = chunks;
  (op.phase == WorkPhase::backward_weight ? op.k : op.m) /= chunks;  // the dimension that counts tokens
  op.flop /= chunks;
  op.bytes /= chunks;
  op.array = whole.array * (chunk + 1) / chunks - whole.array * chunk / chunks;
  return op;
}

std::vector<SectionOp> split(const std::vector<SectionOp>& ops, int chunks) {
  std::vector<bool> cut(ops.size(), false);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].axis != "tensor" || !ops[i].critical) continue;
    const std::size_t other = partner(ops, i);
    if (other == ops.size()) continue;
    cut[i] = cut[other] = true;
  }
  std::vector<SectionOp> result;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (int c = 0; c < (cut[i] ? chunks : 1); ++c) result.push_back(cut[i] ? part(ops[i], c, chunks) : ops[i]);
  }
  return result;
}

}  // namespace

void split_for_overlap(ModelSection& section, int chunks) {
  if (chunks <= 1) return;
  section.forward = split(section.forward, chunks);
  section.backward = split(section.backward, chunks);
}

}  // namespace stepsim
