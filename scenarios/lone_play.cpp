#include "scenarios/lone_play.h"

#include <algorithm>
#include <utility>

#include "scenarios/layout.h"
#include "sim/simulation.h"

namespace stepsim {
namespace {

/// The link that carries most of what it could in this time.
void find_fullest(const Cluster& cluster, const std::vector<LinkClass>& links, const std::vector<LinkUse>& uses,
                  LonePlay& play) {
  const double time = to_seconds(play.time);
  for (LinkId id = 0; id < links.size(); ++id) {
    const GraphLink link = cluster.link(links[id].one);
    const double share = static_cast<double>(uses[id].bytes) / (static_cast<double>(link.capacity) * time);
    if (share <= play.fullest_share) continue;
    play.fullest_share = share;
    play.fullest = link.kind;
  }
}

/// What wins only where latency counts takes seconds for thousands of members: not tried where streaming decides, that
/// is where the best so far is near its bound.
bool cannot_win(const CollectiveMethods& methods, const CollectiveMethod& method, Bytes array,
                const std::vector<LonePlay>& plays) {
  constexpr std::uint32_t few = 1024;
  constexpr double near = 1.25;
  if (!methods.algorithm(method).few_steps || methods.members() <= few) return false;
  return std::any_of(plays.begin(), plays.end(), [&](const LonePlay& one) {
    return to_seconds(one.time) < near * methods.bound(one.method, array);
  });
}

}  // namespace

LonePlay play_alone(const CollectiveMethods& methods, const CollectiveMethod& method, Bytes array) {
  const Cluster& cluster = methods.cluster();
  const Scenario& scenario = methods.scenario();
  const Communication all = lone_pattern(Groups(cluster.axes(), methods.shape()), methods.pattern(method, array));
  const Symmetry symmetry = scenario.fold ? Symmetry(cluster, traffic(cluster, all)) : Symmetry(cluster);
  StepProgram program = one_collective();
  Network network;
  CollectiveRequest request;
  request.kind = methods.spec(method, array).kind;
  request.bytes = array;
  const std::vector<LinkClass> links = lay_out(cluster, all, {request}, symmetry, program, network);
  RunOptions options = scenario.run;
  options.exact_steps = 1;
  options.progress = nullptr;
  const Timeline timeline = simulate(program, network, options);

  LonePlay play;
  play.method = method;
  play.time = timeline.window_end();
  play.transfers = timeline.counters.transfers;
  if (play.time.count() > 0) find_fullest(cluster, links, timeline.links_at_end.at(0), play);
  return play;
}

std::vector<LonePlay> fastest_first(const CollectiveMethods& methods, Bytes array) {
  std::vector<LonePlay> plays;
  for (const CollectiveMethod& method : methods.all()) {
    if (!cannot_win(methods, method, array, plays)) plays.push_back(play_alone(methods, method, array));
  }
  std::stable_sort(plays.begin(), plays.end(), [](const LonePlay& a, const LonePlay& b) { return a.time < b.time; });
  return plays;
}

}  // namespace stepsim
