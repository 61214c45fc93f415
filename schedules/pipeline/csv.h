// csv.h: pipeline orders in PyTorch's schedule CSV (torch.distributed.pipelining, _load_csv and _dump_csv).
//
// A row is a rank, a cell an action: stage, letter, microbatch ("3F5"), a fused pair "(0F3;3B5)OVERLAP_F_B", or empty for
// an idle slot. Two forms: compute only (F, I, W, B; torchtitan's pipeline_parallel_schedule_csv reads it), and with
// communication (SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD, RESHARD, REDUCE_GRAD too; no empty cells). There is no header
// and no column for the placement: a stage is on the rank whose row has it. Where every stage is on two ranks, the first
// half of the microbatches on one and the second half on its mirror image (p - 1 - rank), the file has two copies of the
// model whose microbatches travel in opposite directions (DualPipe, Chimera). Segments of a microbatch are not told
// apart from microbatches.
//
// Older files write B for I and BW for B: a (stage, microbatch) with B and W and no I is read so, BW always.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipeline/lowering.h"
#include "schedules/pipeline/order.h"

namespace stepsim {

/// How many cells a rank's row leaves empty before each of its cells, and after the last. A rank or a cell that is not
/// listed: none.
using IdleSlots = std::vector<std::vector<std::int32_t>>;

struct ImportedOrder {
  PipelineOrder order;
  bool with_communication = false;
  std::vector<LoweredRank> lowered;  // with communication: the rows as they stand
  IdleSlots idle;                    // compute only: the empty cells
  std::vector<std::string> notes;    // what was read in another way than it is written, one sentence each
};

/// Strict: InputError with every problem of the file, at file:row:cell, "rank 2, cell 7: ...". An order whose actions
/// wait for each other is refused with the circle named.
ImportedOrder read_pipeline_csv(const std::string& text, const std::string& file);

/// Compute only, with empty cells where they are given.
std::string write_pipeline_csv(const PipelineOrder& order, const IdleSlots& idle = {});

std::string write_pipeline_csv_with_communication(const PipelineOrder& order, const LoweringOptions& options = {});

}  // namespace stepsim
