#include "tools/path_summary.h"

#include <algorithm>

namespace stepsim {

namespace {

const Op* op_of(const StepProgram& program, const PathPiece& piece) {
  if (piece.op == none) return nullptr;
  return &program.run_by(piece.who).ops[piece.op];
}

std::string name_of(const StepProgram& program, const Op* op) {
  if (op == nullptr) return "waiting";
  const std::string axis = program.names[op->tag.axis];
  const std::string before = axis.empty() ? "" : axis + " ";
  switch (op->kind) {
    case OpKind::compute:
      return program.names[op->tag.phase];
    case OpKind::collective:
      return before + program.names[program.collectives[op->collective].kind];
    case OpKind::transfer:
      return before + "transfer";
    case OpKind::marker:
      break;
  }
  return "marker";
}

std::string label_of(const StepProgram& program, const Op* op) {
  return op == nullptr ? "" : program.names[op->tag.label];
}

}  // namespace

std::vector<PathStretch> path_stretches(const StepProgram& program, const std::vector<PathPiece>& path) {
  std::vector<PathStretch> all;
  for (const PathPiece& piece : path) {
    if (piece.start == piece.end) continue;
    const Op* op = op_of(program, piece);
    const std::string name = name_of(program, op);
    if (all.empty() || all.back().name != name) {
      all.push_back({name, piece.who, piece.start, piece.end, {}, 0, label_of(program, op), ""});
    }
    PathStretch& stretch = all.back();
    stretch.end = piece.end;
    stretch.contention += piece.contention;
    stretch.last = label_of(program, op);
    ++stretch.pieces;
  }
  return all;
}

std::vector<PathPart> path_parts(const std::vector<PathStretch>& stretches) {
  std::vector<PathPart> parts;
  for (const PathStretch& stretch : stretches) {
    auto part = std::find_if(parts.begin(), parts.end(), [&](const PathPart& p) { return p.name == stretch.name; });
    if (part == parts.end()) part = parts.insert(parts.end(), {stretch.name, {}, {}, {}, 0});
    const Picoseconds time = stretch.end - stretch.start;
    part->time += time;
    part->contention += stretch.contention;
    part->longest = std::max(part->longest, time);
    ++part->stretches;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return parts;
}

}  // namespace stepsim
