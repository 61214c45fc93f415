#include "tools/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace stepsim {

namespace {

constexpr std::int64_t pow10(int exponent) {
  return exponent == 0 ? 1 : 10 * pow10(exponent - 1);
}

/// time / step rounded half up; times are not negative here.
std::int64_t rounded(std::int64_t time, std::int64_t step) {
  return time / step + (time % step >= (step + 1) / 2 ? 1 : 0);
}

/// `count` steps of 10^-decimals as a decimal number.
std::string decimal(std::int64_t count, int decimals) {
  const std::int64_t one = pow10(decimals);
  if (decimals == 0) return fmt::format("{}", count);
  return fmt::format("{}.{:0{}}", count / one, count % one, decimals);
}

/// The smallest step that is shown: a unit's 10^-decimals, at least a picosecond.
std::int64_t step_of(const TimeUnit& unit, int& decimals) {
  while (decimals > 0 && unit.picoseconds % pow10(decimals) != 0) --decimals;
  return unit.picoseconds / pow10(decimals);
}

struct Scale {
  double factor;
  const char* name;
};

/// The largest scale that leaves a number of at least 1, else the last.
template <std::size_t n>
std::string scaled(double value, const std::array<Scale, n>& scales) {
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.factor * 0.9999) return significant(value / scale.factor, 4) + scale.name;
  }
  return significant(value / scales.back().factor, 4) + scales.back().name;
}

}  // namespace

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(digits - before, 0, 12));
}

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

TimeUnit time_unit(Picoseconds largest) {
  for (const auto& [name, exponent] :
       {std::pair("s", 12), std::pair("ms", 9), std::pair("us", 6), std::pair("ns", 3)}) {
    if (largest.count() >= pow10(exponent)) return {name, pow10(exponent)};
  }
  return {"ps", 1};
}

std::string in_unit(Picoseconds time, const TimeUnit& unit, int decimals) {
  const std::int64_t step = step_of(unit, decimals);
  const std::string sign = time.count() < 0 ? "-" : "";
  return sign + decimal(rounded(std::abs(time.count()), step), decimals);
}

std::vector<std::string> in_unit_exactly(const std::vector<Picoseconds>& times, const TimeUnit& unit, int decimals) {
  const std::int64_t step = step_of(unit, decimals);
  std::vector<std::int64_t> counts;
  Picoseconds sum;
  for (const Picoseconds time : times) {
    counts.push_back(time.count() / step);
    sum += time;
  }
  const std::int64_t missing =
      rounded(sum.count(), step) - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a].count() % step > times[b].count() % step; });
  for (std::size_t i = 0; i < order.size() && static_cast<std::int64_t>(i) < missing; ++i) ++counts[order[i]];
  std::vector<std::string> texts;
  for (const std::int64_t count : counts) texts.push_back(decimal(count, decimals));
  return texts;
}

std::string time_text(Picoseconds time) {
  if (time.count() == 0) return "0 s";
  const TimeUnit unit = time_unit(Picoseconds(std::abs(time.count())));
  return significant(static_cast<double>(time.count()) / static_cast<double>(unit.picoseconds), 4) + " " + unit.name;
}

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  return scaled(seconds,
                std::array<Scale, 5>{{{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}, {1e-12, " ps"}}});
}

std::string bytes_text(double bytes) {
  if (std::abs(bytes) < 1024) return significant(bytes, 4) + " B";
  return scaled(bytes, std::array<Scale, 4>{{{0x1p40, " TiB"}, {0x1p30, " GiB"}, {0x1p20, " MiB"}, {0x1p10, " KiB"}}});
}

std::string rate_text(double bytes_per_s) {
  return scaled(bytes_per_s, std::array<Scale, 4>{{{1e12, " TB/s"}, {1e9, " GB/s"}, {1e6, " MB/s"}, {1, " B/s"}}});
}

std::string count_text(double count) {
  return scaled(count, std::array<Scale, 5>{{{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}, {1, ""}}});
}

std::string percent_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-";
}

double share(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

double share(Picoseconds part, Picoseconds whole) {
  return share(static_cast<double>(part.count()), static_cast<double>(whole.count()));
}

std::string place_text(const std::vector<int>& coordinates) {
  return fmt::format("[{}]", fmt::join(coordinates, ", "));
}

}  // namespace stepsim
