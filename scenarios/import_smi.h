// import_smi.h: a node from the matrix that `nvidia-smi topo -m` prints.
//
// The matrix tells classes, not rates: what a pair's way crosses. Its classes nest, so they are a tree of boxes:
//   PIX   one PCIe switch                         PXB   several switches, one above the others
//   PHB   one host bridge (root complex)          NODE  one socket (NUMA node); SOC, SYS: different sockets
//   NV#   # NVLinks: to one another, or to NVSwitches where a GPU's numbers add up to more links than it has
// NV# hides where on PCIe a pair is: taken from what both are to NICs, else from the CPU affinity column, else noted.
// Rates are given by generation (nccl_rates.h): PCIe of x16, NVLink per link. Whatever had to be assumed is in
// GraphSpec::notes. Colours, prompts before the matrix and the legend after it may stay in the paste.
// Source: the legend of nvidia-smi; links per GPU by NVLink generation: 4, 6, 12, 18, 18 (P100, V100, A100, H100, B200).
#pragma once

#include <optional>
#include <string>

#include "topology/graph_spec.h"

namespace stepsim {

/// What the matrix does not tell. Each is needed only where the matrix has such links.
struct SmiRates {
  int pcie_gen = 0;                         // 1 to 6
  std::optional<int> nvlink_gen;            // 1 to 5
  std::optional<std::int64_t> socket_rate;  // bytes/s one way between two sockets
};

/// name: of the file, for messages. InputError with lines and columns, and on cluster.pcie_gen, cluster.nvlink_gen and
/// cluster.socket_rate; several at once.
GraphSpec import_nvidia_smi(const std::string& text, const std::string& name, const SmiRates& rates);

}  // namespace stepsim
