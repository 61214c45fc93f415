// gantt.h: who does what when, as rows of spans over time: drawn with characters, or as SVG.
//
// A row is a rank (or a class of chips), time runs to the right. Nothing is known here of schedules: times are whole
// ticks of any length, the drawing writes them in the unit that `Gantt` names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stepsim {

enum class SpanKind : std::uint8_t { forward, input_gradient, weight_gradient, backward, other };

/// Two spans of a row that lie over the same time share its height.
enum class SpanHalf : std::uint8_t { whole, upper, lower };

struct GanttSpan {
  std::int64_t start = 0;
  std::int64_t end = 0;
  SpanKind kind = SpanKind::other;
  SpanHalf half = SpanHalf::whole;
  std::int32_t chunk = 0;  // which of the row's stages, from 0: its shade
  std::string label;       // where it fits: the microbatch
  std::string title;       // what it is, in words: "0F3"
};

struct GanttRow {
  std::string label;
  std::vector<GanttSpan> spans;  // in order of time; those that overlap are an upper and a lower half
};

struct Gantt {
  std::string title;
  std::string subtitle;
  std::vector<GanttRow> rows;
  std::vector<std::string> chunks;  // what the chunks are called in the legend: "first stage of a rank", ...
  std::int64_t end = 0;             // of the time axis
  std::int64_t ticks_per_unit = 1;
  std::string unit;  // "ms"; empty: abstract time units
};

/// "F", "I", "W", "B", "x"
char letter(SpanKind kind);
/// "forward", ...
std::string name(SpanKind kind);
/// Those that the drawing has, in order.
std::vector<SpanKind> kinds(const Gantt& gantt);

/// A round distance between marks of the time axis (1, 2 or 5 x 10^k units; at least a tick), so that there are about
/// `most` of them.
std::int64_t mark_distance(const Gantt& gantt, std::int64_t most);
/// In units, exactly where a decimal number can be.
std::string time_in_units(const Gantt& gantt, std::int64_t time);

/// Lines of at most `columns` characters (at least 40). Colour: ANSI codes, 256 colours.
std::string gantt_text(const Gantt& gantt, std::size_t columns, bool colour);

std::string gantt_svg(const Gantt& gantt);

}  // namespace stepsim
