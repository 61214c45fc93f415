// building_block.h: from a block of six slots per rank, repeated for each microbatch, to a whole pipeline on a V.
//
// A block says at which of six slots each rank does F, I and W of its two chunks. Repeating it gives a valid pipeline
// whose memory is the block's; squeezing and reordering the warm-up and the cool-down make it short.
// Source: Qi et al., arXiv 2405.15362, section 3 and appendix A; the published generator
// (sail-sg/zero-bubble-pipeline-parallelism, scheduler/v_auto_schedule.py).
#pragma once

#include <array>
#include <optional>
#include <vector>

namespace stepsim {

/// What a rank does in a slot: F and I and W of chunk 0 or 1. A microbatch takes f0, f1, i1, i0.
enum class VPass : signed char { idle = -1, f0, f1, i1, i0, w1, w0 };
inline constexpr int v_passes = 6;

using BlockRow = std::array<int, v_passes>;  // slot of each pass, 0..5
using VBlock = std::vector<BlockRow>;        // of each rank
using VRows = std::vector<std::vector<VPass>>;

/// Puts w1, then w0 at the first slot after its I that is free; the slots of the other four are given.
BlockRow with_weights(BlockRow row);

/// Most chunk activations that a rank holds, F to W.
int peak_held(const VRows& rows);

struct BuiltRows {
  std::optional<VRows> rows;  // none: the block makes no valid pipeline
  int peak = 0;               // activations that it asks for
};

/// At most `most` chunk activations; slots are of equal length.
BuiltRows build_rows(const VBlock& block, int microbatches, double most);

}  // namespace stepsim
