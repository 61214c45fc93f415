// Schedule CSV: every case in csv_cases/ is refused as its head says, every schedule comes back as it was written, and
// PyTorch's idle slots are where its own objects have them (vectors/, csv_padded).
#include "schedules/pipeline/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "schedules/pipeline/csv_padding.h"
#include "sim/input_error.h"
#include "tests/pipeline/size_grid.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct CsvCase {
  std::string name;
  std::vector<std::string> expected;  // "row:cell | message"
  std::string text;
};

CsvCase read_case(const std::filesystem::path& path) {
  CsvCase read;
  read.name = path.filename().string();
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const std::string head = "# expect: ";
    if (line.starts_with(head)) {
      read.expected.push_back(line.substr(head.size()));
    } else {
      read.text += line + "\n";
    }
  }
  return read;
}

std::vector<Problem> problems_of(const std::string& text) {
  try {
    read_pipeline_csv(text, "schedule.csv");
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

std::string listed(const std::vector<Problem>& problems) {
  std::string all;
  for (const Problem& problem : problems) all += to_string(problem) + "\n";
  return all;
}

TEST(PipelineCsv, EveryCaseIsRefusedWithItsPlaceAndReason) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(STEPSIM_SOURCE_DIR) + "/tests/pipeline/csv_cases")) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 60U);
  for (const auto& file : files) {
    const CsvCase one = read_case(file);
    SCOPED_TRACE(one.name);
    const std::vector<Problem> found = problems_of(one.text);
    ASSERT_FALSE(one.expected.empty());
    EXPECT_EQ(found.size(), one.expected.size()) << listed(found);
    for (std::size_t i = 0; i < std::min(found.size(), one.expected.size()); ++i) {
      const std::string said =
          std::to_string(found[i].place.line) + ":" + std::to_string(found[i].place.column) + " | " + found[i].message;
      EXPECT_THAT(said, StartsWith(one.expected[i])) << listed(found);
      EXPECT_EQ(found[i].place.file, "schedule.csv");
    }
  }
}

TEST(PipelineCsv, NothingInTheFile) {
  for (const std::string text : {"", "\n", " \r\n\t\n"}) {
    EXPECT_THAT(listed(problems_of(text)), HasSubstr("the file is empty: expected a row of actions for each rank"));
  }
}

TEST(PipelineCsv, SpacesEndsOfLinesAndByteOrderMarkAreTolerated) {
  const std::string plain = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
  for (const std::string text : {"0F0,0F1,0B0,0B1\r\n1F0,1B0,1F1,1B1\r\n", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1",
                                 " 0F0 , 0F1,\t0B0,0B1 \n1F0,1B0,1F1, 1B1\n",
                                 "\xEF\xBB\xBF"
                                 "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"}) {
    EXPECT_EQ(write_pipeline_csv(read_pipeline_csv(text, "schedule.csv").order), plain) << text;
  }
  EXPECT_EQ(write_pipeline_csv(read_pipeline_csv("0F0,( 0F1 ; 0B0 ) OVERLAP_F_B ,0B1", "schedule.csv").order),
            "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n");
}

// torchtitan's tests/assets and PyTorch's first zero-bubble artifacts are written so.
TEST(PipelineCsv, OldLettersAreUnderstood) {
  const ImportedOrder read = read_pipeline_csv("0F0,0F1,0BW0,0B1,0W1\n1F0,1B0,1W0,1F1,1BW1\n", "old.csv");
  EXPECT_EQ(write_pipeline_csv(read.order), "0F0,0F1,0B0,0I1,0W1\n1F0,1I0,1W0,1F1,1B1\n");
  EXPECT_THAT(read.notes,
              ElementsAre("old letters: BW (2 cells) is read as B",
                          "old letters: B of a stage and microbatch with a W of its own (2 cells) is read as I"));
}

TEST(PipelineCsv, TwoCopiesAreRecognised) {
  const ImportedOrder read = read_pipeline_csv("0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n", "two.csv");
  ASSERT_EQ(read.order.copies(), 2);
  EXPECT_THAT(read.order.rank_of[0], ElementsAre(0, 1));
  EXPECT_THAT(read.order.rank_of[1], ElementsAre(1, 0));
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("two copies of the model: microbatches from 1 on")));
}

TEST(PipelineCsv, ManyProblemsAreCutShort) {
  std::string text;
  for (int cell = 0; cell < 1000; ++cell) text += "x,";
  const std::vector<Problem> found = problems_of(text + "x\n");
  ASSERT_EQ(found.size(), 101U);
  EXPECT_THAT(found.back().message, HasSubstr("only the first 100 problems"));
}

TEST(PipelineCsv, EveryScheduleComesBackAsItWasWritten) {
  int orders = 0;
  for_all_schedules([&](const std::string& name, const PipelineSizes& sizes, const PipelineOrder& order) {
    SCOPED_TRACE(described(name, sizes));
    ++orders;
    const std::string text = write_pipeline_csv(order);
    const ImportedOrder read = read_pipeline_csv(text, "schedule.csv");
    EXPECT_FALSE(read.with_communication);
    EXPECT_EQ(read.order.ranks, order.ranks);
    EXPECT_EQ(read.order.rank_of, order.rank_of);
    EXPECT_EQ(read.order.stages, order.stages);
    EXPECT_EQ(read.order.units, order.units);
    EXPECT_EQ(write_pipeline_csv(read.order), text);
    const std::string lowered = write_pipeline_csv_with_communication(order);
    const ImportedOrder again = read_pipeline_csv(lowered, "schedule.csv");
    EXPECT_EQ(again.with_communication, sizes.ranks > 1);
    EXPECT_EQ(again.order.ranks, order.ranks);
    EXPECT_EQ(write_pipeline_csv_with_communication(again.order), lowered);
    LoweringOptions options;
    options.gather = options.reshard_last = options.reduce_gradients = true;
    EXPECT_EQ(read_pipeline_csv(write_pipeline_csv_with_communication(order, options), "schedule.csv").order.ranks,
              order.ranks);
  });
  EXPECT_GT(orders, 200);
}

class TorchPadding : public ::testing::TestWithParam<Vector> {};

TEST_P(TorchPadding, IdleSlotsAreTorchs) {
  const nlohmann::json& json = GetParam().json;
  const PipelineSizes sizes = sizes_of(json);
  std::string expected;
  for (const nlohmann::json& row : json["csv_padded"]) expected += row.get<std::string>() + "\n";
  const PipelineOrder order = pipeline_order(GetParam().name, sizes);
  const std::optional<IdleSlots> idle = torch_idle_slots(GetParam().name, sizes);
  ASSERT_TRUE(idle.has_value());
  EXPECT_EQ(write_pipeline_csv(order, *idle), expected);
  EXPECT_EQ(read_pipeline_csv(expected, "padded.csv").idle, *idle);
}

/// torch_zbv once it is registered.
std::vector<Vector> padded_vectors() {
  std::vector<std::string> names;
  for (const char* name : {"gpipe", "looped_bfs", "torch_interleaved_1f1b_flex", "torch_interleaved_zb", "torch_zbv"}) {
    if (pipeline_families().find(name) != nullptr) names.emplace_back(name);
  }
  return vectors(names);
}

INSTANTIATE_TEST_SUITE_P(Vectors, TorchPadding, ::testing::ValuesIn(padded_vectors()),
                         [](const ::testing::TestParamInfo<Vector>& info) {
                           return info.param.name + "_" + std::to_string(info.param.place);
                         });

}  // namespace
}  // namespace stepsim
