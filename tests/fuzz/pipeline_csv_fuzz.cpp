// pipeline_csv_fuzz.cpp: libFuzzer target of the reader of schedule CSV. Run: pipeline_csv_fuzz WORK_FOLDER tests/pipeline/csv_seeds
#include <cstddef>
#include <cstdint>

#include "parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepsim::testing::read_pipeline_schedule(std::string(data, data + size));
  return 0;
}
