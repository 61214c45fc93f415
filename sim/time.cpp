#include "sim/time.h"

#include <cmath>

#include "sim/int128.h"

namespace stepsim {

Picoseconds from_seconds(double seconds) {
  if (!(seconds >= 0)) throw std::invalid_argument("a duration must be a number >= 0");
  double count = std::round(seconds * 1e12);
  // 1.1e-6 s means 1,100,000 ps, though the product may lie a hair above: whole picoseconds whose double this is
  // stay as they are.
  if (count / 1e12 != seconds) count = std::ceil(seconds * 1e12);
  if (count >= 9223372036854775808.0) throw TimeOverflow();  // 2^63, exact in double
  return Picoseconds(static_cast<std::int64_t>(count));
}

Picoseconds streaming_time(Bytes bytes, std::int64_t capacity) {
  const Int128 scaled = static_cast<Int128>(bytes) * 1'000'000'000'000;
  const Int128 time = (scaled + capacity - 1) / capacity;
  if (time > INT64_MAX) throw TimeOverflow();
  return Picoseconds(static_cast<std::int64_t>(time));
}

}  // namespace stepsim
