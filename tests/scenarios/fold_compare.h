// fold_compare.h: what is played of a folded cluster against what is played of every chip, to the picosecond. What is
// reported of it: fold_results.h.
//
// Each function returns the first difference in words, or nothing when there is none.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/layout.h"
#include "sim/timeline.h"

namespace stepsim::testing {

/// One way of playing a cluster. In that of every chip a class is a chip.
struct Played {
  const StepProgram& program;
  const Timeline& timeline;
  const std::vector<LinkClass>& links;  // what the links of its network stand for
};

inline std::string text(Picoseconds time) {
  return std::to_string(time.count()) + " ps";
}

template <class T>
std::string unequal(const std::string& what, const T& folded, const T& whole) {
  return what + ": folded " + std::to_string(folded) + ", every chip " + std::to_string(whole);
}

inline std::string unequal(const std::string& what, Picoseconds folded, Picoseconds whole) {
  return what + ": folded " + text(folded) + ", every chip " + text(whole);
}

inline std::string place(const Played& whole, std::uint32_t step, ChipId chip, std::uint32_t one, OpId op) {
  const Tag& tag = whole.program.run_by(chip).ops[op].tag;
  return "step " + std::to_string(step) + ", chip " + std::to_string(chip) + " (class " + std::to_string(one) +
         "), op " + std::to_string(op) + " (" + whole.program.names[tag.phase] + " " + whole.program.names[tag.axis] +
         " " + whole.program.names[tag.label] + ")";
}

/// Steps: as many, periodic or not, with the same ends.
inline std::string different_steps(const Played& folded, const Played& whole) {
  const Timeline& a = folded.timeline;
  const Timeline& b = whole.timeline;
  if (a.steps != b.steps) return unequal("steps", a.steps, b.steps);
  if (a.periodic != b.periodic) return unequal("periodic", int{a.periodic}, int{b.periodic});
  if (a.first_kept != b.first_kept) return unequal("first step kept", a.first_kept, b.first_kept);
  for (std::uint32_t step = 0; step < a.steps; ++step) {
    if (a.step_end[step] != b.step_end[step]) {
      return unequal("end of step " + std::to_string(step), a.step_end[step], b.step_end[step]);
    }
  }
  return "";
}

/// Every op of every chip in every step that was kept and is complete.
inline std::string different_ops(const Symmetry& symmetry, const Played& folded, const Played& whole) {
  for (std::uint32_t step = whole.timeline.first_kept; step < whole.timeline.steps; ++step) {
    for (ChipId chip = 0; chip < whole.program.program_of.size(); ++chip) {
      const std::uint32_t one = symmetry.class_of(chip);
      const auto ops = static_cast<OpId>(whole.program.run_by(chip).ops.size());
      if (folded.program.run_by(one).ops.size() != ops) return "another program on chip " + std::to_string(chip);
      for (OpId op = 0; op < ops; ++op) {
        const OpTimes& a = folded.timeline.at(step, one, op);
        const OpTimes& b = whole.timeline.at(step, chip, op);
        const std::string where = ", " + place(whole, step, chip, one, op);
        if (a.start != b.start) return unequal("start" + where, a.start, b.start);
        if (a.drained != b.drained) return unequal("drained" + where, a.drained, b.drained);
        if (a.end != b.end) return unequal("end" + where, a.end, b.end);
      }
    }
  }
  return "";
}

/// The stretches in which an open collective of a chip stood still.
inline std::string different_waits(const Symmetry& symmetry, const Played& folded, const Played& whole) {
  using Stretch = std::tuple<std::uint32_t, OpId, Picoseconds, Picoseconds>;
  const auto by_class = [](const Timeline& timeline) {
    std::map<ClassId, std::vector<Stretch>> waits;
    for (const Wait& wait : timeline.waits) {
      if (wait.step < timeline.steps) waits[wait.who].emplace_back(wait.step, wait.op, wait.start, wait.end);
    }
    return waits;
  };
  auto a = by_class(folded.timeline);
  auto b = by_class(whole.timeline);
  for (ChipId chip = 0; chip < whole.program.program_of.size(); ++chip) {
    const std::vector<Stretch>& of_class = a[symmetry.class_of(chip)];
    const std::vector<Stretch>& of_chip = b[chip];
    const auto [x, y] = std::mismatch(of_class.begin(), of_class.end(), of_chip.begin(), of_chip.end());
    if (x == of_class.end() && y == of_chip.end()) continue;
    const auto [step, op, start, end] = x == of_class.end() ? *y : *x;
    return "wait of " + text(end - start) + " from " + text(start) + " in one alone, " +
           place(whole, step, chip, symmetry.class_of(chip), op);
  }
  return "";
}

inline std::string different_memory(const Symmetry& symmetry, const Played& folded, const Played& whole) {
  for (ChipId chip = 0; chip < whole.timeline.peak.size(); ++chip) {
    const MemoryPeak& a = folded.timeline.peak[symmetry.class_of(chip)];
    const MemoryPeak& b = whole.timeline.peak[chip];
    const std::string where = " of memory of chip " + std::to_string(chip);
    if (a.bytes != b.bytes) return unequal("peak" + where, a.bytes, b.bytes);
    if (a.at != b.at) return unequal("time of the peak" + where, a.at, b.at);
    if (a.by_part != b.by_part) return "parts at the peak" + where;
  }
  return "";
}

/// Every link that is used at all, step by step; and each class of links stands for as many as are used.
inline std::string different_links(const Symmetry& symmetry, const Played& folded, const Played& whole) {
  std::map<std::uint64_t, LinkId> class_of;
  for (LinkId link = 0; link < folded.links.size(); ++link) {
    class_of[symmetry.link_class(folded.links[link].one).key] = link;
  }
  std::vector<std::uint32_t> used(folded.links.size(), 0);
  for (LinkId link = 0; link < whole.links.size(); ++link) {
    const auto known = class_of.find(symmetry.link_class(whole.links[link].one).key);
    const std::string where = " of link " + std::to_string(whole.links[link].one);
    if (known == class_of.end()) return "the class" + where + " is not used";
    ++used[known->second];
    for (std::uint32_t step = whole.timeline.first_kept; step < whole.timeline.steps; ++step) {
      const LinkUse& a = folded.timeline.links_at_end[step][known->second];
      const LinkUse& b = whole.timeline.links_at_end[step][link];
      if (a.bytes != b.bytes) return unequal("bytes" + where, a.bytes, b.bytes);
      if (a.busy != b.busy) return unequal("busy time" + where, a.busy, b.busy);
      if (a.peak_flows != b.peak_flows) return unequal("most flows at once" + where, a.peak_flows, b.peak_flows);
    }
  }
  for (LinkId link = 0; link < folded.links.size(); ++link) {
    if (used[link] != folded.links[link].links)
      return unequal("links of a class", folded.links[link].links, used[link]);
  }
  return "";
}

/// All of the above.
inline std::string different_play(const Symmetry& symmetry, const Played& folded, const Played& whole) {
  std::string what = different_steps(folded, whole);
  if (what.empty()) what = different_ops(symmetry, folded, whole);
  if (what.empty()) what = different_waits(symmetry, folded, whole);
  if (what.empty()) what = different_memory(symmetry, folded, whole);
  if (what.empty()) what = different_links(symmetry, folded, whole);
  return what;
}

}  // namespace stepsim::testing
