// critical_path.h: the chain of ops that released each other, read backward from the end of the reported step.
//
// The path is cut at the step window, so its pieces sum to the step. A collective's piece runs from the arrival of
// its last member to its end on this class; the path goes on at that member. Inside a flow's piece stands how much
// was contention: its span minus what the same collective takes alone on the network.
#pragma once

#include <functional>
#include <vector>

#include "sim/network.h"
#include "sim/program.h"
#include "sim/simulation.h"
#include "sim/timeline.h"

namespace stepsim {

struct PathPiece {
  ClassId who = 0;
  OpId op = none;  // none: nothing ran (waiting for the step to begin)
  std::uint32_t step = 0;
  Picoseconds start;
  Picoseconds end;
  Picoseconds contention;
};

/// When a class would leave a collective if all its group arrived at once and had the network to itself.
using AloneTime = std::function<Picoseconds(CollectiveId, ClassId)>;

/// In order of time; from window_start to window_end without gaps.
std::vector<PathPiece> critical_path(const StepProgram& program, const Network& network, const Timeline& timeline,
                                     const RunOptions& options, const AloneTime& alone);

/// The same where every chip is a class: groups are played alone as they stand.
std::vector<PathPiece> critical_path(const StepProgram& program, const Network& network, const Timeline& timeline,
                                     const RunOptions& options);

}  // namespace stepsim
