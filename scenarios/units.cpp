#include "scenarios/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepsim {
namespace {

/// digits x 10^exponent, exactly.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  int exponent = 0;
};

/// A unit is factor x 10^ten x 2^two base units.
struct Unit {
  std::string_view name;
  std::int64_t factor = 1;
  int ten = 0;
  int two = 0;
};

constexpr std::array count_units = {
    Unit{"", 1, 0, 0},   Unit{"k", 1, 3, 0},   Unit{"K", 1, 3, 0},   Unit{"M", 1, 6, 0},   Unit{"G", 1, 9, 0},
    Unit{"T", 1, 12, 0}, Unit{"Ki", 1, 0, 10}, Unit{"Mi", 1, 0, 20}, Unit{"Gi", 1, 0, 30}, Unit{"Ti", 1, 0, 40},
};
constexpr std::array byte_units = {
    Unit{"B", 1, 0, 0},    Unit{"kB", 1, 3, 0},   Unit{"KB", 1, 3, 0},   Unit{"MB", 1, 6, 0},   Unit{"GB", 1, 9, 0},
    Unit{"TB", 1, 12, 0},  Unit{"PB", 1, 15, 0},  Unit{"EB", 1, 18, 0},  Unit{"KiB", 1, 0, 10}, Unit{"MiB", 1, 0, 20},
    Unit{"GiB", 1, 0, 30}, Unit{"TiB", 1, 0, 40}, Unit{"PiB", 1, 0, 50}, Unit{"EiB", 1, 0, 60}, Unit{"", 1, 0, 0},
};
// Eight bits are a byte: 2^-3.
constexpr std::array rate_units = {
    Unit{"B/s", 1, 0, 0},    Unit{"kB/s", 1, 3, 0},    Unit{"KB/s", 1, 3, 0},    Unit{"MB/s", 1, 6, 0},
    Unit{"GB/s", 1, 9, 0},   Unit{"TB/s", 1, 12, 0},   Unit{"PB/s", 1, 15, 0},   Unit{"EB/s", 1, 18, 0},
    Unit{"KiB/s", 1, 0, 10}, Unit{"MiB/s", 1, 0, 20},  Unit{"GiB/s", 1, 0, 30},  Unit{"TiB/s", 1, 0, 40},
    Unit{"b/s", 1, 0, -3},   Unit{"kb/s", 1, 3, -3},   Unit{"Mb/s", 1, 6, -3},   Unit{"Gb/s", 1, 9, -3},
    Unit{"Tb/s", 1, 12, -3}, Unit{"Mbit/s", 1, 6, -3}, Unit{"Gbit/s", 1, 9, -3}, Unit{"Tbit/s", 1, 12, -3},
    Unit{"Mbps", 1, 6, -3},  Unit{"Gbps", 1, 9, -3},   Unit{"Tbps", 1, 12, -3},  Unit{"", 1, 0, 0},
};
constexpr std::array flop_units = {
    Unit{"FLOP/s", 1, 0, 0},   Unit{"GFLOP/s", 1, 9, 0},  Unit{"TFLOP/s", 1, 12, 0},
    Unit{"PFLOP/s", 1, 15, 0}, Unit{"EFLOP/s", 1, 18, 0}, Unit{"GFLOPS", 1, 9, 0},
    Unit{"TFLOPS", 1, 12, 0},  Unit{"PFLOPS", 1, 15, 0},  Unit{"", 1, 0, 0},
};
// In picoseconds.
constexpr std::array time_units = {
    Unit{"ps", 1, 0, 0},      Unit{"ns", 1, 3, 0}, Unit{"us", 1, 6, 0}, Unit{"\u00b5s", 1, 6, 0},
    Unit{"\u03bcs", 1, 6, 0}, Unit{"ms", 1, 9, 0}, Unit{"s", 1, 12, 0}, Unit{"min", 60, 12, 0},
    Unit{"h", 3600, 12, 0},   Unit{"", 1, 12, 0},
};
constexpr std::array number_units = {Unit{"", 1, 0, 0}, Unit{"%", 1, -2, 0}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// "nan", ".inf", "-Infinity": the ways of writing no number at all that YAML and C know.
bool is_not_finite(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c != '+' && c != '-' && c != '.') word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return word == "nan" || word == "inf" || word == "infinity";
}

/// Moves the exponent ("e-3") from the text into the number, if one is there.
void take_exponent(std::string_view& text, Decimal& number) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return;
  std::size_t at = 1;
  const bool minus = text.size() > at && text[at] == '-';
  if (text.size() > at && (text[at] == '-' || text[at] == '+')) ++at;
  if (text.size() <= at || !is_digit(text[at])) return;  // the E of "EB"
  int exponent = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    exponent = exponent * 10 + (text[at] - '0');
    if (exponent > 999) throw UnitError("has an exponent far out of range");
  }
  number.exponent += minus ? -exponent : exponent;
  text.remove_prefix(at);
}

