// time.h: integer time and message sizes.
//
// Time is a whole number of picoseconds in 64 bits (+-106 days), a strong type with checked arithmetic: a
// sum that does not fit throws TimeOverflow rather than wrapping. One picosecond is 1/20 byte at 50 GB/s, so
// rounding each transfer up by less than a picosecond stays far below any figure that is reported.
// Sizes are whole bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace stepsim {

using Bytes = std::int64_t;

struct TimeOverflow : std::overflow_error {
  TimeOverflow() : std::overflow_error("time does not fit 64-bit picoseconds (about 106 days)") {}
};

class Picoseconds {
 public:
  constexpr Picoseconds() = default;
  constexpr explicit Picoseconds(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] static constexpr Picoseconds max() { return Picoseconds(INT64_MAX); }
  constexpr auto operator<=>(const Picoseconds&) const = default;

  friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.count_, b.count_, &sum)) throw TimeOverflow();
    return Picoseconds(sum);
  }
  friend constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.count_, b.count_, &difference)) throw TimeOverflow();
    return Picoseconds(difference);
  }
  friend constexpr Picoseconds operator*(Picoseconds a, std::int64_t k) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.count_, k, &product)) throw TimeOverflow();
    return Picoseconds(product);
  }
  constexpr Picoseconds& operator+=(Picoseconds b) { return *this = *this + b; }
  constexpr Picoseconds& operator-=(Picoseconds b) { return *this = *this - b; }

 private:
  std::int64_t count_ = 0;
};

/// Seconds to picoseconds, rounded up to a whole picosecond (a duration is never shortened).
/// Throws TimeOverflow when it does not fit, std::invalid_argument when negative or not a number.
Picoseconds from_seconds(double seconds);

/// Picoseconds to seconds, for printing.
constexpr double to_seconds(Picoseconds t) {
  return static_cast<double>(t.count()) * 1e-12;
}

/// ceil(bytes * 10^12 / capacity): how long a flow alone takes to stream. capacity in bytes/s, > 0.
Picoseconds streaming_time(Bytes bytes, std::int64_t capacity);

}  // namespace stepsim
