// stepsim_counters: plays fixed cases and prints what does not depend on the machine's mood: classes, events,
// transfers, rate solves and calls of operator new. tools/bench compares them with tests/golden/counters.json and counts
// the instructions of `counted_play` under callgrind besides.
//
//   stepsim_counters              the names of the cases
//   stepsim_counters CASE         one line of JSON
//   stepsim_counters CASE once    the same without the second play, which `allocations_per_step` takes
//
// The cases: every shipped example from its file on; collectives on their own, every chip played; all-to-all through a
// star with 97 sizes, where every end of a flow changes the rate of all; the event queue in the hold model (Jones, CACM
// 1986: take the earliest, put a later one in).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bench/allocations.h"
#include "scenarios/run.h"
#include "sim/event_queue.h"
#include "tests/collectives/play.h"
#include "tests/scenarios/examples.h"

namespace stepsim {
namespace {

struct Counted {
  std::uint32_t classes = 0;
  std::uint32_t steps = 0;
  Picoseconds step_time;
  Counters counters;
  std::uint64_t allocations = 0;  // of the clock; not of what is made before it starts
};

/// Plays so many steps; 0: as many as the case takes by itself.
using Case = std::function<Counted(std::uint32_t steps)>;

Counted count(const StepProgram& program, const Network& network, RunOptions options, std::uint32_t steps) {
  if (steps > 0) options.exact_steps = steps;
  const std::uint64_t before = allocations();
  const Timeline timeline = simulate(program, network, options);
  const std::uint64_t after = allocations();
  return {timeline.classes, timeline.steps, timeline.step_time(), timeline.counters, after - before};
}

Case example(const std::string& name) {
  return [name](std::uint32_t steps) {
    const Scenario scenario = load_example(name);
    const Assembly assembly = assemble(scenario);
    return count(assembly.plan.program, assembly.network, scenario.run, steps);
  };
}

/// v5p links: 90 GB/s one way, 1 us a hop (book "How To Scale Your Model", chapter 2).
Case all_reduce(const std::vector<GroupAxis>& shape) {
  return [shape](std::uint32_t steps) {
    CollectiveSpec spec{.kind = CollectiveKind::all_reduce, .shape = shape};
    spec.bytes = Bytes{60'000} * members(shape);
    const LoneCollective alone = set_up(spec, {.rate = 90'000'000'000, .latency = Picoseconds(1'000'000)});
    return count(alone.program, alone.network, {.exact_steps = 1}, steps);
  };
}

/// One link of 50 GB/s into the star and one out per chip; all flows start at once.
Case star_all_to_all(std::uint32_t chips) {
  return [chips](std::uint32_t steps) {
    StepProgram program;
    Network network;
    program.programs.resize(1);
    program.program_of = {0};
    program.chips_of = {chips};
    for (std::uint32_t i = 0; i < 2 * chips; ++i) network.add_link(50'000'000'000, Picoseconds(0));
    Op op;
    op.kind = OpKind::transfer;
    for (std::uint32_t from = 0; from < chips; ++from) {
      for (std::uint32_t to = 0; to < chips; ++to) {
        if (from == to) continue;
        op.stream = program.stream(std::to_string(from) + " to " + std::to_string(to), false);
        op.route = network.add_route(std::vector<LinkId>{from, chips + to});
        op.bytes = (Bytes{1} << 20) + 4096 * (static_cast<Bytes>(program.programs[0].ops.size()) % 97);
        program.programs[0].add(op);
      }
    }
    return count(program, network, {.exact_steps = 1}, steps);
  };
}

/// A million holds per step; increments of 1 to 2^27 ps, so that few are alike.
Case event_queue_hold(std::uint32_t pending) {
  return [pending](std::uint32_t steps) {
    EventQueue queue;
    std::mt19937_64 random(1);
    const auto push_after = [&](Picoseconds now) {
      queue.push({.time = now + Picoseconds(static_cast<std::int64_t>(1 + (random() >> 37)))});
    };
    const std::uint64_t before = allocations();
    for (std::uint32_t i = 0; i < pending; ++i) push_after(Picoseconds(0));
    Counted counted;
    counted.steps = std::max(steps, 1U);
    std::vector<QueuedEvent> batch;
    while (counted.counters.events < std::uint64_t{1'000'000} * counted.steps) {
      queue.take_instant(batch);
      for (const QueuedEvent& event : batch) push_after(event.time);
      counted.counters.events += batch.size();
    }
    counted.allocations = allocations() - before;
    return counted;
  };
}

std::map<std::string, Case> cases() {
  std::map<std::string, Case> all{
      {"ring-all-reduce-64", all_reduce({ring_of(64)})},
      {"ring-all-reduce-512", all_reduce({ring_of(512)})},
      {"torus-all-reduce-4x4x4", all_reduce({ring_of(4), ring_of(4), ring_of(4)})},
      {"torus-all-reduce-8x8x8", all_reduce({ring_of(8), ring_of(8), ring_of(8)})},
      {"star-all-to-all-64", star_all_to_all(64)},
      {"event-queue-hold-100k", event_queue_hold(100'000)},
  };
  for (const std::string& name : examples()) all.emplace("example/" + name, example(name));
  return all;
}

/// What callgrind is told to count: it must not be inlined.
[[gnu::noinline]] Counted counted_play(const Case& play) {
  return play(0);
}

nlohmann::ordered_json measure(const Case& play, bool once) {
  const Counted counted = counted_play(play);
  nlohmann::ordered_json json{{"classes", counted.classes},
                              {"steps", counted.steps},
                              {"step_time_ps", counted.step_time.count()},
                              {"events", counted.counters.events},
                              {"transfers", counted.counters.transfers},
                              {"rate_solves", counted.counters.rate_solves},
                              {"allocations", counted.allocations}};
  if (!once) json["allocations_per_step"] = play(counted.steps + 1).allocations - counted.allocations;
  return json;
}

}  // namespace
}  // namespace stepsim

int main(int argc, char** argv) {
  const auto cases = stepsim::cases();
  if (argc < 2) {
    for (const auto& [name, play] : cases) std::cout << name << '\n';
    return 0;
  }
  const auto found = cases.find(argv[1]);
  if (found == cases.end()) {
    std::cerr << "stepsim_counters: no case " << argv[1] << "; without an argument it lists them\n";
    return 2;
  }
  std::cout << stepsim::measure(found->second, argc > 2 && std::string(argv[2]) == "once") << '\n';
}
