// memory_meter.h: bytes in use per class and part, and the peak. Sampled once per instant, so that what is freed and
// allocated at the same picosecond does not count twice.
#pragma once

#include <vector>

#include "sim/program.h"
#include "sim/timeline.h"

namespace stepsim {

class MemoryMeter {
 public:
  MemoryMeter(const StepProgram& program, bool record);

  /// Applies the changes that `op` makes at its start (at_end false) or end.
  void apply(ClassId who, const Program& program, const Op& op, bool at_end);

  /// End of an instant: peaks of the classes that changed.
  void sample(Picoseconds now);

  std::vector<MemoryPeak> take_peaks();
  std::vector<MemorySample> take_samples() { return std::move(samples_); }

 private:
  void find_parts(const StepProgram& program);
  void change(ClassId who, const MemoryChange& change);

  bool record_;
  std::size_t names_;
  // Of all names few are parts of memory: those have a slot.
  std::vector<NameId> part_of_;         // [slot]
  std::vector<std::uint32_t> slot_of_;  // [NameId]
  std::vector<Bytes> use_;              // [class * slots + slot]
  std::vector<Bytes> total_;
  std::vector<bool> dirty_;
  std::vector<ClassId> changed_;
  std::vector<MemoryPeak> peaks_;  // by_part by slot until they are taken
  std::vector<MemorySample> samples_;
};

}  // namespace stepsim
