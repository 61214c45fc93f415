#include "sim/breakdown.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/causes.h"
#include "sim/idle.h"

namespace stepsim {
namespace {

std::string part_name(const StepProgram& program, const Stretch& stretch) {
  const auto tag = [&] { return program.programs[program.program_of[stretch.op.who]].ops[stretch.op.op].tag; };
  switch (stretch.reason) {
    case Reason::compute:
      return program.names[tag().phase];
    case Reason::exposed:
      return "exposed." + program.names[tag().axis];
    case Reason::straggler:
      return "straggler";
    case Reason::start:
      return "idle.start";
    case Reason::run_ahead:
      return "idle.run_ahead";
    case Reason::end:
      break;
  }
  return "idle.end";
}

/// Compute phases in the order of their names' ids, then exposed, straggler, idle, each by name.
std::tuple<int, NameId, std::string> rank(const StepProgram& program, const std::string& name) {
  const auto found = std::find(program.names.begin(), program.names.end(), name);
  const auto id = static_cast<NameId>(found - program.names.begin());
  if (name.starts_with("exposed.")) return {1, 0, name};
  if (name == "straggler") return {2, 0, name};
  if (name.starts_with("idle.")) return {3, 0, name};
  return {0, id, name};
}

std::vector<BreakdownPart> parts_of(const StepProgram& program, const std::vector<Stretch>& stretches) {
  std::map<std::string, Picoseconds> sums;
  for (const Stretch& stretch : stretches) sums[part_name(program, stretch)] += stretch.end - stretch.start;
  std::vector<BreakdownPart> parts;
  for (const auto& [name, time] : sums) parts.push_back({name, time});
  std::sort(parts.begin(), parts.end(), [&](const BreakdownPart& a, const BreakdownPart& b) {
    return rank(program, a.name) < rank(program, b.name);
  });
  return parts;
}

bool same(const std::vector<BreakdownPart>& a, const std::vector<BreakdownPart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const BreakdownPart& x, const BreakdownPart& y) {
    return x.name == y.name && x.time == y.time;
  });
}

}  // namespace

std::vector<ClassBreakdown> breakdown(const StepProgram& program, const Timeline& timeline) {
  const Causes causes(program, timeline);
  std::vector<ClassBreakdown> all;
  for (ClassId who = 0; who < timeline.classes; ++who) {
    std::vector<BreakdownPart> parts = parts_of(program, stretches(program, timeline, causes, who));
    const auto like =
        std::find_if(all.begin(), all.end(), [&](const ClassBreakdown& b) { return same(b.parts, parts); });
    if (like != all.end()) {
      like->chips += program.chips_of[who];
    } else {
      all.push_back({who, program.chips_of[who], std::move(parts)});
    }
  }
  return all;
}

}  // namespace stepsim
