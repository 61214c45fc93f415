// strategy.h: how the model is spread over the mesh, and what the step does about memory and overlap.
//
// The role of a mesh axis follows from its name:
//   data      replicas: gradients are all-reduced over it
//   fsdp      the batch is split over it, and parameters / gradients / optimizer state are sharded as `zero` says
//   sequence  as fsdp: further batch sharding, weights shard over fsdp and sequence together
//   pipeline  layers are split over it in stages, which microbatches pass as a schedule says
//   tensor    matmuls are split over it (heads, F), activations are sharded between them
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipelining.h"
#include "topology/mesh.h"

namespace stepsim {

enum class Checkpoints { none, full, per_layer };

/// Where a schedule cuts sequences (PipelineStrategy::segments): the index-th of count equal parts.
struct SequencePart {
  int index = 0;
  int count = 1;
};

struct Strategy {
  std::vector<MeshAxis> mesh;     // in mesh order, outermost first
  std::int64_t batch_tokens = 0;  // global, per step
  std::int64_t microbatches = 1;  // gradient accumulation; what a pipeline is filled with
  PipelineStrategy pipeline;
  SequencePart part;                   // of each sequence that is at hand
  int zero = 3;                        // 0 none, 1 optimizer, 2 + gradients, 3 + weights (= FSDP)
  int prefetch = 1;                    // layers' weights gathered ahead of use (0: gathered when needed)
  bool reshard_after_forward = true;   // free gathered weights after the forward and gather again in the backward
  bool separate_reduce_queue = true;   // gathers and reduces of one set of axes have a queue each, else they share one
  Bytes bucket = 25'000'000;           // data-parallel gradients are reduced in buckets of at least this size
  int tensor_overlap_chunks = 1;       // > 1: tensor collectives and their matmul in chunks that overlap
  bool regather_tensor_input = false;  // backward gathers the layer's input again instead of keeping the gathered one
  Checkpoints checkpoints = Checkpoints::none;
  int checkpoints_per_layer = 0;  // with per_layer: activations kept per layer, evenly spread over its ops
  std::string dtype = "bf16";     // of weights and activations
  int weight_bytes = 2;
  int gradient_bytes = 2;
  int activation_bytes = 2;
  int moment_bytes = 4;  // each of Adam's two
  int master_bytes = 0;  // fp32 master copy of the weights; 0: none
};

/// The degrees that the roles above multiply to.
struct Degrees {
  std::int64_t data = 1;
  std::int64_t shard = 1;  // fsdp x sequence
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  [[nodiscard]] std::int64_t batch() const { return data * shard; }
};
Degrees degrees(const Strategy& strategy);

/// Those of these mesh axes that exist and have more than one chip, in mesh order: the axes of a group.
std::vector<std::string> group_axes(const Strategy& strategy, const std::vector<std::string>& roles);

/// What a group along these axes is called: "fsdp+sequence".
std::string group_name(const std::vector<std::string>& axes);

}  // namespace stepsim