/// Digits and decimal point; trailing zeros go to the exponent, so that only significant digits count.
void take_digits(std::string_view& text, Decimal& number) {
  std::string digits;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    digits += text[at];
    if (point) --number.exponent;
  }
  if (digits.empty()) throw UnitError("does not start with a number");
  if (digits.size() > 1 && digits[0] == '0' && is_digit(text[1])) {
    throw UnitError("starts with a zero, which YAML may read as octal");
  }
  text.remove_prefix(at);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++number.exponent;
  }
  if (digits.size() > 19) throw UnitError("has more than 19 significant digits");
  for (const char c : digits) number.digits = number.digits * 10 + static_cast<std::uint64_t>(c - '0');
}

/// Splits "90 GB/s" into its number and "GB/s".
Decimal take_number(std::string_view& text) {
  text = trimmed(text);
  if (text.empty()) throw UnitError("is empty");
  if (is_not_finite(text)) throw UnitError("is not a finite number");
  Decimal number;
  number.negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  take_digits(text, number);
  take_exponent(text, number);
  text = trimmed(text);
  return number;
}

Unit find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit;
  }
  std::string known;
  for (const Unit& unit : units) {
    if (!unit.name.empty()) known += (known.empty() ? "" : ", ") + std::string(unit.name);
  }
  throw UnitError((name.empty() ? "has no unit" : "has the unknown unit '" + std::string(name) + "'") +
                  " (known: " + known + ")");
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw UnitError("is too large");
  return product;
}

/// n x base^power, which has to be whole, else `failure`.
std::uint64_t scaled(std::uint64_t n, std::uint64_t base, int power, const std::string& failure) {
  for (; power > 0; --power) n = times(n, base);
  for (; power < 0; ++power) {
    if (n % base != 0) throw UnitError(failure);
    n /= base;
  }
  return n;
}

/// number x unit as a whole number of base units. 10 = 2 x 5, and what divides goes first, so that "95.367431640625
/// MiB" does not overflow on its way to 10^8.
std::int64_t whole(const Decimal& number, const Unit& unit, const std::string& failure) {
  if (number.digits == 0) return 0;
  const int fives = number.exponent + unit.ten;
  const int twos = fives + unit.two;
  std::uint64_t n = times(number.digits, static_cast<std::uint64_t>(unit.factor));
  if (twos < 0) n = scaled(n, 2, twos, failure);
  n = scaled(n, 5, fives, failure);
  if (twos > 0) n = scaled(n, 2, twos, failure);
  if (n > INT64_MAX) throw UnitError("is too large");
  return number.negative ? -static_cast<std::int64_t>(n) : static_cast<std::int64_t>(n);
}

/// number x unit as the nearest double; powers of two are exact.
double real(const Decimal& number, const Unit& unit) {
  const std::string text = std::to_string(number.digits) + "e" + std::to_string(number.exponent + unit.ten);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() && number.digits != 0) throw UnitError("is out of the range of floating point");
  value = std::ldexp(value * static_cast<double>(unit.factor), unit.two);
  return number.negative ? -value : value;
}

std::int64_t parse_whole(std::string_view text, std::span<const Unit> units, const std::string& failure) {
  const Decimal number = take_number(text);
  return whole(number, find_unit(units, text), failure);
}

double parse_real(std::string_view text, std::span<const Unit> units) {
  const Decimal number = take_number(text);
  return real(number, find_unit(units, text));
}

/// digits x 10^-places without trailing zeros: (12345, 3) -> "12.345".
std::string with_point(std::string digits, int places) {
  if (places > 0) {
    if (static_cast<int>(digits.size()) <= places)
      digits.insert(0, static_cast<std::size_t>(places) + 1 - digits.size(), '0');
    digits.insert(digits.size() - static_cast<std::size_t>(places), ".");
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  } else {
    digits.append(static_cast<std::size_t>(-places), '0');
  }
  return digits;
}

/// The largest decimal unit not above n.
std::string format_decimal(std::int64_t n, std::span<const Unit> units) {
  const std::uint64_t size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  const std::string digits = std::to_string(size);
  const Unit* best = &units[0];
  for (const Unit& unit : units) {
    const bool candidate = unit.factor == 1 && unit.two == 0 && !unit.name.empty();
    if (candidate && unit.ten > best->ten && static_cast<int>(digits.size()) > unit.ten) best = &unit;
  }
  return (n < 0 ? "-" : "") + with_point(digits, best->ten) + " " + std::string(best->name);
}

