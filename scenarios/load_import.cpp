#include "scenarios/load_import.h"

#include <filesystem>
#include <functional>

#include "scenarios/import_nccl.h"
#include "scenarios/import_smi.h"
#include "sim/network.h"

namespace stepsim {
namespace {

/// Empty when the key is missing, which is reported.
std::string path_of(Section& cluster) {
  std::string given = cluster.text("file", std::nullopt);
  const YamlValue* value = cluster.find("file");
  if (given.empty() || value == nullptr || value->origin == "--set") return given;
  return (std::filesystem::path(value->place.file).parent_path() / given).string();
}

/// Problems of keys stand at the keys, those of the file in the file.
void report(Section& cluster, const InputError& error) {
  const std::string under = cluster.full("");
  for (const Problem& problem : error.problems()) {
    if (problem.key.starts_with(under)) {
      cluster.problem(problem.key.substr(under.size()), problem.message);
    } else if (problem.place.line == 0) {
      cluster.problem("file", problem.place.file + ": " + problem.message);
    } else {
      cluster.findings().problems.push_back(problem);
    }
  }
}

void import_file(Section& cluster, ClusterSpec& spec,
                 const std::function<GraphSpec(const std::string& text, const std::string& name)>& parse) {
  spec.kind = "links";
  const std::string path = path_of(cluster);
  if (path.empty()) return;
  try {
    spec.graph = parse(read_bytes(path), path);
  } catch (const InputError& error) {
    report(cluster, error);
  }
}

}  // namespace

void read_nccl_topology(Section& cluster, ClusterSpec& spec) {
  import_file(cluster, spec, import_nccl_topology);
}

void read_nvidia_smi(Section& cluster, ClusterSpec& spec) {
  SmiRates rates;
  rates.pcie_gen = cluster.small_count("pcie_gen", {1, 6}, std::nullopt);
  if (cluster.has("nvlink_gen")) rates.nvlink_gen = cluster.small_count("nvlink_gen", {1, 5}, 1);
  if (cluster.has("socket_rate")) rates.socket_rate = cluster.rate("socket_rate", {1, max_capacity}, 1);
  if (rates.pcie_gen == 0) rates.pcie_gen = 1;  // reported; what is wrong in the matrix shows all the same
  import_file(cluster, spec,
              [&](const std::string& text, const std::string& name) { return import_nvidia_smi(text, name, rates); });
}

}  // namespace stepsim
