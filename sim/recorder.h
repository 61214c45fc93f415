// recorder.h: writes the Timeline as the clock goes, and knows when a step is over and whether two were alike.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/events.h"
#include "sim/timeline.h"

namespace stepsim {

class Recorder {
 public:
  explicit Recorder(const StepProgram& program);

  void started(const OpInstance& op, Picoseconds now) { times(op).start = now; }
  void drained(const OpInstance& op, Picoseconds now) { times(op).drained = now; }
  void ended(const OpInstance& op, Picoseconds now);

  /// Steps whose step-ending ops have ended since the last call; the caller adds the link totals of this instant.
  [[nodiscard]] bool step_just_ended() const { return timeline_.step_end.size() > timeline_.links_at_end.size(); }
  void add_links(std::vector<LinkUse> totals) { timeline_.links_at_end.push_back(std::move(totals)); }

  /// The earliest step whose times are still there.
  [[nodiscard]] std::uint32_t first_kept() const { return timeline_.first_kept; }

  /// Steps that every class has ended completely.
  [[nodiscard]] std::uint32_t complete() const { return complete_; }
  /// Ops that have ended, of all ops of the earliest step that is not complete.
  [[nodiscard]] double share_of_step() const;
  /// Were the last two complete steps alike, relative to their starts?
  [[nodiscard]] bool periodic() const { return periodic_; }

  /// Hands over the timeline; waits are sorted and cut to the steps that are kept.
  Timeline take(std::vector<Wait> waits);

 private:
  struct Progress {  // of one step
    std::uint32_t ends_left = 0;
    std::uint64_t ops_left = 0;
  };
  OpTimes& times(const OpInstance& op);
  void open_step();
  [[nodiscard]] bool last_two_alike() const;
  [[nodiscard]] Picoseconds start_of(std::uint32_t step) const {
    return step == 0 ? Picoseconds(0) : timeline_.step_end[step - 1];
  }

  const StepProgram& program_;
  Timeline timeline_;
  std::vector<Progress> progress_;  // [step]
  std::vector<bool> all_ends_;      // per program: no op is marked, every op ends the step
  Progress whole_;                  // of a step not yet begun
  std::uint32_t complete_ = 0;
  bool periodic_ = false;
};

}  // namespace stepsim
