// smi_fuzz.cpp: libFuzzer target of the importer of nvidia-smi matrices. Run: smi_fuzz WORK_FOLDER tests/scenarios/smi_matrices
#include <cstddef>
#include <cstdint>

#include "parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepsim::testing::read_smi(std::string(data, data + size));
  return 0;
}
