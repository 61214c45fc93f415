// format.h: quantities as people read them, for tables and sentences.
//
// Times scale to s, ms, us, ns or ps, memory to GiB (2^30), rates to GB/s (10^9). A table gives one unit to a
// column. Nothing here is read back: files carry integers.
#pragma once

#include <string>
#include <vector>

#include "sim/time.h"

namespace stepsim {

/// `value` with so many significant digits, never in exponent form: 4.123, 41.23, 412.3, 4123.
std::string significant(double value, int digits);

/// Digits in threes: "4,194,304".
std::string grouped(std::int64_t value);

struct TimeUnit {
  std::string name;  // "ms"
  std::int64_t picoseconds = 1;
};

/// The unit in which `largest` is at least 1.
TimeUnit time_unit(Picoseconds largest);

/// The number alone, with so many decimals.
std::string in_unit(Picoseconds time, const TimeUnit& unit, int decimals);

/// The numbers alone, rounded so that they add up to the rounded sum (largest remainders are rounded up).
std::vector<std::string> in_unit_exactly(const std::vector<Picoseconds>& times, const TimeUnit& unit, int decimals);

std::string time_text(Picoseconds time);    // "4.123 ms"
std::string seconds_text(double seconds);   // the same for a prediction
std::string bytes_text(double bytes);       // "1.500 GiB"
std::string rate_text(double bytes_per_s);  // "45.00 GB/s"
std::string count_text(double count);       // "70.55 B", "1.234 M"
std::string percent_text(double share);     // 0.931 -> "93.1 %"

/// part / whole, or 0 when there is no whole.
double share(double part, double whole);
double share(Picoseconds part, Picoseconds whole);

/// Coordinates of a chip: "[3, 0, 5]".
std::string place_text(const std::vector<int>& coordinates);

}  // namespace stepsim
