#include "scenarios/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stepsim {
namespace {

const YamlValue& empty_map() {
  static const YamlValue empty = [] {
    YamlValue map;
    map.kind = YamlValue::Kind::map;
    return map;
  }();
  return empty;
}

template <class T>
T within(T value, T least, T most, const std::string& least_text, const std::string& most_text) {
  if (value < least) throw UnitError("is below " + least_text);
  if (value > most) throw UnitError("is above " + most_text);
  return value;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

bool parse_flag(const std::string& text) {
  if (text == "true" || text == "on" || text == "yes") return true;
  if (text == "false" || text == "off" || text == "no") return false;
  throw UnitError("is neither");
}

}  // namespace

int rank(const std::string& origin) {
  return origin == "--set" ? 3 : origin == "given" ? 2 : 1;
}

Section::Section(Findings& findings, const YamlValue& value, std::string key, SourcePlace place)
    : findings_(&findings), value_(&value), key_(std::move(key)), place_(std::move(place)) {
  if (value.kind == YamlValue::Kind::map) return;
  findings.problem(value.place, key_, "expected a map of keys, found " + describe(value));
  value_ = &empty_map();
  usable_ = false;
}

Section Section::unusable(Findings& findings, std::string key, SourcePlace place) {
  Section section(findings, empty_map(), std::move(key), std::move(place));
  section.usable_ = false;
  return section;
}

const YamlValue* Section::find(const std::string& name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
  return value_->find(name);
}

void Section::problem(const std::string& name, const std::string& message) {
  if (!usable_) return;
  const YamlValue* value = value_->find(name);
  const bool moved = value != nullptr && !value->written_as.empty();
  findings_->problem(value == nullptr ? place_ : value->place, moved ? value->written_as : full(name), message);
}

template <class T, class Parse, class Format>
T Section::read(const std::string& name, const std::string& expected, const std::optional<T>& fallback, Parse parse,
                Format format) {
  const YamlValue* value = find(name);
  if (value == nullptr) {
    if (!fallback) {
      problem(name, "missing: expected " + expected);
      return T{};
    }
    findings_->resolve(full(name), format(*fallback), "default");
    return *fallback;
  }
  if (value->kind != YamlValue::Kind::scalar) {
    problem(name, "expected " + expected + ", found " + describe(*value));
    return fallback.value_or(T{});
  }
  try {
    T parsed = parse(value->text);
    findings_->resolve(full(name), format(parsed), value->origin);
    return parsed;
  } catch (const UnitError& error) {
    problem(name, "expected " + expected + ", found " + describe(*value) + ", which " + error.what());
    return fallback.value_or(T{});
  }
}

std::string Section::text(const std::string& name, const std::optional<std::string>& fallback) {
  const auto same = [](const std::string& text) { return text; };
  return read<std::string>(name, "a text", fallback, same, same);
}

bool Section::flag(const std::string& name, bool fallback) {
  return read<bool>(name, "true or false", fallback, parse_flag, [](bool on) { return on ? "true" : "false"; });
}

std::int64_t Section::count(const std::string& name, Range range, std::optional<std::int64_t> fallback) {
  const auto parse = [&](const std::string& text) {
    return within(parse_count(text), range.least, range.most, format_count(range.least), format_count(range.most));
  };
  return read<std::int64_t>(name, fmt::format("a whole number from {} to {}", range.least, range.most), fallback, parse,
                            format_count);
}

int Section::small_count(const std::string& name, Range range, std::optional<int> fallback) {
  range.most = std::min<std::int64_t>(range.most, INT32_MAX);
  const std::optional<std::int64_t> wide = fallback ? std::optional<std::int64_t>(*fallback) : std::nullopt;
  return static_cast<int>(count(name, range, wide));
}

Bytes Section::bytes(const std::string& name, Range range, std::optional<Bytes> fallback) {
  const auto parse = [&](const std::string& text) {
    return within(parse_bytes(text), range.least, range.most, format_bytes(range.least), format_bytes(range.most));
  };
  return read<Bytes>(name, "a size such as '32 GiB' or '96 GB'", fallback, parse, format_bytes);
}

std::int64_t Section::rate(const std::string& name, Range range, std::optional<std::int64_t> fallback) {
  const auto parse = [&](const std::string& text) {
    return within(parse_rate(text), range.least, range.most, format_rate(range.least), format_rate(range.most));
  };
  return read<std::int64_t>(name, "a rate such as '90 GB/s' or '400 Gb/s'", fallback, parse, format_rate);
}

double Section::flops(const std::string& name) {
  constexpr double most = 1e20;  // FLOP/s; far above any chip
  const auto parse = [](const std::string& text) {
    return within(parse_flops(text), 1.0, most, format_flops(1), format_flops(most));
  };
  return read<double>(name, "a compute rate such as '459 TFLOP/s'", std::nullopt, parse, format_flops);
}

double Section::number(const std::string& name, double least, double most, std::optional<double> fallback) {
  const auto parse = [&](const std::string& text) {
    return within(parse_number(text), least, most, format_number(least), format_number(most));
  };
  return read<double>(name, fmt::format("a number from {} to {}", format_number(least), format_number(most)), fallback,
                      parse, format_number);
}

Fraction Section::fraction(const std::string& name, double least, double most) {
  const auto parse = [&](const std::string& text) {
    const Fraction fraction = parse_fraction(text);
    within(static_cast<double>(fraction.numerator) / fraction.denominator, least, most, format_number(least),
           format_number(most));
    return fraction;
  };
  return read<Fraction>(name, fmt::format("a number from {} to {}", format_number(least), format_number(most)),
                        std::nullopt, parse, format_fraction);
}

Picoseconds Section::time(const std::string& name, std::optional<Picoseconds> fallback) {
  const Picoseconds most(1'000'000'000'000);
  const auto parse = [&](const std::string& text) {
    return within(parse_time(text), Picoseconds(0), most, "0 s", format_time(most));
  };
  return read<Picoseconds>(name, "a time such as '1 us'", fallback, parse, format_time);
}

double Section::quantity(const std::string& name) {
  return read<double>(name, "a number with or without a unit", std::nullopt, parse_quantity, format_number);
}

std::size_t Section::choice(const std::string& name, const std::vector<std::string>& options,
                            std::optional<std::size_t> fallback) {
  const auto parse = [&](const std::string& text) {
    const auto found = std::find(options.begin(), options.end(), text);
    if (found != options.end()) return static_cast<std::size_t>(found - options.begin());
    const std::string near = nearest(text, options);
    throw UnitError("is none of them" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
  };
  return read<std::size_t>(name, "one of " + joined(options, ", "), fallback, parse,
                           [&](std::size_t i) { return options[i]; });
}

std::vector<int> Section::counts(const std::string& name, Range range,
                                 const std::optional<std::vector<int>>& fallback) {
  const auto format = [](const std::vector<int>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); };
  const YamlValue* value = find(name);
  if (value == nullptr || value->kind != YamlValue::Kind::list) {
    const std::string expected = "a list of whole numbers such as [4, 4, 8]";
    return read<std::vector<int>>(
        name, expected, fallback, [](const std::string&) -> std::vector<int> { throw UnitError("is no list"); },
        format);
  }
  std::vector<int> list;
  // The items are read as if they were the keys 0, 1, 2... of a map, and listed as one line.
  Findings inside;
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    YamlValue item;
    item.kind = YamlValue::Kind::map;
    item.set({std::to_string(i), value->items[i].place}, value->items[i]);
    list.push_back(Section(inside, item, full(name), value->place).small_count(std::to_string(i), range, std::nullopt));
  }
  if (list.empty()) problem(name, "expected a list of whole numbers, found an empty one");
  findings_->problems.insert(findings_->problems.end(), inside.problems.begin(), inside.problems.end());
  findings_->resolve(full(name), format(list), value->origin);
  return list;
}

