// gradients.h: how the gradients of a unit are accumulated, reduced and kept until its update.
//
//   ZeRO-0  full gradients are kept over all microbatches; after the last one they are all-reduced over data, fsdp
//           and sequence in buckets, in the order in which they become ready; a bucket closes when it holds at least
//           Strategy::bucket bytes (data_parallel.cpp)
//   ZeRO-1  kept likewise; reduce-scattered over fsdp and sequence after the last microbatch
//   ZeRO-2  reduce-scattered in every microbatch; only the shard is kept ("gradients"), the unreduced gradient is a
//   and 3   buffer that lives from the first op that adds to it until the reduce-scatter ends ("buffers")
// From ZeRO-1 on the shards are all-reduced over data after the last microbatch (book, "Scaling across pods").
// Reductions float: only the optimizer waits for them.
#pragma once

#include <vector>

#include "schedules/step_writer.h"
#include "schedules/tape.h"

namespace stepsim {

class Gradients {
 public:
  Gradients(const Tape& tape, const Strategy& strategy, StepWriter& writer);
  void before(std::uint32_t tape_op, PendingOp& pending);
  void after(std::uint32_t tape_op, OpId id);
  /// After the last op: closes what is still open.
  void finish();

  /// A unit whose gradient is complete, and the op that completed it.
  struct Ready {
    int unit = 0;
    OpId op = 0;
  };
  /// In the order in which they became ready.
  [[nodiscard]] const std::vector<Ready>& ready() const { return ready_; }
  [[nodiscard]] std::vector<Ready>& ready() { return ready_; }
  /// Bytes kept until the update.
  [[nodiscard]] Bytes kept(int unit) const;

 private:
  void find_spans();
  [[nodiscard]] Bytes whole(int unit) const;
  [[nodiscard]] OpId reduce_scatter(int unit, OpId gradient, std::int32_t microbatch);
  [[nodiscard]] OpId reduce_over_data(int unit, OpId shard);
  void add_to_bucket(int unit, OpId gradient);
  void reduce_bucket();

  const Tape& tape_;
  const Strategy& strategy_;
  StepWriter& writer_;
  std::vector<std::string> shard_axes_;
  std::vector<std::string> data_axes_;
  std::int64_t shards_ = 1;
  std::vector<bool> first_;  // per tape op: the first that adds to its unit's gradient in its span (TapeOp::span)
  std::vector<bool> last_;
  std::vector<bool> opens_;  // the first of the step
  std::vector<bool> completes_;
  std::vector<bool> kept_;  // per unit: what is kept until the update has been allocated
  std::vector<Ready> bucket_;
  Bytes bucket_bytes_ = 0;
  std::vector<Ready> ready_;
};

}  // namespace stepsim
