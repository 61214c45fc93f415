// nccl_fuzz.cpp: libFuzzer target of the importer of NCCL topology files. Run: nccl_fuzz WORK_FOLDER tests/scenarios/nccl_topologies
#include <cstddef>
#include <cstdint>

#include "parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepsim::testing::read_nccl(std::string(data, data + size));
  return 0;
}
