// The catalog: every entry loads, every figure names its source, and the models have the sizes their publishers give.
#include "scenarios/catalog.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "scenarios/load_sections.h"

namespace stepsim {
namespace {

const std::string catalog = std::string(STEPSIM_SOURCE_DIR) + "/scenarios/catalog";

std::string all_problems(const Findings& findings) {
  std::string text;
  for (const Problem& problem : findings.problems) text += to_string(problem) + "\n";
  return text;
}

YamlValue root_with(const std::string& text) {
  return parse_yaml(text, "test", "given");
}

ModelSpec model_named(const std::string& name) {
  Findings findings;
  const YamlValue tree = root_with("model: " + name);
  Section root(findings, tree, "", tree.place);
  const ModelSpec model = read_model(root, catalog);
  EXPECT_EQ(all_problems(findings), "");
  return model;
}

ClusterSpec cluster_of(const std::string& text) {
  Findings findings;
  const YamlValue tree = root_with("cluster: " + text);
  Section root(findings, tree, "", tree.place);
  const ClusterSpec cluster = read_cluster(root, catalog);
  EXPECT_EQ(all_problems(findings), "") << text;
  return cluster;
}

TEST(Catalog, DefaultIsTheFolderBesideTheSources) {
  EXPECT_EQ(default_catalog(), catalog);
}

TEST(Catalog, EveryModelLoads) {
  EXPECT_GE(catalog_names(catalog, "models").size(), 7U);
  for (const std::string& name : catalog_names(catalog, "models")) EXPECT_EQ(model_named(name).name, name);
}

TEST(Catalog, EverySystemLoads) {
  for (const std::string& name : catalog_names(catalog, "systems")) {
    const bool torus = name.starts_with("tpu");
    const bool flat = name.find("v3") != name.npos || name.find("v5e") != name.npos || name.find("v6e") != name.npos;
    const std::string shape = !torus ? "" : flat ? ", shape: [4, 4]" : ", shape: [4, 4, 4]";
    const ClusterSpec cluster = cluster_of("{system: " + name + shape + "}");
    EXPECT_GE(chip_count(cluster), 3) << name;
    EXPECT_EQ(build(cluster).chips(), chip_count(cluster)) << name;
  }
}

TEST(Catalog, EveryChipLoads) {
  for (const std::string& name : catalog_names(catalog, "chips")) {
    const bool torus = name.starts_with("tpu");
    const ClusterSpec cluster =
        torus
            ? cluster_of("{kind: torus, chip: " + name + ", shape: [" +
                         (name.find("v3") != name.npos || name.find("v5e") != name.npos || name.find("v6e") != name.npos
                              ? "4, 4"
                              : "4, 4, 4") +
                         "]}")
            : cluster_of("{kind: pcie, chip: " + name + ", devices: 2}");
    EXPECT_EQ(cluster.chip.name, name);
  }
}

// Nothing stands in the catalog without a word on where it comes from.
TEST(Catalog, EveryFigureHasACommentWithItsSource) {
  const std::regex figure("^[^#]*:[^#]*[0-9][^#]*");
  const std::regex name_only("^ *(base|name|chip|system|kind): [a-z0-9-]+ *$");
  int figures = 0;
  for (const std::string kind : {"chips", "systems", "models"}) {
    for (const std::string& name : catalog_names(catalog, kind)) {
      std::ifstream in(catalog + "/" + kind + "/" + name + ".yaml");
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with("  - ") && line.find("rate") == line.npos) continue;  // what tables call a system
        if (line.starts_with("#") || !std::regex_search(line, figure) || std::regex_match(line, name_only)) continue;
        ++figures;
        const std::size_t comment = line.find("# ");
        EXPECT_TRUE(comment != std::string::npos && line.size() > comment + 8) << kind << "/" << name << ": " << line;
      }
    }
  }
  EXPECT_GT(figures, 150);
}

