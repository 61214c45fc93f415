// timeline.h: what the clock writes down, and every report reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/program.h"

namespace stepsim {

struct OpTimes {
  Picoseconds start;
  Picoseconds end;
  Picoseconds drained;  // transfers: when the sender was free; otherwise equal to end
};

/// A stretch in which an open collective had nothing in flight to or from this class: a peer had not arrived, or
/// had nothing to pass on yet.
struct Wait {
  ClassId who = 0;
  OpId op = 0;
  std::uint32_t step = 0;
  Picoseconds start;
  Picoseconds end;
};

struct LinkUse {
  Bytes bytes = 0;               // of the flows that have drained, multiplicity included
  Picoseconds busy;              // time with at least one flow
  std::uint32_t peak_flows = 0;  // at once
};

struct MemoryPeak {
  Bytes bytes = 0;
  Picoseconds at;
  std::vector<Bytes> by_part;  // [NameId] at that instant; empty parts are 0
};

struct MemorySample {
  ClassId who = 0;
  Picoseconds at;
  Bytes bytes = 0;
};

struct Counters {
  std::uint64_t events = 0;
  std::uint64_t transfers = 0;
  std::uint64_t rate_solves = 0;
};

/// Times of all ops for the steps that are kept: at least the last three complete ones, and what of later ones was
/// played.
struct Timeline {
  std::uint32_t classes = 0;
  std::uint32_t steps = 0;                  // played
  bool periodic = false;                    // the last two complete steps were alike
  std::vector<std::uint32_t> first_op;      // per class: where its ops start in times[step]; one more at the end
  std::uint32_t first_kept = 0;             // the earliest step whose times are kept
  std::vector<std::vector<OpTimes>> times;  // [step - first_kept][first_op[class] + op]
  std::vector<Picoseconds> step_end;        // [step]: last step-ending op of all classes
  std::vector<Wait> waits;                  // in order of (step, class, op, start)
  std::vector<std::vector<LinkUse>>
      links_at_end;                  // [step][link]: running totals at step_end[step]; empty before first_kept
  std::vector<MemoryPeak> peak;      // per class, over the whole run
  std::vector<MemorySample> memory;  // only when asked for
  Counters counters;

  [[nodiscard]] const OpTimes& at(std::uint32_t step, ClassId who, OpId op) const {
    return times[step - first_kept][first_op[who] + op];
  }
  /// The step that is reported: from step_end[reported - 1] (or 0) to step_end[reported].
  [[nodiscard]] std::uint32_t reported() const { return steps < 2 ? 0 : steps - 2; }
  [[nodiscard]] Picoseconds window_start() const { return reported() == 0 ? Picoseconds(0) : step_end[reported() - 1]; }
  [[nodiscard]] Picoseconds window_end() const { return step_end[reported()]; }
  [[nodiscard]] Picoseconds step_time() const { return window_end() - window_start(); }
};

}  // namespace stepsim
