// golden_results_test.cpp: the step time of every shipped example is the one in tests/golden/results.json, to the
// picosecond. It detects change and proves nothing: what is right is tested elsewhere (tests/golden/README.md).
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/run.h"
#include "tests/scenarios/examples.h"
#include "tests/scenarios/test_name.h"

namespace stepsim {
namespace {

/// Picoseconds by example.
std::map<std::string, std::int64_t> golden_results() {
  std::ifstream file(STEPSIM_SOURCE_DIR "/tests/golden/results.json");
  return nlohmann::json::parse(file).get<std::map<std::string, std::int64_t>>();
}

const std::string what_to_do = "If that is intended, and the reason stands in the commit: tools/bench --update-results";

class GoldenResult : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenResult, StepTimeIsUnchanged) {
  const auto golden = golden_results();
  const auto entry = golden.find(GetParam());
  ASSERT_NE(entry, golden.end()) << GetParam() << " is not in tests/golden/results.json. " << what_to_do;
  const std::int64_t now = run(load_example(GetParam())).step_time.count();
  EXPECT_EQ(now, entry->second) << GetParam() << ": " << entry->second << " ps before, " << now << " ps now. "
                                << what_to_do;
}

INSTANTIATE_TEST_SUITE_P(Shipped, GoldenResult, ::testing::ValuesIn(examples()), test_name);

TEST(GoldenResults, NameNoExampleThatIsGone) {
  const auto known = examples();
  for (const auto& [name, time] : golden_results()) {
    EXPECT_TRUE(std::binary_search(known.begin(), known.end(), name)) << name << ". " << what_to_do;
  }
}

}  // namespace
}  // namespace stepsim
