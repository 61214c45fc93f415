// Drawings: as wide as asked, in true proportion, every action there; nothing is compared with an earlier picture.
#include "tools/gantt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "process.h"
#include "schedules/pipeline/family.h"
#include "tools/schedule_gantt.h"
#include "tools/table.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Gantt drawing(const std::string& name, int ranks, int stages, int microbatches, const ActionCosts& costs = {}) {
  PipelineSizes sizes;
  sizes.ranks = ranks;
  sizes.stages_per_rank = stages;
  sizes.microbatches = microbatches;
  const PipelineOrder order = pipeline_order(name, sizes);
  return schedule_gantt(order, play(order, {costs}), name, "");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What stands to the right of "rank N ".
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(text)) {
    std::smatch parts;
    if (std::regex_match(line, parts, std::regex(" *rank [0-9]+ (.*)"))) rows.push_back(parts[1]);
  }
  return rows;
}

std::map<char, int> counted(const std::string& row) {
  std::map<char, int> count;
  for (const char c : row) ++count[c];
  return count;
}

// GPipe by hand, p = 2, m = 2, F = 1, B = 2: rank 0 works 0-2 and 5-9, rank 1 1-7.
TEST(GanttText, ShowsAShortScheduleExactly) {
  const std::vector<std::string> rows = rows_of(gantt_text(drawing("gpipe", 2, 1, 2), 100, false));
  ASSERT_EQ(rows.size(), 2U);
  const std::size_t unit = rows[0].size() / 9;
  ASSERT_EQ(rows[0].size(), 9 * unit);
  const auto at = [&](std::size_t row, std::size_t time) { return rows[row].substr(time * unit, 2); };
  EXPECT_EQ(at(0, 0), "F0");
  EXPECT_EQ(at(0, 1), "F1");
  EXPECT_EQ(rows[0].substr(2 * unit, 3 * unit), std::string(3 * unit, '.'));
  EXPECT_EQ(at(0, 5), "B0");
  EXPECT_EQ(at(0, 7), "B1");
  EXPECT_EQ(rows[1].substr(0, unit), std::string(unit, '.'));
  EXPECT_EQ(at(1, 3), "B0");
  EXPECT_EQ(rows[1].substr(7 * unit), std::string(2 * unit, '.'));
}

TEST(GanttText, KeepsToItsWidth) {
  for (const std::size_t columns : {40U, 57U, 100U, 173U, 400U}) {
    for (const int microbatches : {8, 24, 200}) {
      for (const bool colour : {false, true}) {
        std::string text = gantt_text(drawing("zbv", 4, 2, microbatches), columns, colour);
        if (colour) text = std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
        EXPECT_EQ(text.find('\x1b'), std::string::npos);
        for (const std::string& line : lines_of(text)) EXPECT_LE(width(line), columns) << line;
        const std::vector<std::string> rows = rows_of(text);
        ASSERT_EQ(rows.size(), 4U);
        for (const std::string& row : rows) EXPECT_EQ(row.size(), rows[0].size());
        if (microbatches == 200 && columns == 400U) {
          EXPECT_GT(rows[0].size(), 380U);  // the room is used
        }
      }
    }
  }
}

// Scaled down, idle time keeps its share within what one character can hide at each change.
TEST(GanttText, ScaledDownSaysSoAndKeepsProportions) {
  const Gantt gantt = drawing("gpipe", 8, 1, 200);  // rank 0: 200 F, 21 idle, 400 B of 621
  const std::string text = gantt_text(gantt, 100, false);
  EXPECT_THAT(text, HasSubstr("shows what takes most"));
  const std::vector<std::string> rows = rows_of(text);
  const auto cells = static_cast<double>(rows[0].size());
  std::map<char, int> count = counted(rows[0]);
  EXPECT_NEAR(count['F'], cells * 200 / 621, 1.5);
  EXPECT_NEAR(count['B'], cells * 400 / 621, 1.5);
  EXPECT_NEAR(count['.'], cells * 21 / 621, 1.5);
}

