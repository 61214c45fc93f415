// gantt_text.cpp: a Gantt with characters.
//
// If the room allows, every span begins and ends on a character: a character is the greatest common divisor of all
// times, or a part of it, so that numbers fit. Otherwise time is cut into as many parts as there is room for, and each
// character shows what takes most of its part; ties go to what began first. Chunks are told apart by upper and lower
// case by turns, on a terminal by shades too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "tools/gantt.h"
#include "tools/table.h"

namespace stepsim {

namespace {

constexpr std::size_t least_columns = 40;
constexpr char both = '&';  // halves of one time, where there is room for one letter only

/// Time per character: ticks / characters.
struct Scale {
  std::int64_t ticks = 1;
  std::int64_t characters = 1;
  bool exact = true;
  std::size_t cells = 0;
};

/// What is drawn at a time: a span, or an upper half with its lower one.
struct Piece {
  const GanttSpan* first = nullptr;
  const GanttSpan* second = nullptr;
};

std::vector<Piece> pieces(const GanttRow& row) {
  std::vector<Piece> all;
  for (const GanttSpan& span : row.spans) {
    if (span.half == SpanHalf::lower && !all.empty() && all.back().first->half == SpanHalf::upper &&
        all.back().second == nullptr) {
      all.back().second = &span;
    } else {
      all.push_back({&span, nullptr});
    }
  }
  return all;
}

std::string text_of(const GanttSpan& span, bool with_label) {
  const char one = letter(span.kind);
  const char cased = span.chunk % 2 == 0 ? one : static_cast<char>(std::tolower(one));
  return std::string(1, cased) + (with_label ? span.label : "");
}

std::string text_of(const Piece& piece, bool with_label) {
  if (piece.second == nullptr) return text_of(*piece.first, with_label);
  return text_of(*piece.first, with_label) + (with_label ? "&" : "") + text_of(*piece.second, with_label);
}

/// The next number with at most three digits and zeros behind them.
std::int64_t three_digits_up(std::int64_t number) {
  std::int64_t power = 1;
  while (number / power >= 1000) power *= 10;
  return (number + power - 1) / power * power;
}

/// Characters that the longest text of a tick's length needs, for labels to fit everywhere.
Scale scale_for(const Gantt& gantt, std::size_t room) {
  std::int64_t divisor = gantt.end;
  for (const GanttRow& row : gantt.rows) {
    for (const GanttSpan& span : row.spans) divisor = std::gcd(std::gcd(divisor, span.start), span.end);
  }
  if (divisor == 0) return {};
  const auto available = static_cast<std::int64_t>(room);
  if (gantt.end / divisor > available) {
    const std::int64_t ticks = three_digits_up((gantt.end + available - 1) / available);
    return {ticks, 1, false, static_cast<std::size_t>((gantt.end + ticks - 1) / ticks)};
  }
  std::int64_t wanted = 1;
  for (const GanttRow& row : gantt.rows) {
    for (const Piece& piece : pieces(row)) {
      const std::int64_t lasts = (piece.first->end - piece.first->start) / divisor;
      const auto needs = static_cast<std::int64_t>(text_of(piece, true).size() + 1);
      if (lasts > 0) wanted = std::max(wanted, (needs + lasts - 1) / lasts);
    }
  }
  const std::int64_t characters = std::min(wanted, available / (gantt.end / divisor));
  return {divisor, characters, true, static_cast<std::size_t>(gantt.end / divisor * characters)};
}

/// Which piece each character shows; -1: idle.
std::vector<int> shown(const std::vector<Piece>& row, const Scale& scale) {
  std::vector<int> cells(scale.cells, -1);
  std::size_t first = 0;  // of the pieces that have not ended
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::int64_t from = static_cast<std::int64_t>(cell) / scale.characters * scale.ticks;
    const std::int64_t to = from + scale.ticks;
    while (first < row.size() && row[first].first->end <= from) ++first;
    std::int64_t busy = 0;
    std::int64_t most = 0;
    std::array<std::int64_t, 256> by_letter{};
    for (std::size_t i = first; i < row.size() && row[i].first->start < to; ++i) {
      const std::int64_t part = std::min(to, row[i].first->end) - std::max(from, row[i].first->start);
      busy += part;
      const std::string text = text_of(row[i], false);
      std::int64_t& sum = by_letter[static_cast<unsigned char>(text.size() == 1 ? text[0] : both)];
      sum += part;
      if (sum > most) {
        most = sum;
        cells[cell] = static_cast<int>(i);
      }
    }
    if (scale.ticks - busy > most) cells[cell] = -1;
  }
  return cells;
}

// 256-colour backgrounds by kind, from the first chunk's shade to the last one's.
using Shades = std::array<int, 4>;
constexpr std::array<Shades, 5> shades = {Shades{26, 68, 75, 117}, Shades{29, 36, 79, 122}, Shades{178, 221, 222, 229},
                                          Shades{125, 168, 175, 218}, Shades{241, 244, 247, 250}};

std::size_t shade(std::int32_t chunk, std::size_t chunks) {
  const std::size_t count = std::max<std::size_t>(chunks, 1);
  const auto at = static_cast<std::size_t>(chunk);
  return std::min<std::size_t>(3, count <= 4 ? at : at * 4 / count);
}

std::string painted(bool colour, const GanttSpan& span, std::size_t chunks, const std::string& text) {
  if (!colour || text.empty()) return text;
  const std::size_t level = shade(span.chunk, chunks);
  const bool light = level > 0 || span.kind == SpanKind::weight_gradient;
  return fmt::format("\x1b[38;5;{};48;5;{}m{}\x1b[0m", light ? 16 : 231,
                     shades[static_cast<std::size_t>(span.kind)][level], text);
}

/// `text` and lines behind it, in exactly `cells` characters; as much of the text as fits.
std::string filled(const std::string& text, const std::string& shorter, std::size_t cells, bool colour) {
  std::string line = text.size() <= cells ? text : shorter;
  line.resize(std::min(line.size(), cells));
  return line + std::string(cells - line.size(), colour ? ' ' : '-');
}

std::string piece_text(const Gantt& gantt, const Piece& piece, std::size_t cells, bool colour) {
  const std::size_t chunks = gantt.chunks.size();
  const std::string whole = text_of(piece, true);
  if (piece.second == nullptr) {
    return painted(colour, *piece.first, chunks, filled(whole, text_of(piece, false), cells, colour));
  }
  if (cells == 1) return painted(colour, *piece.first, chunks, std::string(1, both));
  const std::size_t upper = cells - cells / 2;
  if (!colour) return filled(whole, text_of(piece, false), cells, colour);
  std::string first = filled(text_of(*piece.first, true), text_of(*piece.first, false), upper, colour);
  if (upper > 1 && first.back() == ' ') first.back() = both;
  return painted(colour, *piece.first, chunks, first) +
         painted(colour, *piece.second, chunks,
                 filled(text_of(*piece.second, true), text_of(*piece.second, false), cells - upper, colour));
}

std::string row_text(const Gantt& gantt, const GanttRow& row, const Scale& scale, bool colour) {
  const std::vector<Piece> all = pieces(row);
  const std::vector<int> cells = shown(all, scale);
  std::string text;
  for (std::size_t from = 0; from < cells.size();) {
    std::size_t to = from + 1;
    while (to < cells.size() && cells[to] == cells[from]) ++to;
    text += cells[from] < 0 ? paint(colour, Paint::dim, std::string(to - from, '.'))
                            : piece_text(gantt, all[static_cast<std::size_t>(cells[from])], to - from, colour);
    from = to;
  }
  return text;
}

std::string axis_text(const Gantt& gantt, const Scale& scale) {
  const std::int64_t distance = mark_distance(gantt, static_cast<std::int64_t>(scale.cells / 10));
  std::string line;
  for (std::int64_t time = 0; time <= gantt.end; time += distance) {
    const double ticks = static_cast<double>(time) / static_cast<double>(scale.ticks);
    const auto at = static_cast<std::size_t>(ticks * static_cast<double>(scale.characters));
    const std::string mark = "|" + time_in_units(gantt, time);
    if (at + mark.size() > scale.cells) break;
    if (line.size() < at + 1) line.resize(at, ' ');
    if (line.size() == at) line += mark;
  }
  return line;
}

std::string scale_text(const Gantt& gantt, const Scale& scale) {
  const std::string unit = gantt.unit.empty() ? "time units" : gantt.unit;
  const std::string lasts = time_in_units(gantt, scale.ticks);
  if (!scale.exact) {
    return fmt::format("1 character is {} {} and shows what takes most of them", lasts, unit);
  }
  return fmt::format(
      "{} {} {} {} {}; {} in all", scale.characters, scale.characters == 1 ? "character is" : "characters are", lasts,
      gantt.unit.empty() && lasts == "1" ? "time unit" : unit, "exactly", time_in_units(gantt, gantt.end));
}

std::string legend(const Gantt& gantt, const Scale& scale, std::size_t columns, bool colour) {
  std::string line;
  std::size_t used = 2;
  const auto add = [&](const std::string& drawn, const std::string& plain) {
    const std::size_t needs = width(plain) + 3;
    if (used > 2 && used + needs > columns) {
      line += "\n  ";
      used = 2;
    }
    line += (used > 2 ? "   " : "") + drawn;
    used += needs;
  };
  for (const SpanKind kind : kinds(gantt)) {
    const GanttSpan sample{0, 0, kind, SpanHalf::whole, 0, "", ""};
    const std::string one = std::string(1, letter(kind));
    add(painted(colour, sample, 1, one) + " " + name(kind), one + " " + name(kind));
  }
  const bool halves = std::any_of(gantt.rows.begin(), gantt.rows.end(), [](const GanttRow& row) {
    return std::any_of(row.spans.begin(), row.spans.end(),
                       [](const GanttSpan& span) { return span.half != SpanHalf::whole; });
  });
  if (halves) add("& both at once", "& both at once");
  add(". idle", ". idle");
  if (gantt.chunks.size() > 1) {
    const std::string upper = gantt.chunks.size() == 2 ? gantt.chunks[0] : "chunks 0, 2, ...";
    const std::string lower = gantt.chunks.size() == 2 ? gantt.chunks[1] : "chunks 1, 3, ...";
    add("F " + upper, "F " + upper);
    add("f " + lower, "f " + lower);
  }
  return "  " + line + "\n  " + wrapped(scale_text(gantt, scale), columns - 2, 2) + "\n";
}

}  // namespace

std::string gantt_text(const Gantt& gantt, std::size_t columns, bool colour) {
  columns = std::max(columns, least_columns);
  std::size_t label = 0;
  for (const GanttRow& row : gantt.rows) label = std::max(label, width(row.label));
  const std::size_t left = label + 3;
  const Scale scale = scale_for(gantt, columns - std::min(left, columns / 2));
  std::string text = std::string(left, ' ') + paint(colour, Paint::dim, axis_text(gantt, scale)) + "\n";
  for (const GanttRow& row : gantt.rows) {
    text += "  " + std::string(label - width(row.label), ' ') + row.label + " " + row_text(gantt, row, scale, colour) +
            "\n";
  }
  return text + "\n" + legend(gantt, scale, columns, colour);
}

}  // namespace stepsim
