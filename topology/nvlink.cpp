// nvlink.cpp: one host with NVLink from chip to chip, over a PCIe tree that carries what has no NVLink.
//
// Pairs: a bridge of some NVLinks between devices 2i and 2i + 1. GPUs do not forward, so two devices of different pairs
// meet over PCIe.
// Hybrid cube mesh (DGX-1 with V100, p3.16xlarge): 8 devices of 6 NVLinks each, 24 in all. Numbers of NVLinks between
// devices as `nvidia-smi topo -m` prints them (NV1, NV2; the same counts stand in the topology file of
// NVIDIA/nccl#671): two squares 0-3 and 4-7, with both diagonals, and four cables from one to the other.
// A double link is one cable of twice the rate: NVLink spreads a transfer over both.
// Usual rates (one way), as NCCL counts: 20 GB/s a link with V100 and A100, 20.6 with H100, 40.1 with B200.
#include <array>

#include "sim/input_error.h"
#include "topology/builders.h"

namespace stepsim {

namespace {

struct Bond {
  int one;
  int other;
  int links;
};

constexpr std::array<Bond, 16> cube_mesh = {{{0, 1, 1},
                                             {0, 2, 1},
                                             {0, 3, 2},
                                             {0, 4, 2},
                                             {1, 2, 2},
                                             {1, 3, 1},
                                             {1, 5, 2},
                                             {2, 3, 2},
                                             {2, 6, 1},
                                             {3, 7, 1},
                                             {4, 5, 1},
                                             {4, 6, 1},
                                             {4, 7, 2},
                                             {5, 6, 2},
                                             {5, 7, 1},
                                             {6, 7, 2}}};

int device_count(const PcieTreeSpec& tree) {
  int devices = 0;
  for (const int count : tree.devices_per_switch) devices += count;
  return devices;
}

std::vector<Bond> bonds(const ClusterSpec& spec) {
  if (spec.nvlink.wiring == NvlinkWiring::hybrid_cube_mesh) return {cube_mesh.begin(), cube_mesh.end()};
  std::vector<Bond> pairs;
  for (int device = 0; device + 1 < device_count(spec.tree); device += 2) {
    pairs.push_back({device, device + 1, spec.nvlink.links});
  }
  return pairs;
}

void check(const ClusterSpec& spec) {
  const NvlinkSpec& nvlink = spec.nvlink;
  const int devices = device_count(spec.tree);
  const bool mesh = nvlink.wiring == NvlinkWiring::hybrid_cube_mesh;
  std::vector<Problem> problems;
  if (mesh ? devices != 8 : devices % 2 != 0) {
    problems.push_back({{},
                        "cluster.devices_per_switch",
                        std::string("expected ") + (mesh ? "8 devices for a hybrid cube mesh" : "pairs of devices") +
                            ", found a sum of " + std::to_string(devices)});
  }
  const int most_links = mesh ? 2 : nvlink.links;
  if (nvlink.rate < 1 || nvlink.rate > max_capacity / std::max(most_links, 1)) {
    problems.push_back({{}, "cluster.nvlink_rate", "expected the rate of one NVLink, one way"});
  }
  if (nvlink.links < 1 || nvlink.links > 64) {
    problems.push_back(
        {{}, "cluster.nvlinks", "expected 1 to 64 NVLinks of a bridge, found " + std::to_string(nvlink.links)});
  }
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace

GraphSpec nvlink_graph(const ClusterSpec& spec) {
  GraphSpec graph = pcie_tree_graph(spec);
  check(spec);
  for (const Bond& bond : bonds(spec)) {
    graph.cables.push_back({"device " + std::to_string(bond.one), "device " + std::to_string(bond.other),
                            spec.nvlink.rate * bond.links, spec.nvlink.latency, "nvlink"});
  }
  return graph;
}

Cluster build_nvlink(const ClusterSpec& spec) {
  ClusterSpec listed = spec;
  listed.graph = nvlink_graph(spec);
  return build_listed(listed);
}

}  // namespace stepsim
