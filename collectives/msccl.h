// msccl.h: a collective that a user wrote down as an MSCCL algorithm file.
//
//   <algo name proto nchannels nchunksperloop ngpus coll inplace>
//     <gpu id i_chunks o_chunks s_chunks>                             chunks of its input, output and scratch buffers
//       <tb id send recv chan>                                        a thread block: at most one peer each way
//         <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>
//
// A thread block runs its steps in order: s sends, r receives, rcs and rrcs receive and pass on, rrs too without keeping
// it, rrc receives and adds, re and cpy are local, nop does nothing. A step may wait for step `deps` of thread block
// `depid` of the same GPU, which then says hasdep="1". What block a of GPU x sends to GPU y on a channel is received, in
// order, by the one block of y that receives from x on it.
//
// As transfers: a chunk is V / nchunksperloop bytes (all-to-all: of the V/N that a member has), a send cnt of them. Each
// block is a lane of its sends. A send waits for all receives that come before it, in its block and through the steps
// waited for; local work takes no time, and a wait for another block's send is one for the data of that send.
//
// Source: Microsoft, msccl-tools (msccl/language/ir.py, which writes the files) and the files of ROCm/rccl,
// tools/msccl-algorithms; Cowan et al. 2023 ("MSCCLang: Microsoft Collective Communication Language", ASPLOS).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/collective.h"

namespace stepsim {

enum class MscclOp : std::uint8_t {
  nop,
  send,
  receive,
  receive_copy_send,
  receive_reduce_send,
  receive_reduce_copy,
  receive_reduce_copy_send,
  copy,
  reduce
};

bool sends(MscclOp op);
bool receives(MscclOp op);

struct MscclStep {
  MscclOp op = MscclOp::nop;
  int chunks = 0;
  int block = -1;  // waits for this thread block's
  int step = -1;   // step; -1: for none
  bool awaited = false;
  int line = 0;  // where it stands
  int column = 0;
};

struct MscclBlock {
  int to = -1;    // GPU, -1: none
  int from = -1;  // GPU, -1: none
  int channel = 0;
  std::vector<MscclStep> steps;
};

struct MscclGpu {
  int input_chunks = 0;
  int output_chunks = 0;
  int scratch_chunks = 0;
  std::vector<MscclBlock> blocks;
};

struct MscclAlgorithm {
  std::string file;
  std::string name;
  std::string protocol;    // "Simple", "LL", "LL128"
  std::string collective;  // "allreduce", "allgather", "reduce_scatter", "alltoall", ..., "custom"
  int channels = 1;
  int chunks = 1;  // nchunksperloop
  bool in_place = false;
  std::vector<MscclGpu> gpus;
};

/// Reads and checks a whole file; `file` is its name for messages. InputError (several problems, each with its place and
/// a key as gpu[0].tb[1].step[2].cnt) for what is malformed or unknown, sends without receives, and steps that wait for
/// each other.
MscclAlgorithm parse_msccl(const std::string& text, const std::string& file);

/// Port p of a member is its thread block p. InputError unless the group has as many members as the file has GPUs and
/// the kind is the file's (any for "custom").
TransferPattern msccl_pattern(const MscclAlgorithm& algorithm, const CollectiveSpec& spec);

/// A lower bound in seconds, by the greatest rate and the least latency: each transfer alone on its way, and the bytes
/// that leave or reach the busiest member.
double msccl_bound(const MscclAlgorithm& algorithm, const CollectiveSpec& spec, const AxisRates& rates);

}  // namespace stepsim
