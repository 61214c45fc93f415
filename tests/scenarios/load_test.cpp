// Loading: values arrive where they belong, overrides act as written, and the resolved listing is complete.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "tests/scenarios/load_text.h"

namespace stepsim {
namespace {

const std::string source = STEPSIM_SOURCE_DIR;

std::vector<std::string> examples() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(source + "/scenarios/examples")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::string small =
    "cluster: {system: tpu-v5p, shape: [4, 4, 4]}\n"
    "model: book-mlp\n"
    "parallelism: {mesh: {fsdp: 16, tensor: 4}, batch: 64Ki tokens}\n";

std::string listed(const Scenario& scenario, const std::string& key) {
  std::string found = "(not listed)";
  for (const ResolvedKey& line : scenario.resolved) {
    if (line.key == key) found = line.value + " | " + line.origin;
  }
  return found;
}

TEST(Load, EveryExampleLoads) {
  EXPECT_GE(examples().size(), 8U);
  for (const std::string& file : examples()) {
    SCOPED_TRACE(file);
    EXPECT_NO_THROW(EXPECT_FALSE(load(file, {}, default_catalog()).name.empty()));
  }
}

TEST(Load, ExampleValuesArriveWhereTheyBelong) {
  const Scenario scenario = load(source + "/scenarios/examples/llama3-70b-2-slices-dcn.yaml", {}, default_catalog());
  EXPECT_EQ(scenario.cluster.kind, "torus");
  EXPECT_EQ(scenario.cluster.shape, (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(scenario.cluster.slices, 2);
  EXPECT_EQ(scenario.cluster.chip.wrap, WrapRule::cubes);
  EXPECT_EQ(scenario.model.layers, 20);
  EXPECT_EQ(scenario.model.d_ff, 28672);
  EXPECT_EQ(scenario.model.sequence, 4096);
  EXPECT_EQ(scenario.strategy.batch_tokens, 128 * 1024);
  ASSERT_EQ(scenario.strategy.mesh.size(), 3U);
  EXPECT_EQ(scenario.strategy.mesh[1].name, "fsdp");
  EXPECT_EQ(scenario.strategy.mesh[1].extent, 16);
  EXPECT_EQ(scenario.placement, (std::vector<std::vector<std::string>>{{"dcn"}, {"x", "y"}, {"z"}}));
  EXPECT_EQ(scenario.strategy.checkpoints, Checkpoints::full);
}

TEST(Load, EverySetting) {
  const Scenario s = load_text(
      small +
          "name: all\ndescription: every setting\nallow_oom: yes\n"
          "collectives: {ring: one_way, parts: weighted}\n"
          "simulation: {latency_model: max, max_steps: 5, exact_steps: 3, shuffle_seed: 42}\n"
          "expect:\n  - {quantity: step_time, value: 310 ms, tolerance: 2 %, source: a book}\n",
      {"parallelism.microbatches=2", "parallelism.zero=2", "parallelism.prefetch=3",
       "parallelism.reshard_after_forward=off", "parallelism.separate_reduce_queue=no", "parallelism.bucket=50 MB",
       "parallelism.tensor_overlap_chunks=4", "parallelism.regather_tensor_input=true",
       "parallelism.checkpoints=2 per layer", "parallelism.dtype=int8", "parallelism.gradient_bytes=4",
       "parallelism.optimizer={moment_bytes: 2, master_bytes: 4}", "cluster.wraps=[true, false, true]"});
  EXPECT_EQ(s.name, "all");
  EXPECT_EQ(s.description, "every setting");
  EXPECT_TRUE(s.allow_oom);
  EXPECT_EQ(s.ring, RingStyle::one_way);
  EXPECT_TRUE(s.weighted_parts);
  EXPECT_EQ(s.run.latency_model, LatencyModel::max);
  EXPECT_EQ(s.run.max_steps, 5U);
  EXPECT_EQ(s.run.exact_steps, 3U);
  EXPECT_EQ(s.run.shuffle_seed, 42U);
  ASSERT_EQ(s.expect.size(), 1U);
  EXPECT_EQ(s.expect[0].value, 0.31);
  EXPECT_EQ(s.expect[0].tolerance, 0.02);
  EXPECT_EQ(s.expect[0].place.line, 10);
  EXPECT_EQ(s.strategy.microbatches, 2);
  EXPECT_EQ(s.strategy.zero, 2);
  EXPECT_EQ(s.strategy.prefetch, 3);
  EXPECT_FALSE(s.strategy.reshard_after_forward);
  EXPECT_FALSE(s.strategy.separate_reduce_queue);
  EXPECT_EQ(s.strategy.bucket, 50'000'000);
  EXPECT_EQ(s.strategy.tensor_overlap_chunks, 4);
  EXPECT_TRUE(s.strategy.regather_tensor_input);
  EXPECT_EQ(s.strategy.checkpoints, Checkpoints::per_layer);
  EXPECT_EQ(s.strategy.checkpoints_per_layer, 2);
  EXPECT_EQ(s.strategy.dtype, "int8");
  EXPECT_EQ(s.strategy.weight_bytes, 1);
  EXPECT_EQ(s.strategy.gradient_bytes, 4);
  EXPECT_EQ(s.strategy.moment_bytes, 2);
  EXPECT_EQ(s.strategy.master_bytes, 4);
  EXPECT_EQ(s.cluster.wraps, (std::vector<bool>{true, false, true}));
}

TEST(Load, SliceNamesAreShapes) {
  // Cloud TPU docs: v5p-4096 counts cores, 2048 chips, 8x16x16.
  const Scenario s = load_text(small, {"cluster.slice=v5p-4096", "parallelism.mesh.fsdp=512", "parallelism.batch=2Mi"});
  EXPECT_EQ(s.cluster.shape, (std::vector<int>{8, 16, 16}));
}

// --- overrides

TEST(Overrides, ChangeValuesAndSayWhereTheyCameFrom) {
  const Scenario s = load_text(small, {"cluster.link_rate=100 GB/s", "cluster.link_latency=0", "model.layers=4"});
  EXPECT_EQ(s.cluster.chip.link_rate, 100'000'000'000);
  EXPECT_EQ(s.cluster.chip.link_latency, Picoseconds(0));
  EXPECT_EQ(s.model.layers, 4);
  EXPECT_EQ(listed(s, "cluster.chip.link_rate"), "100 GB/s | --set");
  EXPECT_EQ(listed(s, "model.layers"), "4 | --set");
  EXPECT_EQ(listed(s, "model"), "(not listed)");
  EXPECT_EQ(listed(s, "model.base"), "book-mlp | given");
  EXPECT_EQ(listed(s, "model.d_ff"), "32768 | catalog models/book-mlp");
}

TEST(Overrides, ItemsOfLists) {
  for (const std::string key : {"cluster.shape.2", "cluster.shape[2]"}) {
    const Scenario s = load_text(small, {key + "=8", "parallelism.mesh.fsdp=32"});
    EXPECT_EQ(s.cluster.shape, (std::vector<int>{4, 4, 8})) << key;
  }
}

TEST(Overrides, LaterOnesWin) {
  EXPECT_EQ(load_text(small, {"model.layers=4", "model.layers=6"}).model.layers, 6);
  EXPECT_EQ(load_text(small, {"model.layers=4", "model=book-mlp-llama"}).model.layers, 8);
  EXPECT_EQ(load_text(small, {"model=book-mlp-llama", "model.layers=4"}).model.d_ff, 28672);
}

TEST(Overrides, BeatTheOtherWayOfGivingAKey) {
  const Scenario s = load_text(small, {"parallelism.batch_per_chip=2048"});
  EXPECT_EQ(s.strategy.batch_tokens, 64 * 2048);
  EXPECT_EQ(listed(s, "parallelism.batch"), "131072 | --set (batch_per_chip x chips)");
}

TEST(Overrides, AnEmptyValueTakesAKeyAway) {
  const Scenario s = load_text(small, {"parallelism.mesh.tensor=", "parallelism.mesh.fsdp=64"});
  ASSERT_EQ(s.strategy.mesh.size(), 1U);
  EXPECT_EQ(s.strategy.mesh[0].extent, 64);
}

TEST(Overrides, WholeSections) {
  const Scenario s = load_text(small, {"cluster=rtx4080-x4", "parallelism.mesh={data: 4}", "parallelism.zero=0"});
  EXPECT_EQ(s.cluster.kind, "pcie");
  EXPECT_EQ(s.cluster.devices, 4);
  EXPECT_FALSE(s.cluster.peer_to_peer);
}

// --- the resolved listing

TEST(Resolved, EveryKeyOnceWithAnOrigin) {
  for (const std::string& file : examples()) {
    std::set<std::string> keys;
    for (const ResolvedKey& line : load(file, {}, default_catalog()).resolved) {
      const bool derived = line.origin.find("batch_per_chip") != std::string::npos;
      EXPECT_TRUE(derived || keys.insert(line.key).second) << file << ": " << line.key;
      const std::string origin = derived ? "given" : line.origin;
      EXPECT_TRUE(origin == "given" || origin == "default" || origin == "--set" || origin.starts_with("catalog "))
          << line.key << ": " << line.origin;
    }
  }
}

TEST(Resolved, DefaultsAreListed) {
  const Scenario s = load_text(small);
  // Each is a choice that the three lines above leave open.
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"name", "unnamed"},
      {"description", ""},
      {"allow_oom", "false"},
      {"cluster.wraps", "auto"},
      {"cluster.twisted", "false"},
      {"cluster.slices", "1"},
      {"cluster.chip.matmul_efficiency", "1"},
      {"cluster.chip.memory_efficiency", "1"},
      {"cluster.chip.launch_overhead", "0 s"},
      {"cluster.chip.matmul_tile", "1"},
      {"model.tied_embeddings", "false"},
      {"model.sequence", "1"},
      {"parallelism.placement", "auto"},
      {"parallelism.microbatches", "1"},
      {"parallelism.zero", "3"},
      {"parallelism.prefetch", "1"},
      {"parallelism.reshard_after_forward", "true"},
      {"parallelism.separate_reduce_queue", "true"},
      {"parallelism.bucket", "25 MB"},
      {"parallelism.tensor_overlap_chunks", "1"},
      {"parallelism.regather_tensor_input", "false"},
      {"parallelism.checkpoints", "none"},
      {"parallelism.dtype", "bf16"},
      {"parallelism.weight_bytes", "2"},
      {"parallelism.gradient_bytes", "2"},
      {"parallelism.activation_bytes", "2"},
      {"parallelism.optimizer.moment_bytes", "4"},
      {"parallelism.optimizer.master_bytes", "0"},
      {"collectives.ring", "halves"},
      {"collectives.parts", "equal"},
      {"collectives.chunk", "512 KiB"},
      {"collectives.algorithm", "torus"},
      {"collectives.protocol", "auto"},
      {"simulation.fold", "auto"},
      {"simulation.latency_model", "additive"},
      {"simulation.max_steps", "10"},
      {"simulation.exact_steps", "0"},
      {"simulation.shuffle_seed", "0"},
  };
  for (const auto& [key, value] : defaults) EXPECT_EQ(listed(s, key), value + " | default") << key;
  // And there are no defaults besides those.
  for (const ResolvedKey& line : s.resolved) {
    const bool known =
        std::any_of(defaults.begin(), defaults.end(), [&](const auto& d) { return d.first == line.key; });
    EXPECT_EQ(line.origin == "default", known) << line.key << ": " << line.origin;
  }
}

/// What is listed can be given back: the listing of a scenario, written as overrides, changes nothing.
TEST(Resolved, ReadsBackToTheSame) {
  for (const std::string& file : examples()) {
    SCOPED_TRACE(file);
    const Scenario first = load(file, {}, default_catalog());
    std::vector<std::string> overrides;
    for (const ResolvedKey& line : first.resolved) {
      const bool reference = line.key == "cluster" || line.key == "model" || line.key.ends_with(".base") ||
                             line.key == "cluster.system" || line.key == "cluster.chip";
      const bool sugar = line.key == "cluster.slice" || line.origin.find("x chips") != std::string::npos;
      const bool placement = line.key.starts_with("parallelism.placement.");
      if (reference || sugar || placement || line.value.empty()) continue;
      overrides.push_back(line.key + "='" + std::regex_replace(line.value, std::regex("'"), "''") + "'");
      if (line.value.starts_with("[")) overrides.back() = line.key + "=" + line.value;
    }
    const Scenario second = load(file, overrides, default_catalog());
    ASSERT_EQ(second.resolved.size(), first.resolved.size());
    for (std::size_t i = 0; i < first.resolved.size(); ++i) {
      EXPECT_EQ(second.resolved[i].value, first.resolved[i].value) << first.resolved[i].key;
    }
  }
}

// --- the reference page

/// Keys named at the head of a row of REFERENCE.md's tables.
std::set<std::string> reference_keys() {
  std::set<std::string> keys;
  std::ifstream in(source + "/scenarios/REFERENCE.md");
  const std::regex row("^\\| `([^`]+)` \\|.*");
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, row)) keys.insert(match[1]);
  }
  return keys;
}

