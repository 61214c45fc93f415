// pipelining.h: how the model is cut into stages along the mesh axis "pipeline", and what of it may float.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/pipeline/order.h"

namespace stepsim {

/// How long a stage's sharded weights stay gathered, and how long its gradients add up before they are reduce-scattered.
enum class ShardedFor : std::uint8_t {
  microbatch,  // each forward and backward gathers, each backward reduces (FSDP as without a pipeline)
  stage,       // as long as a rank's actions stay on one stage
  step         // gathered before the first use, freed after the last; reduced once
};

/// When messages go, and whether the compute stream waits for them.
enum class Sends : std::uint8_t {
  eager,  // as soon as they are made, into a buffer of the receiver; only who reads a message waits for it
  paired,  // a rank hands over what it made and takes what it reads next together (Megatron's send_forward_recv_backward),
           // and goes on when both are done; the peers must both be there
  blocking  // the same one after the other: first the send, then the receive
};

/// Layers per stage.
enum class StageLayers : std::uint8_t {
  equal,  // must divide
  balanced,  // as equal as can be; what is left over goes to the stages in the middle, for the ends hold embedding and head
  given
};

struct PipelineStrategy {
  std::string schedule = "1f1b";       // of pipeline_families()
  std::optional<PipelineOrder> order;  // given action by action instead
  int stages_per_rank = 0;             // 0: the schedule's own number, else 1
  int group = 0;                       // PipelineSizes::group
  int segments = 1;                    // PipelineSizes::segments
  std::optional<double> memory_limit;  // PipelineSizes::memory_limit, in activations of one stage and microbatch
  StageLayers layers_by = StageLayers::equal;
  std::vector<std::int64_t> layers;  // per stage, where given
  ShardedFor sharded_for = ShardedFor::microbatch;
  Sends sends = Sends::eager;
  bool synchronised =
      true;            // the optimizer waits for a norm over all stages; else each rank updates by itself (checked
                       // afterwards: "post-validation" of arXiv 2401.10241, section 4)
  bool blocks = true;  // actions without inner communication are played as one op for each kind of work
  double fused_duration = 1;  // what the compute of a fused pair takes, of its parts one after the other
};

}  // namespace stepsim
