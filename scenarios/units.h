// units.h: quantities as people write them ("90 GB/s", "400 Gb/s", "1 us", "32 GiB", "4Mi tokens") and back.
//
// Input goes through decimal arithmetic, never through double, wherever a whole number results: "0.1 GB" is exactly
// 100,000,000 bytes, and what would not be a whole number of bytes, bytes/s or picoseconds is refused rather than
// rounded. A number without a unit is in the base unit (bytes, bytes/s, FLOP/s, seconds). Output is exact too:
// parse(format(x)) == x for every x.
//
// k, M, G, T, P, E are powers of 1000 and Ki, Mi, Gi, Ti, Pi, Ei powers of 1024; B is a byte and b a bit.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "sim/time.h"

namespace stepsim {

/// The text is not the quantity that was asked for; the message says why.
struct UnitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A number as a fraction in lowest terms.
struct Fraction {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 1;
};

std::int64_t parse_count(const std::string& text);  // "4Mi", "4Mi tokens", "512"
Bytes parse_bytes(const std::string& text);         // "32 GiB"
std::int64_t parse_rate(const std::string& text);   // bytes/s: "90 GB/s", "400 Gb/s"
double parse_flops(const std::string& text);        // FLOP/s: "459 TFLOP/s"
Picoseconds parse_time(const std::string& text);    // "1 us"
double parse_number(const std::string& text);       // "0.4", "40 %"
Fraction parse_fraction(const std::string& text);   // the same, exactly: "1.1" is 11 / 10
/// Any of the above, in its base unit: for values whose kind is not known beforehand.
double parse_quantity(const std::string& text);

std::string format_count(std::int64_t count);
std::string format_bytes(Bytes bytes);
std::string format_rate(std::int64_t bytes_per_second);
std::string format_flops(double flops);
std::string format_time(Picoseconds time);
std::string format_number(double number);
std::string format_fraction(Fraction fraction);  // as a decimal: only for those that are one

}  // namespace stepsim
