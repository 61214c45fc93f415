#include "scenarios/algorithm_file.h"

#include <filesystem>
#include <memory>

#include "collectives/msccl.h"
#include "scenarios/yaml_tree.h"

namespace stepsim {
namespace {

const std::string prefix = "msccl:";
constexpr std::size_t most_bytes = 64 << 20;  // all pairs of 256 GPUs are some 40 MB

}  // namespace

std::optional<AlgorithmFile> algorithm_file(const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string file = name.substr(prefix.size());
  if (file.empty()) throw InputError("--algorithm", "expected msccl:FILE, found no file");
  const auto read =
      std::make_shared<MscclAlgorithm>(parse_msccl(read_bytes(file, "an MSCCL algorithm file", most_bytes), file));
  AlgorithmFile one;
  one.protocol = read->protocol;
  one.algorithm.pattern = [read](const CollectiveSpec& spec) { return msccl_pattern(*read, spec); };
  one.algorithm.bound = [read](const CollectiveSpec& spec, const AxisRates& rates) {
    return msccl_bound(*read, spec, rates);
  };
  return one;
}

std::string beside(const std::string& name, const std::string& file) {
  if (!name.starts_with(prefix)) return name;
  const std::filesystem::path path = std::filesystem::path(file).parent_path() / name.substr(prefix.size());
  return prefix + path.string();
}

}  // namespace stepsim
