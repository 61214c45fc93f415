// fold_pipeline_matrix_test.cpp: the fold's matrix (fold_matrix_test.cpp) with a pipeline axis: each rank of it runs a program
// of its own; with FSDP, tensor and data parallelism beside it, on tori and on nodes, healthy and with faults.
#include "tests/scenarios/fold_matrix.h"

namespace stepsim::testing {
namespace {

class FoldPipelineMatrix : public ::testing::TestWithParam<FoldCase> {};

TEST_P(FoldPipelineMatrix, FoldedIsEveryChipToThePicosecond) {
  expect_folded_is_every_chip(GetParam());
}

const std::string cube = "{system: tpu-v5p, shape: [4, 4, 4]}";
const std::string line = "{system: tpu-v5p, shape: [4, 2, 1], wraps: [off, off, off]}";
const std::string nodes =
    "{kind: nodes, chip: {base: h100, pcie_latency: 700 ns}, gpus: 4, nodes: [4], switch_rate: 450 GB/s, "
    "switch_latency: 1 us, nic_rate: 50 GB/s, nic_latency: 2 us, tier_latency: 500 ns, nics: 4, wiring: "
    "rail_optimised, "
    "protocols: {LL: {launch: 6.6 us, direct_hop: 0.6 us, pcie_hop: 1 us, network_hop: 2.7 us, share: 0.4}, "
    "Simple: {launch: 8.4 us, direct_hop: 3.4 us, pcie_hop: 5.7 us, network_hop: 14 us, chunk: 512 KiB}}}";

const std::vector<std::string> layers8{"model={base: book-mlp, layers: 8, d_model: 1024, d_ff: 4096}"};
const std::vector<std::string> llama8{
    "model={base: llama3-8b, layers: 8, d_model: 512, d_ff: 1024, heads: 8, kv_heads: 4, head_dim: 64, vocabulary: "
    "1024, sequence: 128}"};

std::string strategy(const std::string& axes, const std::string& pipeline, const std::string& more = "zero: 0") {
  return mesh(axes, "microbatches: 8, " + more + ", pipeline: {" + pipeline + "}");
}

FoldCase on(const std::string& name, const std::string& cluster, const std::string& parallelism,
            std::vector<std::string> more = layers8, std::uint32_t classes = 0) {
  return {name, cluster, parallelism, classes, std::move(more)};
}

std::vector<FoldCase> cases() {
  const std::string dp_tp = "data: 4, pipeline: 4, tensor: 4";
  const std::string slow = "faults={chips: [{at: [0, 0, 1], slowdown: 1.1}]}";
  std::vector<std::string> faulty = layers8;
  faulty.push_back(slow);
  return {
      on("dp_pp_closed", cube, strategy("data: 16, pipeline: 4", "schedule: 1f1b"), layers8, 4),
      on("dp_pp_tp", cube, strategy(dp_tp, "schedule: 1f1b"), llama8),
      on("dp_pp_tp_interleaved", cube, strategy(dp_tp, "schedule: interleaved_1f1b, stages_per_rank: 2")),
      on("dp_pp_tp_zero_bubble", cube, strategy(dp_tp, "schedule: zb_h1"), llama8),
      on("dp_pp_tp_v", cube, strategy(dp_tp, "schedule: zbv, optimizer: post_validation", "zero: 1")),
      on("fsdp_pp_microbatch", cube, strategy("fsdp: 16, pipeline: 4", "schedule: 1f1b", "zero: 3"), llama8),
      on("fsdp_pp_stage", cube,
         strategy("fsdp: 16, pipeline: 4", "schedule: looped_bfs, stages_per_rank: 2, sharded_for: stage", "zero: 3"),
         llama8),
      on("fsdp_pp_step", cube,
         strategy("fsdp: 16, pipeline: 4", "schedule: 1f1b, sharded_for: step", "zero: 2, checkpoints: full"), llama8),
      on("dualpipe", cube, strategy("data: 16, pipeline: 4", "schedule: dualpipe"), llama8),
      on("chimera_tp", cube, strategy(dp_tp, "schedule: chimera"), llama8),
      on("dualpipev_fsdp", cube, strategy("fsdp: 4, pipeline: 4, tensor: 4", "schedule: dualpipev", "zero: 3"), llama8),
      on("seq1f1b", cube, strategy("data: 16, pipeline: 4", "schedule: seq1f1b, segments: 2"), llama8),
      on("line_gpipe_blocking", line, strategy("data: 2, pipeline: 4", "schedule: gpipe, sends: blocking")),
      on("paired", cube, strategy(dp_tp, "schedule: 1f1b, sends: paired"), llama8),
      on("line_chimera", line, strategy("data: 2, pipeline: 4", "schedule: chimera"), llama8),
      on("slow_chip", cube, strategy(dp_tp, "schedule: 1f1b"), faulty),
      on("nodes_across", nodes, strategy("pipeline: 4, tensor: 4", "schedule: 1f1b"), llama8),
      on("nodes_inside", nodes, strategy("data: 4, pipeline: 4", "schedule: zb_h2"), llama8),
      on("nodes_v_fsdp", nodes, strategy("fsdp: 4, pipeline: 4", "schedule: v_half", "zero: 3"), llama8),
  };
}

INSTANTIATE_TEST_SUITE_P(Pipelines, FoldPipelineMatrix, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stepsim::testing
