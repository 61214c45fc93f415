// Every scenario in broken/ is refused with exactly the problems that its head lists (broken/README.md), and so are
// files that have no room for a head. Places and messages are written by hand from what is wrong in the file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"

namespace stepsim {
namespace {

const std::string folder = std::string(STEPSIM_SOURCE_DIR) + "/tests/scenarios/";

struct Expected {
  std::string place;
  std::string key;
  std::string message;
};

struct BrokenCase {
  std::string file;
  std::vector<Expected> problems;
  std::vector<std::string> overrides;
  std::string catalog = default_catalog();
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Expected parse_expected(const std::string& text) {
  const std::size_t first = text.find('|');
  const std::size_t second = text.find('|', first + 1);
  return {trimmed(text.substr(0, first)), trimmed(text.substr(first + 1, second - first - 1)),
          trimmed(text.substr(second + 1))};
}

BrokenCase read_case(const std::string& file) {
  BrokenCase read;
  read.file = file;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line) && line.starts_with("#");) {
    if (line.starts_with("# expect: ")) read.problems.push_back(parse_expected(line.substr(10)));
    if (line.starts_with("# set: ")) read.overrides.push_back(line.substr(7));
    if (line.starts_with("# catalog: ")) read.catalog = folder + line.substr(11);
  }
  return read;
}

std::vector<Problem> problems_of(const BrokenCase& broken) {
  try {
    load(broken.file, broken.overrides, broken.catalog);
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

/// "--set", or "FILE:line:column" with zeros spelled out.
std::string place_text(const SourcePlace& place) {
  if (place.file == "--set") return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void expect_problem(const BrokenCase& broken, const Problem& found, const Expected& expected) {
  const bool here = expected.place.find_first_not_of("0123456789:") == std::string::npos;
  const std::string place = here ? broken.file + ":" + expected.place : expected.place;
  EXPECT_TRUE(place_text(found.place).ends_with(place)) << "expected " << place << "\nfound " << to_string(found);
  EXPECT_EQ(found.key, expected.key) << to_string(found);
  EXPECT_NE(found.message.find(expected.message), std::string::npos)
      << "expected " << expected.message << "\nfound " << to_string(found);
}

void expect_refused(const BrokenCase& broken) {
  SCOPED_TRACE(broken.file);
  const std::vector<Problem> found = problems_of(broken);
  std::string all;
  for (const Problem& problem : found) all += to_string(problem) + "\n";
  ASSERT_FALSE(broken.problems.empty()) << "no '# expect:' in the head of the file";
  ASSERT_EQ(found.size(), broken.problems.size()) << all;
  for (std::size_t i = 0; i < found.size(); ++i) expect_problem(broken, found[i], broken.problems[i]);
}

std::vector<std::string> broken_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "broken")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Broken, EveryFileIsRefusedWithItsPlaceAndReason) {
  const std::vector<std::string> files = broken_files();
  EXPECT_GE(files.size(), 50U);
  for (const std::string& file : files) expect_refused(read_case(file));
}

/// A file of this content that is gone with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() / ("stepsim-broken-" + std::to_string(::getpid()) + ".yaml")) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Broken, EmptyFile) {
  const TemporaryFile empty("");
  expect_refused({empty.path(), {{"0:0", "", "the file is empty: expected cluster, model and parallelism"}}, {}});
}

TEST(Broken, Directory) {
  expect_refused({folder + "broken", {{"0:0", "", "expected a YAML file, found a directory"}}, {}});
}

TEST(Broken, MissingFile) {
  expect_refused({folder + "broken/no-such-file.yaml", {{"0:0", "", "cannot be read: No such file or directory"}}, {}});
}

TEST(Broken, UnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads any file";
  const TemporaryFile secret("name: secret\n");
  std::filesystem::permissions(secret.path(), std::filesystem::perms::none);
  expect_refused({secret.path(), {{"0:0", "", "cannot be read: Permission denied"}}, {}});
}

TEST(Broken, LargerThanOneMebibyte) {
  const TemporaryFile large("name: " + std::string((1 << 20) + 1, 'x') + "\n");
  expect_refused({large.path(), {{"0:0", "", "expected a YAML file of at most 1 MiB, found a larger one"}}, {}});
}

TEST(Broken, DeepBlocksAndSequences) {
  // Indented blocks and runs of dashes nest as well as brackets do.
  std::string blocks;
  for (int depth = 0; depth < 500; ++depth) blocks += std::string(static_cast<std::size_t>(depth), ' ') + "a:\n";
  const std::string dashes(20'000, '-');
  std::string sequences;
  for (const char c : dashes) sequences += std::string(1, c) + ' ';
  for (const std::string& text : {blocks, sequences + "x\n"}) {
    const TemporaryFile deep(text);
    const std::vector<Problem> found = problems_of({deep.path(), {}, {}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message, "nested more than 32 deep");
  }
}

TEST(Broken, EveryPrefixOfAScenarioIsReadOrRefused) {
  // Cut anywhere, a valid file becomes a valid or a refused one, never a crash.
  std::ifstream in(std::string(STEPSIM_SOURCE_DIR) + "/scenarios/examples/mlp-v5p-4x4x4-fsdp.yaml");
  std::stringstream whole;
  whole << in.rdbuf();
  const std::string text = whole.str();
  const std::size_t head = text.find("name:");  // comments before it
  ASSERT_NE(head, std::string::npos);
  int refused = 0;
  for (std::size_t length = head; length < text.size(); ++length) {
    const TemporaryFile part(text.substr(0, length));
    refused += problems_of({part.path(), {}, {}}).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

/// The text with a few characters replaced, removed or doubled.
std::string mutated(std::string text, std::mt19937& random) {
  const std::string characters = "0:{}[],#-'\"e9 \n&*!|>%@\t.x";
  for (int i = 0; i < 3 && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    const std::size_t what = random() % 3;
    if (what == 0) text[at] = characters[random() % characters.size()];
    if (what == 1) text.erase(at, 1 + random() % 8);
    if (what == 2) text.insert(at, text.substr(at, random() % 12));
  }
  return text;
}

TEST(Broken, MutatedScenariosAreReadOrRefused) {
  const std::string valid =
      "cluster: {system: tpu-v5p, shape: [4, 4, 4], slices: 2, wraps: [true, true, false]}\n"
      "model: {base: llama3-8b, layers: 2}\n"
      "parallelism:\n  mesh: {data: 2, fsdp: 16, tensor: 4}\n  placement: {data: dcn, fsdp: [x, y], tensor: "
      "\"z:4@1\"}\n"
      "  batch: 256Ki tokens\n  checkpoints: 2 per layer\n  optimizer: {moment_bytes: 4}\n"
      "collectives: {ring: one_way}\nsimulation: {max_steps: 3}\n"
      "expect: [{quantity: mfu, value: 40 %, tolerance: 0.1, source: none}]\n";
  const TemporaryFile untouched(valid);
  ASSERT_TRUE(problems_of({untouched.path(), {}, {}}).empty());
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = mutated(valid, random);
    SCOPED_TRACE(text);
    const TemporaryFile file(text);
    EXPECT_NO_THROW(problems_of({file.path(), {}, {}}));  // any other exception than InputError is a failure
  }
}

TEST(Broken, MissingCatalogNamesWhatItHas) {
  BrokenCase broken = read_case(folder + "broken/duplicate-key.yaml");
  broken.file = std::string(STEPSIM_SOURCE_DIR) + "/scenarios/examples/mlp-v5p-4x4x4-fsdp.yaml";
  broken.catalog = folder + "no-such-catalog";
  const std::vector<Problem> found = problems_of(broken);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].message.find("no 'tpu-v5p' in catalog systems"), std::string::npos) << to_string(found[0]);
}

}  // namespace
}  // namespace stepsim
