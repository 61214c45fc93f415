// shuffled_examples_test.cpp: no result depends on the order of what happens at one instant. Every shipped example is
// played with 20 permutations of every phase and must give the same timeline, number for number. Random programs do the
// same in tests/sim/order_test.cpp; here collectives, shared links and memory meet as users have them.
//
// Four layers are played; with more classes than 64 one step of one layer, with more than 1024 nothing: a pod folded, but
// not every chip of it. A pipeline keeps a layer per stage and a microbatch per rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/run.h"
#include "schedules/stages.h"
#include "tests/scenarios/examples.h"
#include "tests/scenarios/test_name.h"

namespace stepsim {
namespace {

// 21 runs should take a few seconds at most.
constexpr std::int64_t most_layers = 4;
constexpr std::size_t few_classes = 64;
constexpr std::size_t most_classes = 1024;

using Numbers = std::vector<std::int64_t>;

void append(Numbers& to, Picoseconds time) {
  to.push_back(time.count());
}

void append(Numbers& to, const OpTimes& op) {
  to.insert(to.end(), {op.start.count(), op.end.count(), op.drained.count()});
}

void append(Numbers& to, const Wait& wait) {
  to.insert(to.end(), {wait.who, wait.op, wait.step, wait.start.count(), wait.end.count()});
}

void append(Numbers& to, const LinkUse& use) {
  to.insert(to.end(), {use.bytes, use.busy.count(), use.peak_flows});
}

void append(Numbers& to, const MemoryPeak& peak) {
  to.insert(to.end(), {peak.bytes, peak.at.count()});
  to.insert(to.end(), peak.by_part.begin(), peak.by_part.end());
}

void append(Numbers& to, const MemorySample& sample) {
  to.insert(to.end(), {sample.who, sample.at.count(), sample.bytes});
}

template <class List>
Numbers numbers(const List& list) {
  Numbers all;
  for (const auto& one : list) append(all, one);
  return all;
}

template <class List>
Numbers numbers_of_lists(const List& lists) {
  Numbers all;
  for (const auto& list : lists) {
    all.push_back(static_cast<std::int64_t>(list.size()));
    for (const auto& one : list) append(all, one);
  }
  return all;
}

/// All that the clock writes down, part by part.
std::map<std::string, Numbers> parts(const Timeline& t) {
  const auto whole = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  return {
      {"steps", {t.steps, t.first_kept, t.periodic ? 1 : 0}},
      {"step ends", numbers(t.step_end)},
      {"op times", numbers_of_lists(t.times)},
      {"waits", numbers(t.waits)},
      {"links", numbers_of_lists(t.links_at_end)},
      {"memory peaks", numbers(t.peak)},
      {"memory", numbers(t.memory)},
      {"counters", {whole(t.counters.events), whole(t.counters.transfers), whole(t.counters.rate_solves)}},
  };
}

struct Made {
  Scenario scenario;
  Assembly assembly;
};

Made made(Scenario scenario) {
  scenario.run.record_memory = true;
  Made all{.scenario = std::move(scenario), .assembly = {}};
  all.assembly = assemble(all.scenario);
  return all;
}

std::size_t chips(const Strategy& strategy) {
  std::size_t product = 1;
  for (const MeshAxis& axis : strategy.mesh) product *= static_cast<std::size_t>(axis.extent);
  return product;
}

/// `few` layers; in a pipeline one per stage if that is more, and as many microbatches as ranks.
std::vector<std::string> cut_to(const Scenario& whole, std::int64_t few) {
  const std::int64_t ranks = pipeline_ranks(whole.strategy);
  const std::int64_t layers = ranks == 1 ? few : std::max(few, ranks * stages_per_rank(whole.strategy));
  std::vector<std::string> keys{"model.layers=" + std::to_string(std::min(whole.model.layers, layers))};
  if (ranks > 1) keys.push_back("parallelism.microbatches=" + std::to_string(ranks));
  return keys;
}

/// The example cut to a few layers, and to one step when it has many classes; nothing when it has too many.
std::optional<Made> shortened(const std::string& name, const std::string& fold) {
  const std::string folded = "simulation.fold=" + fold;
  const Scenario whole = load_example(name, {folded});
  if (!whole.fold && chips(whole.strategy) > most_classes) return std::nullopt;
  std::vector<std::string> keys = cut_to(whole, most_layers);
  keys.push_back(folded);
  Made cut = made(load_example(name, keys));
  const std::size_t classes = cut.assembly.plan.program.program_of.size();
  if (classes <= few_classes) return cut;
  if (classes > most_classes) return std::nullopt;
  keys = cut_to(whole, 1);
  keys.insert(keys.end(), {folded, "simulation.exact_steps=1"});
  return made(load_example(name, keys));
}

Timeline play(const Made& it) {
  return simulate(it.assembly.plan.program, it.assembly.network, it.scenario.run);
}

void expect_the_same_for_every_seed(const std::string& name, const std::string& fold) {
  std::optional<Made> it = shortened(name, fold);
  if (!it) GTEST_SKIP() << "more than " << most_classes << " classes";
  if (it->scenario.fold && it->assembly.plan.program.program_of.size() == chips(it->scenario.strategy)) {
    GTEST_SKIP() << "no two chips are alike: the same as with every chip played";
  }
  const auto expected = parts(play(*it));
  EXPECT_FALSE(expected.at("op times").empty());
  for (it->scenario.run.shuffle_seed = 1; it->scenario.run.shuffle_seed <= 20; ++it->scenario.run.shuffle_seed) {
    const auto shuffled = parts(play(*it));
    for (const auto& [part, numbers] : expected) {
      EXPECT_TRUE(shuffled.at(part) == numbers) << "seed " << it->scenario.run.shuffle_seed << ": " << part;
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

class ShuffledExample : public ::testing::TestWithParam<std::string> {};

TEST_P(ShuffledExample, PermutingWhatHappensAtOneInstantChangesNothing) {
  expect_the_same_for_every_seed(GetParam(), "auto");
}

TEST_P(ShuffledExample, NorWithEveryChipPlayed) {
  expect_the_same_for_every_seed(GetParam(), "off");
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShuffledExample, ::testing::ValuesIn(examples()), test_name);

}  // namespace
}  // namespace stepsim
