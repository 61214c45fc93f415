#include "tools/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stepsim {

char letter(SpanKind kind) {
  constexpr std::array<char, 5> letters = {'F', 'I', 'W', 'B', 'X'};
  return letters[static_cast<std::size_t>(kind)];
}

std::string name(SpanKind kind) {
  constexpr std::array<const char*, 5> names = {"forward", "backward for inputs", "backward for weights", "backward",
                                                "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<SpanKind> kinds(const Gantt& gantt) {
  std::array<bool, 5> seen{};
  for (const GanttRow& row : gantt.rows) {
    for (const GanttSpan& span : row.spans) seen[static_cast<std::size_t>(span.kind)] = true;
  }
  std::vector<SpanKind> all;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) all.push_back(static_cast<SpanKind>(i));
  }
  return all;
}

std::int64_t mark_distance(const Gantt& gantt, std::int64_t most) {
  const std::int64_t least = std::max<std::int64_t>(1, gantt.end / std::max<std::int64_t>(1, most));
  std::int64_t power = gantt.ticks_per_unit;
  while (power > least && power % 10 == 0) power /= 10;
  while (power <= least / 10) power *= 10;
  for (const std::int64_t step : {1, 2, 5}) {
    if (power * step >= least) return power * step;
  }
  return power * 10;
}

std::string time_in_units(const Gantt& gantt, std::int64_t time) {
  const std::int64_t rest = time % gantt.ticks_per_unit;
  std::string text = fmt::format("{}", time / gantt.ticks_per_unit);
  if (rest == 0) return text;
  std::string decimals = fmt::format("{:.6f}", static_cast<double>(rest) / static_cast<double>(gantt.ticks_per_unit));
  if (decimals[0] != '0') return fmt::format("{}", time / gantt.ticks_per_unit + 1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return decimals == "0." ? text : text + decimals.substr(1);
}

}  // namespace stepsim
