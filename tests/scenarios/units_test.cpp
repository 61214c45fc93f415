// Quantities as text. Expected values are the definitions of the units: SI prefixes, IEC 80000-13 binary prefixes,
// eight bits to a byte.
#include "scenarios/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stepsim {
namespace {

TEST(Units, BytesAreExact) {
  EXPECT_EQ(parse_bytes("32 GiB"), 32LL << 30);
  EXPECT_EQ(parse_bytes("32GiB"), 32LL << 30);
  EXPECT_EQ(parse_bytes("96 GB"), 96'000'000'000);
  EXPECT_EQ(parse_bytes("0.1 GB"), 100'000'000);  // in double 0.1 x 10^9 only by luck
  EXPECT_EQ(parse_bytes("1.1 GB"), 1'100'000'000);
  EXPECT_EQ(parse_bytes("0.3 kB"), 300);
  EXPECT_EQ(parse_bytes("95.367431640625 MiB"), 100'000'000);  // 10^8 / 2^20
  EXPECT_EQ(parse_bytes("9223372036854775807 B"), INT64_MAX);
  EXPECT_EQ(parse_bytes("9007199254740993"), 9'007'199'254'740'993);  // 2^53 + 1, which no double holds
  EXPECT_EQ(parse_bytes("1e3 KiB"), 1'024'000);
  EXPECT_EQ(parse_bytes("1024e-3 kB"), 1024);
}

TEST(Units, RatesInBytesAndBits) {
  EXPECT_EQ(parse_rate("90 GB/s"), 90'000'000'000);
  EXPECT_EQ(parse_rate("400 Gb/s"), 50'000'000'000);
  EXPECT_EQ(parse_rate("25 Gbit/s"), 3'125'000'000);
  EXPECT_EQ(parse_rate("100 Gbps"), 12'500'000'000);
  EXPECT_EQ(parse_rate("8 b/s"), 1);
  EXPECT_EQ(parse_rate("4.5e10"), 45'000'000'000);
  EXPECT_EQ(parse_rate("46.875 GB/s"), 46'875'000'000);
}

TEST(Units, TimesInPicoseconds) {
  EXPECT_EQ(parse_time("1 us"), Picoseconds(1'000'000));
  EXPECT_EQ(parse_time("1 \u00b5s"), Picoseconds(1'000'000));
  EXPECT_EQ(parse_time("0.25 ns"), Picoseconds(250));
  EXPECT_EQ(parse_time("1.5"), Picoseconds(1'500'000'000'000));  // seconds
  EXPECT_EQ(parse_time("2 min"), Picoseconds(120'000'000'000'000));
  EXPECT_EQ(parse_time("1 h"), Picoseconds(3'600'000'000'000'000));
  EXPECT_EQ(parse_time("0"), Picoseconds(0));
}

TEST(Units, Counts) {
  EXPECT_EQ(parse_count("4Mi"), 4LL << 20);
  EXPECT_EQ(parse_count("4Mi tokens"), 4LL << 20);
  EXPECT_EQ(parse_count("512 tokens"), 512);
  EXPECT_EQ(parse_count("1.5k"), 1500);
  EXPECT_EQ(parse_count("1e6"), 1'000'000);
  EXPECT_EQ(parse_count("+7"), 7);
  EXPECT_EQ(parse_count("-7"), -7);
}

TEST(Units, RealNumbersAreTheNearestDouble) {
  EXPECT_EQ(parse_flops("459 TFLOP/s"), 4.59e14);
  EXPECT_EQ(parse_flops("97.5 TFLOPS"), 9.75e13);
  EXPECT_EQ(parse_flops("2.3 PFLOP/s"), 2.3e15);
  EXPECT_EQ(parse_number("40 %"), 0.4);
  EXPECT_EQ(parse_number("0.95"), 0.95);
  EXPECT_EQ(parse_quantity("1.2 s"), 1.2);
  EXPECT_EQ(parse_quantity("310 ms"), 0.31);
  EXPECT_EQ(parse_quantity("2 %"), 0.02);
  EXPECT_EQ(parse_quantity("95 GiB"), 95.0 * 1073741824.0);
  EXPECT_EQ(parse_quantity("400 Gb/s"), 5e10);
}

std::string reason(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UnitError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Units, NothingIsRounded) {
  EXPECT_EQ(reason([] { parse_bytes("0.1 KiB"); }), "is not a whole number of bytes");
  EXPECT_EQ(reason([] { parse_bytes("1.5"); }), "is not a whole number of bytes");
  EXPECT_EQ(reason([] { parse_rate("4 b/s"); }), "is not a whole number of bytes per second");
  EXPECT_EQ(reason([] { parse_time("0.5 ps"); }), "is not a whole number of picoseconds");
  EXPECT_EQ(reason([] { parse_count("2.5"); }), "is not a whole number");
}

TEST(Units, WhatIsNoNumberIsRefused) {
  for (const std::string text : {"nan", ".nan", "NaN", "inf", "-.inf", "Infinity"}) {
    EXPECT_EQ(reason([&] { parse_rate(text); }), "is not a finite number") << text;
    EXPECT_EQ(reason([&] { parse_number(text); }), "is not a finite number") << text;
  }
  EXPECT_EQ(reason([] { parse_bytes(""); }), "is empty");
  EXPECT_EQ(reason([] { parse_bytes("  "); }), "is empty");
  EXPECT_EQ(reason([] { parse_bytes("GB"); }), "does not start with a number");
  EXPECT_EQ(reason([] { parse_bytes("."); }), "does not start with a number");
  EXPECT_EQ(reason([] { parse_bytes("--1"); }), "does not start with a number");
  EXPECT_EQ(reason([] { parse_count("010"); }), "starts with a zero, which YAML may read as octal");
}

TEST(Units, TooLargeIsRefused) {
  EXPECT_EQ(reason([] { parse_bytes("9223372036854775808"); }), "is too large");
  EXPECT_EQ(reason([] { parse_bytes("8 EiB"); }), "is too large");  // 2^63
  EXPECT_EQ(reason([] { parse_bytes("1e30"); }), "is too large");
  EXPECT_EQ(reason([] { parse_time("1e10 s"); }), "is too large");
  EXPECT_EQ(reason([] { parse_bytes("12345678901234567890123"); }), "has more than 19 significant digits");
  EXPECT_EQ(reason([] { parse_bytes("1e99999999999999999999"); }), "has an exponent far out of range");
  EXPECT_EQ(reason([] { parse_flops("1e500"); }), "is out of the range of floating point");
  EXPECT_EQ(parse_bytes("0e900"), 0);
}

TEST(Units, UnknownUnitsListTheKnownOnes) {
  const std::string found = reason([] { parse_rate("90 GBs"); });
  EXPECT_EQ(found.find("has the unknown unit 'GBs' (known: B/s, kB/s"), 0U) << found;
  EXPECT_NE(reason([] { parse_bytes("95 Gb"); }).find("'Gb'"), std::string::npos);
  EXPECT_NE(reason([] { parse_bytes("1 gb"); }).find("'gb'"), std::string::npos);
  EXPECT_NE(reason([] { parse_time("1 us s"); }).find("'us s'"), std::string::npos);
}

TEST(Units, FormatsChooseTheReadableUnit) {
  EXPECT_EQ(format_bytes(95LL << 30), "95 GiB");
  EXPECT_EQ(format_bytes(96'000'000'000), "96 GB");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1), "1 B");
  EXPECT_EQ(format_rate(46'875'000'000), "46.875 GB/s");
  EXPECT_EQ(format_time(Picoseconds(1'000'000)), "1 us");
  EXPECT_EQ(format_time(Picoseconds(0)), "0 s");
  EXPECT_EQ(format_time(Picoseconds(1'500)), "1.5 ns");
  EXPECT_EQ(format_flops(4.59e14), "459 TFLOP/s");
  EXPECT_EQ(format_flops(97.5e12), "97.5 TFLOP/s");
  EXPECT_EQ(format_number(0.95), "0.95");
}

/// Numbers of all magnitudes, from a fixed seed.
std::vector<std::int64_t> sample() {
  std::mt19937_64 random(20240601);
  std::vector<std::int64_t> numbers{0, 1, 999, 1000, 1023, 1024, 1'000'001, INT64_MAX};
  for (int i = 0; i < 5000; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> 1 >> (random() % 63));
    numbers.push_back(number);
    numbers.push_back(number / 1000 * 1000);
    numbers.push_back(number / 1024 * 1024);
  }
  return numbers;
}

TEST(Units, WhatIsFormattedReadsBackTheSame) {
  for (const std::int64_t n : sample()) {
    EXPECT_EQ(parse_bytes(format_bytes(n)), n) << format_bytes(n);
    EXPECT_EQ(parse_rate(format_rate(n)), n) << format_rate(n);
    EXPECT_EQ(parse_time(format_time(Picoseconds(n))), Picoseconds(n)) << format_time(Picoseconds(n));
    EXPECT_EQ(parse_count(format_count(n)), n);
  }
}

TEST(Units, RealNumbersReadBackTheSame) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, 20);
  for (int i = 0; i < 5000; ++i) {
    const double x = std::pow(10, exponent(random));
    EXPECT_EQ(parse_flops(format_flops(x)), x) << format_flops(x);
    EXPECT_EQ(parse_number(format_number(x)), x) << format_number(x);
  }
}

}  // namespace
}  // namespace stepsim