/// mesh.fsdp, flops.bf16, protocols.LL, expect.0 and faults.links.0 are rows AXIS, DTYPE, NAME and N.
std::string generic(const std::string& key) {
  std::string text = std::regex_replace(key, std::regex("^(parallelism\\.(mesh|placement))\\..*"), "$1.AXIS");
  text = std::regex_replace(text, std::regex("^(cluster\\.protocols)\\.[^.]+"), "$1.NAME");
  text = std::regex_replace(text, std::regex("^(expect|faults\\.[a-z]+)\\.[0-9]+"), "$1.N");
  return std::regex_replace(text, std::regex("^(cluster\\.chip\\.flops)\\..*"), "$1.DTYPE");
}

TEST(Reference, HasEveryKeyThatIsRead) {
  const std::set<std::string> keys = reference_keys();
  EXPECT_GT(keys.size(), 60U);
  for (const std::string& file : examples()) {
    for (const ResolvedKey& line : load(file, {}, default_catalog()).resolved) {
      EXPECT_TRUE(keys.contains(generic(line.key))) << line.key;
    }
  }
}

/// Giving a key of the page a map where a value belongs is a wrong type, never an unknown key.
TEST(Reference, HasNoKeyThatIsNotRead) {
  for (std::string key : reference_keys()) {
    if (key.starts_with("expect") || key.starts_with("faults")) continue;  // items of lists
    key = std::regex_replace(std::regex_replace(key, std::regex("AXIS"), "fsdp"), std::regex("DTYPE"), "bf16");
    for (const std::string cluster : {"cluster={system: tpu-v5p, shape: [4, 4, 4]}", "cluster=rtx4080-x4"}) {
      try {
        load_text(small, {cluster, key + ".x=1"});
      } catch (const InputError& error) {
        for (const Problem& problem : error.problems()) {
          const bool unknown = problem.key == key && problem.message.starts_with("unknown key");
          EXPECT_FALSE(unknown) << to_string(problem);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepsim
