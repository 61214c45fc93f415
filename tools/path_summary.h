// path_summary.h: the critical path in few words.
//
// A path has a piece per op, thousands of them. Consecutive pieces that are the same thing (a phase of computing, one
// kind of collective on one axis) make a stretch; stretches that are the same thing make a part. Both sum to the
// step.
#pragma once

#include <string>
#include <vector>

#include "sim/critical_path.h"

namespace stepsim {

struct PathStretch {
  std::string name;  // "forward", "tensor all-gather", "waiting"
  ClassId who = 0;   // of its first piece
  Picoseconds start;
  Picoseconds end;
  Picoseconds contention;  // of its time, what it would save with the links to itself
  std::uint32_t pieces = 0;
  std::string first;  // label of its first op
  std::string last;
};

std::vector<PathStretch> path_stretches(const StepProgram& program, const std::vector<PathPiece>& path);

struct PathPart {
  std::string name;
  Picoseconds time;
  Picoseconds contention;
  Picoseconds longest;  // of its stretches
  std::uint32_t stretches = 0;
};

/// Largest first; ties in order of first appearance.
std::vector<PathPart> path_parts(const std::vector<PathStretch>& stretches);

}  // namespace stepsim
