#include "scenarios/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepsim {
namespace {

constexpr double bound_share = 0.1;

struct Shares {
  double compute = 0;
  double exposed = 0;
  double straggler = 0;
  double idle = 0;
  double worst = 0;  // of one axis' exposed communication
  std::string worst_axis;
};

Shares shares(const RunResult& result) {
  const ClassId who = most_common_class(result.breakdown);
  const auto own = std::find_if(result.breakdown.begin(), result.breakdown.end(),
                                [&](const ClassBreakdown& b) { return b.who == who; });
  Shares sums;
  const double step = static_cast<double>(result.step_time.count());
  if (own == result.breakdown.end() || step <= 0) return sums;
  for (const BreakdownPart& part : own->parts) {
    const double share = static_cast<double>(part.time.count()) / step;
    if (part.name.starts_with("exposed.")) {
      sums.exposed += share;
      if (share > sums.worst) {
        sums.worst = share;
        sums.worst_axis = part.name.substr(8);
      }
    } else if (part.name == "straggler") {
      sums.straggler += share;
    } else if (part.name.starts_with("idle.")) {
      sums.idle += share;
    } else {
      sums.compute += share;
    }
  }
  return sums;
}

double percent_of(Picoseconds part, Picoseconds whole) {
  return whole > Picoseconds(0) ? 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

/// Share of the time in which an axis communicates that is hidden behind compute, in percent.
double hidden_percent(const RunResult& result, const std::string& axis) {
  Picoseconds communicating;
  Picoseconds overlapped;
  for (const CollectiveReport& use : result.collectives) {
    if (use.axis != axis) continue;
    communicating += use.communicating;
    overlapped += use.overlapped;
  }
  return percent_of(overlapped, communicating);
}

const CollectiveReport* longest(const RunResult& result) {
  const auto most = std::max_element(result.collectives.begin(), result.collectives.end(),
                                     [](const auto& a, const auto& b) { return a.issued < b.issued; });
  return most == result.collectives.end() ? nullptr : &*most;
}

std::string fullest_link(const RunResult& result) {
  if (result.links.empty() || result.links.front().fullest <= 0) return "no link is used";
  const LinkClassUse& link = result.links.front();
  return fmt::format("the fullest links ({}) carry {:.0f} % of what they could", link.kind, 100 * link.fullest);
}

}  // namespace

std::string bottleneck(const RunResult& result) {
  const Shares share = shares(result);
  if (share.exposed > bound_share) {
    return fmt::format(
        "communication-bound: {:.0f} % of the step waits for exposed communication, most of it {} ({:.0f} % "
        "of the step, {:.0f} % of its communication is hidden); {}.",
        100 * share.exposed, share.worst_axis, 100 * share.worst, hidden_percent(result, share.worst_axis),
        fullest_link(result));
  }
  if (share.straggler > bound_share) {
    return fmt::format("straggler-bound: {:.0f} % of the step waits for chips that are late.", 100 * share.straggler);
  }
  if (share.idle > bound_share) {
    return fmt::format("idle: {:.0f} % of the step runs nothing and waits for no collective.", 100 * share.idle);
  }
  const CollectiveReport* most = longest(result);
  if (most == nullptr)
    return fmt::format("compute-bound: {:.0f} % of the step computes; nothing is communicated.", 100 * share.compute);
  return fmt::format("compute-bound: {:.0f} % of the step computes; {} {} is {:.0f} % hidden; {}.", 100 * share.compute,
                     most->axis, most->kind, percent_of(most->overlapped, most->communicating), fullest_link(result));
}

}  // namespace stepsim