TEST(GanttText, TellsChunksAndFusedPairsApart) {
  const std::string text = gantt_text(drawing("dualpipe", 4, 2, 8), 200, false);
  EXPECT_THAT(text, HasSubstr("f second half, up"));
  EXPECT_THAT(text, ::testing::ContainsRegex("F[0-9]+&b[0-9]+"));
  EXPECT_THAT(gantt_text(drawing("interleaved_1f1b", 2, 4, 8), 200, false), HasSubstr("chunks 1, 3"));
  EXPECT_THAT(gantt_text(drawing("1f1b", 2, 1, 8), 200, false), Not(HasSubstr("chunk")));
  const std::string colour = gantt_text(drawing("torch_zbv", 2, 2, 4), 200, true);
  for (const char* background : {"48;5;26m", "48;5;68m", "48;5;29m", "48;5;36m", "48;5;178m", "48;5;221m"}) {
    EXPECT_THAT(colour, HasSubstr(background));
  }
}

TEST(GanttText, NoTimeAtAllIsNoTrouble) {
  ActionCosts none{0, 0, 0, 0, 0, 0};
  EXPECT_EQ(rows_of(gantt_text(drawing("1f1b", 2, 1, 2, none), 100, false)).size(), 2U);
  EXPECT_THAT(gantt_svg(drawing("1f1b", 2, 1, 2, none)), HasSubstr("</svg>"));
}

TEST(GanttText, ThroughThePipeItHasNoEscapeCodes) {
  const Outcome wide = stepsim("schedule zb_h1 --ranks 4 --microbatches 64 --gantt", "COLUMNS=");
  EXPECT_EQ(wide.out.find('\x1b'), std::string::npos);
  for (const std::string& line : lines_of(wide.out)) EXPECT_LE(width(line), 100U) << line;
  const Outcome narrow = stepsim("schedule zb_h1 --ranks 4 --microbatches 64 --gantt", "COLUMNS=60");
  for (const std::string& row : rows_of(narrow.out)) EXPECT_LE(row.size(), 60U);
}

double attribute(const std::string& element, const std::string& name) {
  std::smatch value;
  EXPECT_TRUE(std::regex_search(element, value, std::regex(" " + name + "=\"([0-9.]+)\""))) << element;
  return value.empty() ? -1 : std::stod(value[1]);
}

// Every action is a rectangle with its title, at its time, no wider than its time.
TEST(GanttSvg, HasEveryActionAtItsTime) {
  const Gantt gantt = drawing("dualpipev", 4, 2, 10);
  const std::string svg = gantt_svg(gantt);
  std::map<std::string, std::string> rectangles;
  const std::regex pattern("<title>([^ ]+) [^<]*</title>(<rect [^>]*>)");
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), pattern); it != std::sregex_iterator(); ++it) {
    EXPECT_TRUE(rectangles.emplace((*it)[1], (*it)[2]).second);
  }
  std::size_t spans = 0;
  const GanttSpan& first = gantt.rows[0].spans[0];
  const double left = attribute(rectangles[first.title], "x");
  const double scale = attribute(rectangles[first.title], "width") / static_cast<double>(first.end - first.start);
  for (const GanttRow& row : gantt.rows) {
    for (const GanttSpan& span : row.spans) {
      ++spans;
      ASSERT_TRUE(rectangles.contains(span.title)) << span.title;
      const std::string& rectangle = rectangles[span.title];
      EXPECT_NEAR(attribute(rectangle, "x"), left + scale * static_cast<double>(span.start), 0.5) << span.title;
      EXPECT_NEAR(attribute(rectangle, "width"), scale * static_cast<double>(span.end - span.start), 0.5);
    }
  }
  EXPECT_EQ(rectangles.size(), spans);
  EXPECT_THAT(svg, HasSubstr(">rank 3</text>"));
  EXPECT_THAT(svg, HasSubstr("W backward for weights"));
}

TEST(GanttSvg, EscapesWhatItIsGiven) {
  Gantt gantt{"a<b & \"c\"", "", {}, {}, 10, 1, "ms"};
  gantt.rows.push_back({"<r>", {{0, 10, SpanKind::other, SpanHalf::whole, 0, "<", "&"}}});
  const std::string svg = gantt_svg(gantt);
  EXPECT_THAT(svg, HasSubstr("a&lt;b &amp; &quot;c&quot;"));
  EXPECT_THAT(svg, HasSubstr("<title>&amp; (other), &lt;r&gt;: 0 to 10 ms</title>"));
}

}  // namespace
}  // namespace stepsim