// "How To Scale Your Model", chapter 2, table of TPU specs: peak, HBM, ICI one way, DCN per chip.
TEST(Catalog, TpuFiguresAreTheBooks) {
  struct Row {
    const char* name;
    double bf16;
    Bytes memory;
    double memory_rate;
    std::int64_t link;
    std::int64_t dcn;
  };
  const std::vector<Row> rows = {{"tpu-v3", 1.4e14, 32'000'000'000, 9.0e11, 100'000'000'000, 0},
                                 {"tpu-v4", 2.75e14, 32'000'000'000, 1.2e12, 45'000'000'000, 6'250'000'000},
                                 {"tpu-v5p", 4.59e14, 96'000'000'000, 2.8e12, 90'000'000'000, 6'250'000'000},
                                 {"tpu-v5e", 1.97e14, 16'000'000'000, 8.2e11, 45'000'000'000, 3'125'000'000},
                                 {"tpu-v6e", 9.20e14, 32'000'000'000, 1.6e12, 90'000'000'000, 12'500'000'000},
                                 {"tpu-v7x", 2.30e15, 192'000'000'000, 7.4e12, 90'000'000'000, 12'500'000'000}};
  for (const Row& row : rows) {
    const std::string name = row.name;
    const bool flat = name == "tpu-v3" || name == "tpu-v5e" || name == "tpu-v6e";
    const ChipSpec chip = cluster_of("{system: " + name + ", shape: " + (flat ? "[4, 4]" : "[4, 4, 4]") + "}").chip;
    EXPECT_EQ(chip.flops.at("bf16"), row.bf16) << name;
    EXPECT_EQ(chip.memory, row.memory) << name;
    EXPECT_EQ(chip.memory_rate, row.memory_rate) << name;
    EXPECT_EQ(chip.link_rate, row.link) << name;
    EXPECT_EQ(chip.dcn_rate_per_chip, row.dcn) << name;
    EXPECT_EQ(chip.link_latency, Picoseconds(1'000'000)) << name;  // chapter 2: about 1 us per hop
  }
}

// Parameters as published: model cards of the Llama 3 and Llama 2 families (8.03, 70.6, 405 and 13.0 billion) and of
// Gemma 7B (8.54 billion with the embedding counted once); the book has 70.55e9 after its errata.
TEST(Catalog, ModelsHaveTheirPublishedParameters) {
  EXPECT_NEAR(static_cast<double>(parameters(model_named("llama3-8b")).total), 8.03e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(parameters(model_named("llama3-70b")).total), 70.55e9, 0.01e9);
  EXPECT_NEAR(static_cast<double>(parameters(model_named("llama3-405b")).total), 405.85e9, 0.01e9);
  EXPECT_NEAR(static_cast<double>(parameters(model_named("llama2-13b")).total), 13.02e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(parameters(model_named("gemma-7b")).total), 8.54e9, 0.005e9);
}

TEST(Catalog, OverlayKeepsWhatIsNotChanged) {
  const ChipSpec chip =
      cluster_of("{system: tpu-v5p, shape: [4, 4, 4], chip: {memory: 95 GiB, flops: {bf16: 400 TFLOP/s}}}").chip;
  EXPECT_EQ(chip.name, "tpu-v5p");
  EXPECT_EQ(chip.memory, 95LL << 30);
  EXPECT_EQ(chip.flops.at("bf16"), 4e14);
  EXPECT_EQ(chip.flops.at("int8"), 9.18e14);
  EXPECT_EQ(chip.link_rate, 90'000'000'000);
}

TEST(Catalog, AnotherChipReplacesTheSystems) {
  const ChipSpec chip =
      cluster_of("{system: tpu-v5p, shape: [4, 4, 4], chip: {base: tpu-v4, link_rate: 50 GB/s}}").chip;
  EXPECT_EQ(chip.name, "tpu-v4");
  EXPECT_EQ(chip.link_rate, 50'000'000'000);
  EXPECT_EQ(chip.memory_rate, 1.2e12);
}

}  // namespace
}  // namespace stepsim
