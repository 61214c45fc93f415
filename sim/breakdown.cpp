#include "sim/breakdown.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/causes.h"
#include "sim/idle.h"

namespace stepsim {
namespace {

using Part = std::pair<Reason, NameId>;

Part part_of(const StepProgram& program, const Stretch& stretch) {
  const auto tag = [&] { return op_of(program, stretch.op).tag; };
  switch (stretch.reason) {
    case Reason::compute:
      return {Reason::compute, tag().phase};
    case Reason::exposed:
      return {Reason::exposed, tag().axis};
    case Reason::straggler:
      return {Reason::straggler, tag().peer};
    default:
      return {stretch.reason, 0};
  }
}

std::string name_of(const StepProgram& program, const Part& part) {
  switch (part.first) {
    case Reason::compute:
      return program.names[part.second];
    case Reason::exposed:
      return "exposed." + program.names[part.second];
    case Reason::straggler:
      return part.second == 0 ? "straggler" : program.names[part.second];
    case Reason::run_ahead:
      return "idle.run_ahead";
    case Reason::end:
      break;
  }
  return "idle.end";
}

std::vector<BreakdownPart> parts_of(const StepProgram& program, const std::vector<Stretch>& stretches) {
  std::map<Part, Picoseconds> sums;
  for (const Stretch& stretch : stretches) sums[part_of(program, stretch)] += stretch.end - stretch.start;
  std::vector<BreakdownPart> parts;
  for (const auto& [part, time] : sums) parts.push_back({name_of(program, part), time});
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
