// random_scenario.h: small random scenarios for property tests, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace stepsim::testing {

/// Draws that are the same on every compiler (std distributions are not).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }

 private:
  std::mt19937_64 random_;
};

/// A TPU-like chip with the figures of the book's v5p, made small and slow enough that everything takes some time.
inline ChipSpec small_chip(Draw& draw) {
  ChipSpec chip;
  chip.name = "test chip";
  chip.flops = {{"bf16", 1e12 * static_cast<double>(draw.of<int>({1, 10, 459}))}};
  chip.memory = 96'000'000'000;
  chip.memory_rate = 2.8e12;
  chip.axes = 3;
  chip.pod = {16, 20, 28};
  chip.host_shape = {2, 2, 1};
  chip.wrap = WrapRule::cubes;
  chip.link_rate = draw.of<std::int64_t>({90'000'000'000, 45'000'000'000, 7'000'000'001});
  chip.link_latency = Picoseconds(draw.of<std::int64_t>({0, 1'000'000, 333'333}));
  chip.pcie_rate = 16'000'000'000;
  chip.dcn_rate_per_chip = 6'250'000'000;
  return chip;
}

inline ModelSpec small_model(Draw& draw) {
  ModelSpec model;
  model.name = "test model";
  model.layers = 1 + draw.below(3);
  model.d_model = 64 * (1 + draw.below(4));
  model.d_ff = 64 * (1 + draw.below(6));
  model.attention = draw.of<Attention>({Attention::none, Attention::causal, Attention::full});
  model.elementwise = draw.below(2) == 0;
  model.gated = draw.below(2) == 0;
  model.heads = 8;
  model.kv_heads = draw.of<std::int64_t>({4, 8});
  model.head_dim = 16;
  model.vocabulary = draw.of<std::int64_t>({0, 512});
  model.sequence = 64;
  return model;
}

inline Strategy small_strategy(Draw& draw, int chips) {
  Strategy strategy;
  const int tensor = draw.of<int>({1, 1, 2, 4});
  const int data = chips / tensor > 4 ? draw.of<int>({1, 2, 4}) : 1;
  strategy.mesh = {{"data", data}, {"fsdp", chips / tensor / data}, {"tensor", tensor}};
  strategy.microbatches = 1 + draw.below(2);
  strategy.batch_tokens = static_cast<std::int64_t>(chips) * 64 * strategy.microbatches * (1 + draw.below(2));
  strategy.zero = static_cast<int>(draw.below(4));
  strategy.prefetch = static_cast<int>(draw.below(3));
  strategy.reshard_after_forward = draw.below(2) == 0;
  strategy.separate_reduce_queue = draw.below(2) == 0;
  strategy.bucket = draw.of<Bytes>({1, 100'000, 25'000'000});
  strategy.tensor_overlap_chunks = draw.of<int>({1, 1, 2});
  strategy.checkpoints = draw.of<Checkpoints>({Checkpoints::none, Checkpoints::full});
  return strategy;
}

/// A torus slice, two slices over DCN, or a PCIe host with or without peer-to-peer.
inline ClusterSpec small_cluster(Draw& draw) {
  ClusterSpec cluster;
  cluster.chip = small_chip(draw);
  cluster.kind = draw.below(6) == 0 ? "pcie" : "torus";
  if (cluster.kind == "pcie") {
    cluster.devices = 4;
    cluster.devices_per_switch = draw.of<std::vector<int>>({{}, {2, 2}, {1, 1, 1, 1}});
    cluster.root_complexes = cluster.devices_per_switch.size() == 2 ? 2 : 1;
    cluster.peer_to_peer = draw.below(2) == 0;
    cluster.host_memory_rate = 80'000'000'000;
    cluster.root_complex_rate = 30'000'000'000;
    cluster.staging_latency = Picoseconds(2'000'000);
    return cluster;
  }
  cluster.shape = draw.of<std::vector<int>>({{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}, {4, 4, 4}});
  cluster.slices = cluster.shape[2] < 4 ? draw.of<int>({1, 2}) : 1;
  return cluster;
}

inline int chips_of(const ClusterSpec& cluster) {
  int chips = cluster.kind == "pcie" ? cluster.devices : cluster.slices;
  for (const int extent : cluster.shape) chips *= extent;
  return chips;
}

inline Scenario random_scenario(std::uint64_t seed) {
  Draw draw(seed);
  Scenario scenario;
  scenario.name = "random " + std::to_string(seed);
  scenario.cluster = small_cluster(draw);
  scenario.model = small_model(draw);
  scenario.strategy = small_strategy(draw, chips_of(scenario.cluster));
  scenario.ring = draw.of<RingStyle>({RingStyle::one_way, RingStyle::halves, RingStyle::whole_shards});
  scenario.weighted_parts = draw.below(2) == 0;
  return scenario;
}

}  // namespace stepsim::testing
