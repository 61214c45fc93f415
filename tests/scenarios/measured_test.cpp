// measured_test.cpp: tables of measured collectives as they are published: read, refused with a place, summed up.
#include "scenarios/measured.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace stepsim {
namespace {

using ::testing::ElementsAre;

const std::string header =
    "id,hw,topology,n_ranks,n_nodes,collective,algo_proto,size_bytes,time_us,algbw_GBps,busbw_GBps\n";

MeasuredRow only_row(const std::string& text) {
  const std::vector<MeasuredRow> rows = read_measured(text, "table.csv");
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? MeasuredRow() : rows[0];
}

/// "line: key: message"
std::string refusal(const std::string& text) {
  try {
    read_measured(text, "table.csv");
  } catch (const InputError& error) {
    const Problem& one = error.problems().front();
    EXPECT_EQ(one.place.file, "table.csv");
    return std::to_string(one.place.line) + ": " + one.key + ": " + one.message;
  }
  return "taken";
}

TEST(Measured, ReadsColumnsByName) {
  const MeasuredRow row = only_row(header + "a,H100,NVSwitch,8,1,all_reduce,Ring,65536,46.8,1.40,2.45\n");
  EXPECT_EQ(row.id, "a");
  EXPECT_EQ(row.hardware, "H100");
  EXPECT_EQ(row.topology, "NVSwitch");
  EXPECT_EQ(row.collective, "all_reduce");
  EXPECT_EQ(row.algorithm, "Ring");
  EXPECT_EQ(row.ranks, 8);
  EXPECT_EQ(row.nodes, 1);
  EXPECT_EQ(row.bytes, 65536);
  EXPECT_DOUBLE_EQ(row.seconds.value(), 46.8e-6);
  EXPECT_DOUBLE_EQ(row.bus_rate, 2.45e9);
  const MeasuredRow other = only_row("notes,collective,size_bytes,hw,id\n\"kept out\",broadcast,1e6,A100,b\n");
  EXPECT_EQ(other.hardware, "A100") << "in any order";
  EXPECT_EQ(other.bytes, 1'000'000);
  EXPECT_EQ(other.ranks, 0) << "a column may be missing";
}

// A time, else the size over the algorithm's bandwidth, else none (a bus bandwidth needs the factor of the system).
TEST(Measured, TakesTheTimeFromWhatIsGiven) {
  EXPECT_DOUBLE_EQ(only_row(header + "a,h,,,,all_reduce,,4000,,2,\n").seconds.value(), 2e-6);
  EXPECT_DOUBLE_EQ(only_row(header + "a,h,,,,all_reduce,,4000,5,2,\n").seconds.value(), 5e-6);
  EXPECT_FALSE(only_row(header + "a,h,,,,all_reduce,,4000,,,2\n").seconds.has_value());
  EXPECT_FALSE(only_row(header + "a,h,,,,all_reduce,,,,2,\n").seconds.has_value());
}

// RFC 4180, section 2: rules 5 to 7.
TEST(Measured, ReadsQuotes) {
  EXPECT_EQ(only_row("id,hw,collective\n\"a\",\"x, y\",b\n").hardware, "x, y");
  EXPECT_EQ(only_row("id,hw,collective\r\na,\"18\"\" rack\",b\r\n").hardware, "18\" rack");
  EXPECT_EQ(only_row("id,hw,collective\na,\"two\nlines\",b").hardware, "two\nlines") << "the last line end is optional";
  EXPECT_EQ(only_row("\"id\",\"hw\",\"collective\"\na,\"\",b\n").hardware, "");
  EXPECT_EQ(only_row("\xEF\xBB\xBFid,hw,collective\na,h,b\n").id, "a") << "as spreadsheets write it";
}

TEST(Measured, RefusesWithTheLine) {
  const std::string columns =
      "missing column: expected id, hw, topology, n_ranks, n_nodes, collective, algo_proto, size_bytes, time_us, "
      "algbw_GBps, busbw_GBps";
  const std::string fields = "id,hw,collective,n_ranks,size_bytes,time_us\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "1: : the file is empty: expected a header line"},
      {"\n\n", "1: : the file is empty: expected a header line"},
      {"id,collective\na,b\n", "1: hw: " + columns},
      {"a measured table\nid,hw,collective\n", "1: id: " + columns},
      {"id,hw,collective,hw\n", "1: hw: two columns have this name"},
      {fields + "a,h,c,8,1,fast\n", "2: time_us: expected a number of 0 or more, or nothing, found 'fast'"},
      {fields + "a,h,c,8,1,-1\n", "2: time_us: expected a number of 0 or more, or nothing, found '-1'"},
      {fields + "a,h,c,8,1,1 us\n", "2: time_us: expected a number of 0 or more, or nothing, found '1 us'"},
      {fields + "a,h,c,8,1,inf\n", "2: time_us: expected a number of 0 or more, or nothing, found 'inf'"},
      {fields + "a,h,c,8,1,1e999\n", "2: time_us: expected a number of 0 or more, or nothing, found '1e999'"},
      {fields + "a,h,c,8,0x10,1\n", "2: size_bytes: expected a number of 0 or more, or nothing, found '0x10'"},
      {fields + "a,h,c,8.5,1,1\n", "2: n_ranks: expected a whole number up to 2147483647, found '8.5'"},
      {fields + "a,h,c,3e9,1,1\n", "2: n_ranks: expected a whole number up to 2147483647, found '3e9'"},
      {fields + "a,h,c,8,1e30,1\n", "2: size_bytes: expected a whole number up to 1152921504606846976, found '1e30'"},
      {fields + "a,h,c,8,1\n", "2: : expected 6 fields as in the header line, found 5"},
      {fields + "a,h,c,8,1,1,1\n", "2: : expected 6 fields as in the header line, found 7"},
      {fields + "a,\"h\"h,c,8,1,1\n", "2: : expected a comma or the end of the line after a quoted field"},
      {fields + "a,h,c,8,1,1\nb,\"h,c,8,1,1\n", "3: : a quoted field is not closed"},
      {fields + "\n\na,h,c,8,1,x\n", "4: time_us: expected a number of 0 or more, or nothing, found 'x'"},
      {fields + "a,\"two\nlines\",c,8,1,1\nb,h,c,8,1,x\n",
       "4: time_us: expected a number of 0 or more, or nothing, found 'x'"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(refusal(text), expected) << text;
}

Comparison compared(double error, const std::string& skipped = "") {
  Comparison one;
  one.error = error;
  one.skipped = skipped;
  return one;
}

TEST(Measured, SummarizesByHand) {
  const ComparisonSummary odd = summarize({compared(-0.5), compared(0.25), compared(0.125)});
  EXPECT_EQ(odd.rows, 3U);
  EXPECT_EQ(odd.run, 3U);
  EXPECT_DOUBLE_EQ(odd.median, 0.25);
  EXPECT_DOUBLE_EQ(odd.worst, 0.5) << "too fast is as wrong as too slow";
  EXPECT_DOUBLE_EQ(odd.mean, 0.875 / 3);
  const ComparisonSummary even =
      summarize({compared(-0.5), compared(9, "no such system"), compared(0.25), compared(0.125), compared(-0.0625)});
  EXPECT_EQ(even.rows, 5U);
  EXPECT_EQ(even.run, 4U) << "what is skipped does not count";
  EXPECT_DOUBLE_EQ(even.median, (0.125 + 0.25) / 2);
  EXPECT_DOUBLE_EQ(even.mean, 0.9375 / 4);
  const ComparisonSummary none = summarize({compared(9, "no such system")});
  EXPECT_EQ(none.rows, 1U);
  EXPECT_EQ(none.run, 0U);
  EXPECT_EQ(none.median, 0);
}

std::vector<MeasuredRow> published() {
  const std::filesystem::path file =
      std::filesystem::path(STEPSIM_SOURCE_DIR) / "tests" / "scenarios" / "data" / "collectives_measured.csv";
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return read_measured(text.str(), file.string());
}

// The first rows of the table in stas00/ml-engineering, network/README.md ("Real network throughput"): 32 KiB in 43.83 us.
TEST(Measured, ReadsThePublishedTable) {
  const std::vector<MeasuredRow> rows = published();
  EXPECT_EQ(rows.size(), 208U);
  EXPECT_EQ(rows[0].hardware, "A100 SXM (one node)");
  EXPECT_EQ(rows[0].topology, "NVSwitch, NVLink3 600GB/s bidir");
  EXPECT_EQ(rows[0].bytes, 32768);
  EXPECT_DOUBLE_EQ(rows[0].seconds.value(), 43.83e-6);
  std::set<std::string> ids;
  for (const MeasuredRow& row : rows) EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is named once";
}

// nccl-tests, PERFORMANCE.md: busbw = algbw x 2 (n-1)/n for all-reduce, (n-1)/n for gathers. Published figures are rounded.
TEST(Measured, PublishedRowsAgreeWithThemselves) {
  std::size_t checked = 0;
  for (const MeasuredRow& row : published()) {
    if (!row.seconds || row.bytes == 0 || row.bus_rate < 10e9 || row.ranks < 2) continue;
    double factor = 0;
    if (row.collective == "all_reduce")
      factor = bus_factor(CollectiveKind::all_reduce, static_cast<std::uint32_t>(row.ranks));
    if (row.collective == "all_gather")
      factor = bus_factor(CollectiveKind::all_gather, static_cast<std::uint32_t>(row.ranks));
    if (factor == 0) continue;
    EXPECT_NEAR(static_cast<double>(row.bytes) / *row.seconds * factor / row.bus_rate, 1, 0.01) << row.id;
    ++checked;
  }
  EXPECT_GE(checked, 20U);
}

}  // namespace
}  // namespace stepsim
