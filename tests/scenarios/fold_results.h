// fold_results.h: what is reported of a folded run against what is reported with every chip played.
//
// As in fold_compare.h: the first difference in words, or nothing.
#pragma once

#include <string>
#include <tuple>

#include "scenarios/run.h"
#include "tests/scenarios/fold_compare.h"

namespace stepsim::testing {

/// Where the time of each chip went: the same parts for as many chips, the lowest of them first.
inline std::string different_breakdown(const Symmetry& symmetry, const RunResult& folded, const RunResult& whole) {
  if (folded.breakdown.size() != whole.breakdown.size()) {
    return unequal("rows of the breakdown", folded.breakdown.size(), whole.breakdown.size());
  }
  for (std::size_t row = 0; row < whole.breakdown.size(); ++row) {
    const ClassBreakdown& a = folded.breakdown[row];
    const ClassBreakdown& b = whole.breakdown[row];
    if (symmetry.first(a.who) != b.who) return unequal("first chip of a row", symmetry.first(a.who), b.who);
    if (a.chips != b.chips) return unequal("chips of a row", a.chips, b.chips);
    if (a.parts.size() != b.parts.size()) return unequal("parts of a row", a.parts.size(), b.parts.size());
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
      if (a.parts[i].name != b.parts[i].name) return "part " + a.parts[i].name + " is " + b.parts[i].name;
      if (a.parts[i].time != b.parts[i].time) return unequal(a.parts[i].name, a.parts[i].time, b.parts[i].time);
    }
  }
  return "";
}

/// Piece by piece, each on a chip of the class.
inline std::string different_path(const Symmetry& symmetry, const RunResult& folded, const RunResult& whole) {
  if (folded.critical_path.size() != whole.critical_path.size()) {
    return unequal("pieces of the path", folded.critical_path.size(), whole.critical_path.size());
  }
  for (std::size_t i = 0; i < whole.critical_path.size(); ++i) {
    const PathPiece& a = folded.critical_path[i];
    const PathPiece& b = whole.critical_path[i];
    const std::string where = " of piece " + std::to_string(i) + " of the path";
    if (a.start != b.start) return unequal("start" + where, a.start, b.start);
    if (a.end != b.end) return unequal("end" + where, a.end, b.end);
    if (a.step != b.step) return unequal("step" + where, a.step, b.step);
    if (a.op != b.op) return unequal("op" + where, a.op, b.op);
    if (a.who != symmetry.class_of(b.who)) return unequal("class" + where, a.who, symmetry.class_of(b.who));
    if (a.contention != b.contention) return unequal("contention" + where, a.contention, b.contention);
  }
  return "";
}

/// Collectives as a chip of the most common class sees them.
inline std::string different_collectives(const RunResult& folded, const RunResult& whole) {
  const auto figures = [](const CollectiveReport& one) {
    return std::tuple(one.axis, one.kind, one.count, one.issued, one.hidden, one.exposed, one.communicating,
                      one.overlapped, one.slack, one.array, one.sent, one.limit);
  };
  if (folded.collectives.size() != whole.collectives.size()) {
    return unequal("collectives", folded.collectives.size(), whole.collectives.size());
  }
  for (std::size_t i = 0; i < whole.collectives.size(); ++i) {
    if (figures(folded.collectives[i]) == figures(whole.collectives[i])) continue;
    return "figures of " + whole.collectives[i].kind + " over " + whole.collectives[i].axis;
  }
  return "";
}

/// Everything that is played and reported of a scenario.
inline std::string different_results(const RunResult& folded, const RunResult& whole) {
  const Symmetry& symmetry = *folded.assembly.symmetry;
  std::string what = different_play(symmetry, {folded.assembly.plan.program, folded.timeline, folded.assembly.links},
                                    {whole.assembly.plan.program, whole.timeline, whole.assembly.links});
  if (what.empty() && folded.step_time != whole.step_time) what = unequal("step", folded.step_time, whole.step_time);
  if (what.empty()) what = different_breakdown(symmetry, folded, whole);
  if (what.empty()) what = different_path(symmetry, folded, whole);
  if (what.empty()) what = different_collectives(folded, whole);
  if (what.empty() && folded.memory.parts != whole.memory.parts) what = "parts of the peak memory";
  return what;
}

}  // namespace stepsim::testing
