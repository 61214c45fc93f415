// smi_matrix.h: the matrix of `nvidia-smi topo -m` as a table. Internal to import_smi.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// How near two devices are, nearest first.
enum class SmiClass { self, pix, pxb, phb, node, sys, nvlink };

struct SmiMatrix {
  std::vector<std::string> names;              // of the columns: GPU0, ..., then NICs
  std::vector<std::vector<SmiClass>> classes;  // [row][column], symmetric
  std::vector<std::vector<int>> links;         // NV#
  std::vector<std::string> affinity;           // CPUs, per row; may be empty

  [[nodiscard]] bool is_gpu(std::size_t device) const { return names[device].starts_with("GPU"); }
};

/// InputError with lines and columns, several at once.
SmiMatrix read_smi_matrix(const std::string& text, const std::string& name);

}  // namespace stepsim
