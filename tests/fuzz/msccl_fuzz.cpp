// msccl_fuzz.cpp: any bytes as an MSCCL file: either InputError, or a plan that is whole.
#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/msccl.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const stepsim::MscclAlgorithm algorithm = stepsim::parse_msccl(text, "fuzz.xml");
    if (algorithm.collective != "custom") return 0;  // of any kind
    stepsim::CollectiveSpec spec{.kind = stepsim::CollectiveKind::all_reduce, .shape = {}, .bytes = 1 << 20};
    spec.shape.push_back({.extent = static_cast<int>(algorithm.gpus.size()), .closed = true});
    stepsim::check(stepsim::tabulate(stepsim::msccl_pattern(algorithm, spec)));
  } catch (const stepsim::InputError&) {
  }
  return 0;
}
