// Tables and quantities as people read them.
#include <gtest/gtest.h>

#include "tools/format.h"
#include "tools/table.h"

namespace stepsim {
namespace {

TEST(Table, AlignsByCharactersNotBytes) {
  Table table({{"a", Align::left}, {"n"}, {"", Align::left}});
  table.row({"µs", "1", "█▌"});
  table.row({"long", "22"});
  table.rule();
  table.row({"sum", "23"});
  EXPECT_EQ(table.text(false),
            "  a      n\n"
            "  µs     1  █▌\n"
            "  long  22\n"
            "  ────────────\n"
            "  sum   23\n");
}

TEST(Table, ColourNeverMovesAColumn) {
  Table plain({{"a"}, {"b"}});
  plain.row({"1", "2"});
  Table coloured({{"a"}, {"b"}});
  coloured.row({Cell("1", Paint::red), Cell("2", Paint::bold)});
  std::string text = coloured.text(true);
  EXPECT_NE(text, coloured.text(false));
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, plain.text(false));
  EXPECT_EQ(coloured.text(false), plain.text(false));
}

TEST(Table, RefusesARowThatIsTooLong) {
  Table table({{"a"}});
  EXPECT_THROW(table.row({"1", "2"}), std::logic_error);
}

TEST(Bar, IsNeverLongerThanItsRoomAndShowsWhatIsThere) {
  EXPECT_EQ(bar(0, 10), "");
  EXPECT_EQ(bar(-1, 10), "");
  EXPECT_EQ(bar(0.0 / 1e-320, 10), "");
  EXPECT_EQ(bar(1e-9, 10), "▏");
  EXPECT_EQ(bar(0.5, 4), "██");
  EXPECT_EQ(bar(1, 3), "███");
  EXPECT_EQ(bar(7, 3), "███");
}

TEST(Wrapped, BreaksAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("", 7, 2), "");
  EXPECT_EQ(wrapped("unbreakable", 3, 0), "unbreakable");
}

TEST(Format, SignificantDigits) {
  EXPECT_EQ(significant(4.12345, 4), "4.123");
  EXPECT_EQ(significant(412.345, 4), "412.3");
  EXPECT_EQ(significant(41234.5, 4), "41234");
  EXPECT_EQ(significant(0.00412345, 4), "0.004123");
  EXPECT_EQ(significant(0, 4), "0");
  EXPECT_EQ(significant(1.0 / 0.0, 4), "-");
}

TEST(Format, Quantities) {
  EXPECT_EQ(time_text(Picoseconds(4'123'000'000)), "4.123 ms");
  EXPECT_EQ(time_text(Picoseconds(7)), "7.000 ps");
  EXPECT_EQ(time_text(Picoseconds(0)), "0 s");
  EXPECT_EQ(seconds_text(0.0000015), "1.500 us");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024 * 1024), "1.500 GiB");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(rate_text(45e9), "45.00 GB/s");
  EXPECT_EQ(count_text(70'553'706'496.0), "70.55 B");
  EXPECT_EQ(percent_text(0.931), "93.1 %");
  EXPECT_EQ(grouped(4'194'304), "4,194,304");
  EXPECT_EQ(grouped(-4'194), "-4,194");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-999), "-999");
}

TEST(Format, SharesOfNothingAreNothing) {
  EXPECT_EQ(share(1.0, 0.0), 0);
  EXPECT_EQ(share(Picoseconds(5), Picoseconds(0)), 0);
}

TEST(Format, UnitOfAColumn) {
  EXPECT_EQ(time_unit(Picoseconds(999)).name, "ps");
  EXPECT_EQ(time_unit(Picoseconds(1000)).name, "ns");
  EXPECT_EQ(time_unit(Picoseconds(5'000'000'000)).name, "ms");
  EXPECT_EQ(in_unit(Picoseconds(1'234'567), time_unit(Picoseconds(1'000'000)), 3), "1.235");
  EXPECT_EQ(in_unit(Picoseconds(-1'500'000), time_unit(Picoseconds(1'000'000)), 1), "-1.5");
  EXPECT_EQ(in_unit(Picoseconds(12), time_unit(Picoseconds(12)), 3), "12");  // nothing is finer than a picosecond
}

TEST(Format, RoundedPartsAddUpToTheRoundedSum) {
  // Each alone would round to 0.33, 0.99 in all; the sum is 1.00.
  const std::vector<Picoseconds> thirds = {Picoseconds(333'333), Picoseconds(333'333), Picoseconds(333'334)};
  EXPECT_EQ(in_unit_exactly(thirds, {"us", 1'000'000}, 2), (std::vector<std::string>{"0.33", "0.33", "0.34"}));
  EXPECT_TRUE(in_unit_exactly({}, {"us", 1'000'000}, 2).empty());
}

}  // namespace
}  // namespace stepsim
