#include "sim/memory_meter.h"

#include <algorithm>

namespace stepsim {

MemoryMeter::MemoryMeter(const StepProgram& program, bool record)
    : record_(record),
      names_(program.names.size()),
      total_(program.program_of.size(), 0),
      dirty_(program.program_of.size(), false),
      peaks_(program.program_of.size()) {
  find_parts(program);
  use_.assign(program.program_of.size() * part_of_.size(), 0);
  for (ClassId who = 0; who < program.program_of.size(); ++who) {
    for (const MemoryChange& part : program.run_by(who).resident) change(who, part);
  }
}

void MemoryMeter::find_parts(const StepProgram& program) {
  slot_of_.assign(names_, none);
  const auto add = [&](const MemoryChange& one) {
    if (slot_of_[one.part] != none) return;
    slot_of_[one.part] = static_cast<std::uint32_t>(part_of_.size());
    part_of_.push_back(one.part);
  };
  for (const Program& one : program.programs) {
    std::for_each(one.resident.begin(), one.resident.end(), add);
    std::for_each(one.memory.begin(), one.memory.end(), add);
  }
}

void MemoryMeter::apply(ClassId who, const Program& program, const Op& op, bool at_end) {
  for (std::uint32_t m = 0; m < op.memory_changes; ++m) {
    const MemoryChange& one = program.memory[op.first_memory + m];
    if (one.at_end == at_end) change(who, one);
  }
}

void MemoryMeter::change(ClassId who, const MemoryChange& change) {
  use_[who * part_of_.size() + slot_of_[change.part]] += change.delta;
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
    const auto first = use_.begin() + static_cast<std::ptrdiff_t>(who * part_of_.size());
    peak.by_part.assign(first, first + static_cast<std::ptrdiff_t>(part_of_.size()));
  }
  changed_.clear();
}

std::vector<MemoryPeak> MemoryMeter::take_peaks() {
  for (MemoryPeak& peak : peaks_) {
    std::vector<Bytes> by_name(names_, 0);
    for (std::size_t slot = 0; slot < peak.by_part.size(); ++slot) by_name[part_of_[slot]] = peak.by_part[slot];
    peak.by_part = std::move(by_name);
  }
  return std::move(peaks_);
}

}  // namespace stepsim
