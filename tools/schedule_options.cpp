#include "tools/schedule_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace stepsim {

namespace {

constexpr Ticks most_units = 1'000'000'000;
constexpr std::size_t places = 6;

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Digits, and up to six more behind a point.
std::optional<Ticks> ticks_of(const std::string& text) {
  const std::size_t point = text.find('.');
  const std::string whole = text.substr(0, point);
  std::string rest = point == std::string::npos ? "0" : text.substr(point + 1);
  if (!all_digits(whole) || !all_digits(rest) || rest.size() > places || whole.size() > 10) return std::nullopt;
  rest.resize(places, '0');
  const Ticks ticks = std::stoll(whole) * ticks_per_unit + std::stoll(rest);
  return ticks <= most_units * ticks_per_unit ? std::optional(ticks) : std::nullopt;
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// "F=10,W=8" as names and values; every name at most once and one of `names`.
std::map<std::string, std::string> assignments(const std::string& key, const std::string& text,
                                               const std::vector<std::string>& names, std::vector<Problem>& problems) {
  std::map<std::string, std::string> all;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = trimmed(text.substr(from, comma - from));
    from = comma + 1;
    const std::size_t equals = part.find('=');
    const std::string name = trimmed(part.substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      problems.push_back(
          {{}, key, fmt::format("'{}': expected LETTER=NUMBER, as in {}=1 (of {})", part, names[0], known)});
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
      problems.push_back({{}, key, fmt::format("unknown letter '{}': expected one of {}", name, known)});
    } else if (!all.emplace(name, trimmed(part.substr(equals + 1))).second) {
      problems.push_back({{}, key, fmt::format("{} is given twice", name)});
    }
  }
  return all;
}

}  // namespace

std::string ticks_text(Ticks ticks) {
  std::string text = fmt::format("{}", ticks / ticks_per_unit);
  if (ticks % ticks_per_unit == 0) return text;
  text += fmt::format(".{:06}", ticks % ticks_per_unit);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

Ticks read_time(const std::string& key, const std::string& text, std::vector<Problem>& problems) {
  if (const std::optional<Ticks> ticks = ticks_of(text)) return *ticks;
  const std::string wanted =
      fmt::format("'{}': expected a time from 0 to {}, whole or decimal to six places", text, most_units);
  problems.push_back({{}, key, wanted});
  return 0;
}

ActionCosts read_times(const std::string& text, std::vector<Problem>& problems) {
  ActionCosts costs;
  std::map<std::string, std::string> given;
  if (!text.empty()) given = assignments("--times", text, {"F", "I", "W", "B", "FB"}, problems);
  const auto time = [&](const std::string& name, Ticks otherwise) {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : read_time("--times " + name, found->second, problems);
  };
  costs.forward = time("F", ticks_per_unit);
  costs.input_gradient = time("I", ticks_per_unit);
  costs.weight_gradient = time("W", ticks_per_unit);
  costs.backward = time("B", costs.input_gradient + costs.weight_gradient);
  costs.fused = time("FB", costs.forward + costs.backward);
  return costs;
}

ActivationUnits read_activation(const std::string& text, std::vector<Problem>& problems) {
  ActivationUnits activation;
  if (text.empty()) return activation;
  const auto given = assignments("--activation", text, {"F", "W"}, problems);
  const auto amount = [&](const std::string& name, double otherwise) {
    const auto found = given.find(name);
    if (found == given.end()) return otherwise;
    const std::optional<double> value = number_of(found->second);
    if (value && *value >= 0 && *value <= 1e15) return *value;
    problems.push_back(
        {{}, "--activation " + name, fmt::format("'{}': expected a number from 0 to 1e15", found->second)});
    return otherwise;
  };
  activation.after_forward = amount("F", 1);
  activation.after_input = amount("W", activation.after_forward);
  if (activation.after_forward <= 0) problems.push_back({{}, "--activation F", "expected more than 0"});
  if (activation.after_input > activation.after_forward) {
    problems.push_back({{},
                        "--activation W",
                        fmt::format("{} is held until W, more than the {} after F: expected a part of it",
                                    activation.after_input, activation.after_forward)});
  }
  return activation;
}

std::string times_text(const ActionCosts& costs) {
  return fmt::format("F {}, I {}, W {}, B {}, FB {}, p2p {}", ticks_text(costs.forward),
                     ticks_text(costs.input_gradient), ticks_text(costs.weight_gradient), ticks_text(costs.backward),
                     ticks_text(costs.fused), ticks_text(costs.send));
}

}  // namespace stepsim