void Section::unused(const std::vector<std::string>& names, const std::string& reason) {
  for (const std::string& name : names) {
    const YamlValue* value = find(name);
    if (value != nullptr && rank(value->origin) > 1) problem(name, "does not count " + reason);
  }
}

std::string Section::one_of(const std::string& a, const std::string& b) {
  const YamlValue* first = find(a);
  const YamlValue* second = find(b);
  if (first == nullptr) return second == nullptr ? "" : b;
  if (second == nullptr) return a;
  const int difference = rank(first->origin) - rank(second->origin);
  const auto position = [](const YamlValue& value) { return std::pair(value.place.line, value.place.column); };
  const bool second_is_later = position(*first) <= position(*second);
  if (difference == 0) {
    problem(second_is_later ? b : a,
            "given as well as '" + full(second_is_later ? a : b) + "': expected one of the two");
  }
  return difference >= 0 ? a : b;
}

void Section::done() {
  for (const YamlKey& key : value_->keys) {
    if (std::find(known_.begin(), known_.end(), key.name) != known_.end()) continue;
    std::vector<std::string> sorted = known_;
    std::sort(sorted.begin(), sorted.end());
    const std::string near = nearest(key.name, sorted);
    findings_->problem(key.place, full(key.name),
                       "unknown key" + (near.empty() ? "" : ", did you mean '" + near + "'?") +
                           " (known: " + joined(sorted, ", ") + ")");
  }
}

}  // namespace stepsim
