// msccl_fuzz.cpp: libFuzzer target of the reader of MSCCL algorithms. Run: msccl_fuzz WORK_FOLDER tests/collectives/msccl
#include <cstddef>
#include <cstdint>

#include "parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepsim::testing::read_msccl(std::string(data, data + size));
  return 0;
}
