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
  std::string worst_axis;
};

Shares shares(const RunResult& result) {
  const ClassId who = most_common_class(result.breakdown);
  const auto own = std::find_if(result.breakdown.begin(), result.breakdown.end(),
                                [&](const ClassBreakdown& b) { return b.who == who; });
  Shares sums;
  Picoseconds worst;
  const double step = static_cast<double>(result.step_time.count());
  if (own == result.breakdown.end() || step <= 0) return sums;
  for (const BreakdownPart& part : own->parts) {
    const double share = static_cast<double>(part.time.count()) / step;
    if (part.name.starts_with("exposed.")) {
      sums.exposed += share;
      if (part.time > worst) {
        worst = part.time;
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

const CollectiveReport* most_exposed(const RunResult& result) {
  const auto worst = std::max_element(result.collectives.begin(), result.collectives.end(),
                                      [](const auto& a, const auto& b) { return a.exposed < b.exposed; });
  return worst == result.collectives.end() ? nullptr : &*worst;
}

const CollectiveReport* longest(const RunResult& result) {
  const auto most = std::max_element(result.collectives.begin(), result.collectives.end(),
                                     [](const auto& a, const auto& b) { return a.issued < b.issued; });
  return most == result.collectives.end() ? nullptr : &*most;
}

double percent_of(Picoseconds part, Picoseconds whole) {
  return whole > Picoseconds(0) ? 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

std::string busiest_link(const RunResult& result) {
  if (result.links.empty() || result.links.front().busiest <= 0) return "no link is used";
  const LinkClassUse& link = result.links.front();
  return fmt::format("the busiest links ({}) are in use {:.0f} % of the step", link.kind, 100 * link.busiest);
}

}  // namespace

std::string bottleneck(const RunResult& result) {
  const Shares share = shares(result);
  if (share.exposed > bound_share) {
    const CollectiveReport* worst = most_exposed(result);
    const double step = percent_of(worst->exposed, result.step_time);
    return fmt::format(
        "communication-bound: {:.0f} % of the step waits for exposed communication, most of it {} {} "
        "({:.0f} % of the step, {:.0f} % of it hidden); {}.",
        100 * share.exposed, worst->axis, worst->kind, step, percent_of(worst->overlapped, worst->communicating),
        busiest_link(result));
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
                     most->axis, most->kind, percent_of(most->overlapped, most->communicating), busiest_link(result));
}

}  // namespace stepsim
