#include "sim/memory_meter.h"

#include <algorithm>

namespace stepsim {

MemoryMeter::MemoryMeter(const StepProgram& program, bool record)
    : record_(record),
      parts_(program.names.size()),
      use_(program.program_of.size() * program.names.size(), 0),
      total_(program.program_of.size(), 0),
      dirty_(program.program_of.size(), false),
      peaks_(program.program_of.size()) {
  for (ClassId who = 0; who < program.program_of.size(); ++who) {
    for (const MemoryChange& part : program.programs[program.program_of[who]].resident) change(who, part);
  }
  sample(Picoseconds(0));
}

void MemoryMeter::apply(ClassId who, const Program& program, const Op& op, bool at_end) {
  for (std::uint32_t m = 0; m < op.memory_changes; ++m) {
    const MemoryChange& one = program.memory[op.first_memory + m];
    if (one.at_end == at_end) change(who, one);
  }
}

void MemoryMeter::change(ClassId who, const MemoryChange& change) {
  use_[who * parts_ + change.part] += change.delta;
  total_[who] += change.delta;
  if (dirty_[who]) return;
  dirty_[who] = true;
  changed_.push_back(who);
}

void MemoryMeter::sample(Picoseconds now) {
  if (record_) std::sort(changed_.begin(), changed_.end());
  for (const ClassId who : changed_) {
    dirty_[who] = false;
    if (record_) samples_.push_back({who, now, total_[who]});
    MemoryPeak& peak = peaks_[who];
    if (total_[who] <= peak.bytes) continue;
    peak.bytes = total_[who];
    peak.at = now;
    const auto first = use_.begin() + static_cast<std::ptrdiff_t>(who * parts_);
    peak.by_part.assign(first, first + static_cast<std::ptrdiff_t>(parts_));
  }
  changed_.clear();
}

std::vector<MemoryPeak> MemoryMeter::take_peaks() {
  return std::move(peaks_);
}

}  // namespace stepsim
