// The entry points of the fuzzers over their corpus, and over damaged copies of it from a seeded generator: bytes
// changed, pieces cut out, doubled, or taken from another file.
#include "parsers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

namespace stepsim::testing {
namespace {

std::vector<std::string> corpus(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = std::filesystem::path(STEPSIM_SOURCE_DIR) / "tests" / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts{"", " ", "\n", "\x1b", "\x1b[", "GPU0", "<", "<system/>"};
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

std::size_t below(std::mt19937& random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

void damage(std::string& text, const std::string& other, std::mt19937& random) {
  static const std::string bytes = "0123456789<>\"= \n\t/XNVPIB-\x1b\xff";
  const std::size_t at = below(random, text.size());
  const std::size_t length = below(random, std::min<std::size_t>(text.size() - at, 200) + 1);
  switch (random() % 5) {
    case 0:
      if (!text.empty()) text[at] = bytes[below(random, bytes.size())];
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.insert(at, other.substr(below(random, other.size()), length));
      break;
    default:
      text.resize(at);
  }
}

/// At least so many texts are taken: the whole ones and some whose damage is harmless.
void damage_all(const std::string& folder, bool (*read)(const std::string&), int least) {
  const std::vector<std::string> texts = corpus(folder);
  std::mt19937 random(20'240'607);
  int taken = 0;
  int refused = 0;
  for (const std::string& text : texts) {
    ++(read(text) ? taken : refused);
    for (int copy = 0; copy < 150; ++copy) {
      std::string damaged = text;
      for (std::size_t times = 1 + below(random, 4); times > 0; --times) {
        damage(damaged, texts[below(random, texts.size())], random);
      }
      ++(read(damaged) ? taken : refused);
    }
  }
  EXPECT_GE(taken, least) << "some damage is harmless";
  EXPECT_GT(refused, 500) << "most is not";
}

TEST(Parsers, DamagedTopologiesAreReadOrRefused) {
  EXPECT_NO_THROW(damage_all("scenarios/nccl_topologies", read_nccl, 51));
}

TEST(Parsers, DamagedMatricesAreReadOrRefused) {
  EXPECT_NO_THROW(damage_all("scenarios/smi_matrices", read_smi, 51));
}

TEST(Parsers, DamagedAlgorithmsAreReadOrRefused) {
  EXPECT_NO_THROW(damage_all("collectives/msccl", read_msccl, 13 + 10));
}

TEST(Parsers, DamagedSchedulesAreReadOrRefused) {
  EXPECT_NO_THROW(damage_all("pipeline/csv_seeds", read_pipeline_schedule, 10));
}

}  // namespace
}  // namespace stepsim::testing