/// The largest binary unit that divides n, or nothing.
std::optional<std::string> format_binary(std::int64_t n, std::span<const Unit> units) {
  std::optional<std::string> text;
  for (const Unit& unit : units) {
    if (unit.two <= 0 || n == 0 || n % (std::int64_t{1} << unit.two) != 0) continue;
    text = std::to_string(n / (std::int64_t{1} << unit.two)) + " " + std::string(unit.name);
  }
  return text;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  // Above 10^15 the fixed form could have more digits than are read back.
  const auto form = std::abs(value) < 1e15 ? std::chars_format::general : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, form);
  return {buffer.data(), end};
}

/// Base units of every kind, for quantities of unknown kind; time comes out in seconds.
std::vector<Unit> all_units() {
  std::vector<Unit> all;
  for (const Unit& unit : number_units) all.push_back(unit);
  for (const Unit& unit : byte_units) all.push_back(unit);
  for (const Unit& unit : rate_units) all.push_back(unit);
  for (const Unit& unit : flop_units) all.push_back(unit);
  for (Unit unit : time_units) {
    unit.ten -= 12;
    all.push_back(unit);
  }
  for (const Unit& unit : count_units) all.push_back(unit);
  return all;
}

}  // namespace

std::int64_t parse_count(const std::string& text) {
  std::string_view rest = trimmed(text);
  constexpr std::string_view word = "tokens";
  if (rest.ends_with(word)) rest.remove_suffix(word.size());
  return parse_whole(rest, count_units, "is not a whole number");
}

Bytes parse_bytes(const std::string& text) {
  return parse_whole(text, byte_units, "is not a whole number of bytes");
}

std::int64_t parse_rate(const std::string& text) {
  return parse_whole(text, rate_units, "is not a whole number of bytes per second");
}

double parse_flops(const std::string& text) {
  return parse_real(text, flop_units);
}

Picoseconds parse_time(const std::string& text) {
  return Picoseconds(parse_whole(text, time_units, "is not a whole number of picoseconds"));
}

double parse_number(const std::string& text) {
  return parse_real(text, number_units);
}

Fraction parse_fraction(const std::string& text) {
  std::string_view rest = text;
  const Decimal number = take_number(rest);
  const int exponent = number.exponent + find_unit(number_units, rest).ten;
  if (number.negative) throw UnitError("is negative");
  if (number.digits == 0) return {};
  const std::string failure = "has more digits than are kept";
  if (exponent < -19) throw UnitError(failure);
  std::uint64_t numerator = scaled(number.digits, 10, std::max(exponent, 0), failure);
  std::uint64_t denominator = scaled(1, 10, std::max(-exponent, 0), failure);
  const std::uint64_t common = std::gcd(numerator, denominator);
  numerator /= common;
  denominator /= common;
  if (numerator > UINT32_MAX || denominator > UINT32_MAX) throw UnitError(failure);
  return {static_cast<std::uint32_t>(numerator), static_cast<std::uint32_t>(denominator)};
}

double parse_quantity(const std::string& text) {
  return parse_real(text, all_units());
}

std::string format_count(std::int64_t count) {
  return std::to_string(count);
}

std::string format_bytes(Bytes bytes) {
  const std::string decimal = format_decimal(bytes, byte_units);
  const std::optional<std::string> binary = format_binary(bytes, byte_units);
  return binary && binary->size() <= decimal.size() ? *binary : decimal;
}

std::string format_rate(std::int64_t bytes_per_second) {
  return format_decimal(bytes_per_second, rate_units);
}

std::string format_flops(double flops) {
  // Shortest digits that read back as this double, as d.ddde+xx; then the point moves to the unit.
  std::array<char, 40> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), flops, std::chars_format::scientific);
  const std::string text(buffer.data(), end);
  const std::size_t e = text.find('e');
  if (e == std::string::npos || flops <= 0) return shortest(flops) + " FLOP/s";
  const int exponent = std::stoi(text.substr(e + 1));
  std::string digits = text.substr(0, e);
  std::erase(digits, '.');
  const Unit* best = &flop_units[0];
  for (const Unit& unit : flop_units) {
    if (unit.name.ends_with("/s") && unit.ten <= exponent && unit.ten > best->ten) best = &unit;
  }
  const int places = static_cast<int>(digits.size()) - 1 - (exponent - best->ten);
  return with_point(digits, places) + " " + std::string(best->name);
}

std::string format_time(Picoseconds time) {
  return time.count() == 0 ? "0 s" : format_decimal(time.count(), time_units);
}

std::string format_number(double number) {
  return shortest(number);
}

// Long division: a denominator of twos and fives leaves no rest in the end.
std::string format_fraction(Fraction fraction) {
  std::string text = std::to_string(fraction.numerator / fraction.denominator);
  std::uint64_t rest = fraction.numerator % fraction.denominator;
  if (rest != 0) text += ".";
  for (int digit = 0; rest != 0 && digit < 32; ++digit) {
    text += std::to_string(rest * 10 / fraction.denominator);
    rest = rest * 10 % fraction.denominator;
  }
  return text;
}

}  // namespace stepsim
