// gantt_svg.cpp: a Gantt as SVG (W3C, "Scalable Vector Graphics 1.1").
//
// As wide as the shortest spans need to show their numbers, within bounds; beyond them they are drawn to scale without
// numbers. Colours by kind, lighter from chunk to chunk; every span says what it is when pointed at.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/gantt.h"
#include "topology/svg.h"

namespace stepsim {

namespace {

constexpr double edge = 24;
constexpr double title_height = 58;
constexpr double row_height = 26;
constexpr double row_gap = 5;
constexpr double axis_height = 26;
constexpr double least_width = 640;  // of the time axis
constexpr double most_width = 2400;
constexpr double digit = 6.2;  // of a label at 10 px
constexpr double label_digit = 7;

struct Colour {
  int red, green, blue;
};

// After Paul Tol, "Colour schemes" (2021), bright: told apart by people with any colour vision.
constexpr std::array<Colour, 5> colours = {Colour{0x3b, 0x6f, 0xb0}, Colour{0x1e, 0x8f, 0x77}, Colour{0xe0, 0xb0, 0x2e},
                                           Colour{0xc9, 0x4f, 0x6d}, Colour{0x88, 0x88, 0x88}};

/// Lighter by up to `most_light` for the last chunk.
Colour shade(SpanKind kind, std::int32_t chunk, std::size_t chunks) {
  constexpr double most_light = 0.55;
  const Colour full = colours[static_cast<std::size_t>(kind)];
  const double light = chunks < 2 ? 0 : most_light * chunk / static_cast<double>(std::max<std::size_t>(chunks - 1, 1));
  const auto lighter = [&](int part) { return static_cast<int>(std::lround(part + (255 - part) * light)); };
  return {lighter(full.red), lighter(full.green), lighter(full.blue)};
}

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

/// Dark text on light colours (luminance as in ITU-R BT.601).
const char* ink(Colour colour) {
  return 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue > 140 ? "#222" : "#fff";
}

struct Layout {
  double left = 0;
  double width = least_width;
  double scale = 1;  // px of a tick

  [[nodiscard]] double x(std::int64_t time) const { return left + static_cast<double>(time) * scale; }
  static double y(std::size_t row) { return title_height + static_cast<double>(row) * (row_height + row_gap); }
};

Layout layout_of(const Gantt& gantt) {
  Layout layout;
  std::size_t label = 0;
  double needs = 0;  // px of a tick
  for (const GanttRow& row : gantt.rows) {
    label = std::max(label, row.label.size());
    for (const GanttSpan& span : row.spans) {
      if (span.end == span.start) continue;
      const double room = digit * static_cast<double>(span.label.size()) + 6;
      needs = std::max(needs, room / static_cast<double>(span.end - span.start));
    }
  }
  layout.left = edge + label_digit * static_cast<double>(label) + 10;
  const auto end = static_cast<double>(std::max<std::int64_t>(gantt.end, 1));
  layout.width = std::clamp(needs * end, least_width, most_width);
  layout.scale = layout.width / end;
  return layout;
}

std::string text_at(double x, double y, const std::string& style, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, svg_text(text));
}

std::string span_svg(const Gantt& gantt, const GanttRow& row, const GanttSpan& span, const Layout& layout, double top) {
  const double x = layout.x(span.start);
  const double width = layout.x(span.end) - x;
  const bool whole = span.half == SpanHalf::whole;
  const double height = whole ? row_height : row_height / 2;
  const double y = span.half == SpanHalf::lower ? top + height : top;
  const Colour fill = shade(span.kind, span.chunk, gantt.chunks.size());
  const std::string unit = gantt.unit.empty() ? "" : " " + gantt.unit;
  const std::string title = fmt::format("{} ({}), {}: {} to {}{}", span.title, name(span.kind), row.label,
                                        time_in_units(gantt, span.start), time_in_units(gantt, span.end), unit);
  std::string svg = fmt::format(
      "<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
      "fill=\"{}\"{}/>",
      svg_text(title), x, y, width, height, hex(fill), width > 3 ? " class=\"b\"" : "");
  const double size = whole ? 11 : 9.5;
  if (!span.label.empty() && digit * static_cast<double>(span.label.size()) + 2 <= width) {
    svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"middle\">{}</text>",
                       x + width / 2, y + height / 2 + size * 0.36, size, ink(fill), svg_text(span.label));
  }
  return svg + "</g>\n";
}

std::string axis_svg(const Gantt& gantt, const Layout& layout) {
  const double bottom = Layout::y(gantt.rows.size());
  const std::int64_t distance = mark_distance(gantt, static_cast<std::int64_t>(layout.width / 70));
  std::string svg;
  for (std::int64_t time = 0; time <= gantt.end; time += distance) {
    const double x = layout.x(time);
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#ccc\"/>\n", x,
                       title_height - 4, bottom + 3);
    svg += text_at(x, bottom + 16, "text-anchor=\"middle\" fill=\"#555\"", time_in_units(gantt, time));
  }
  return svg;
}

struct Legend {
  std::string svg;
  double height = 0;
};

/// A line of kinds with their shades, or several where they are too wide, and what the shades are.
Legend legend_svg(const Gantt& gantt, const Layout& layout, double top) {
  constexpr double line = 22;
  constexpr double swatch = 14;
  Legend legend;
  double x = layout.left;
  double y = top;
  const std::size_t chunks = std::max<std::size_t>(gantt.chunks.size(), 1);
  const std::size_t swatches = std::min<std::size_t>(chunks, 8);
  for (const SpanKind kind : kinds(gantt)) {
    const std::string text = fmt::format("{} {}", letter(kind), name(kind));
    const double width = swatch * static_cast<double>(swatches) + 5.6 * static_cast<double>(text.size()) + 30;
    if (x > layout.left && x + width > layout.left + layout.width) {
      x = layout.left;
      y += line;
    }
    for (std::size_t i = 0; i < swatches; ++i) {
      const std::size_t chunk = i * (chunks - 1) / std::max<std::size_t>(swatches - 1, 1);
      legend.svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"12\" fill=\"{}\"/>\n",
                                x + swatch * static_cast<double>(i), y, swatch,
                                hex(shade(kind, static_cast<std::int32_t>(chunk), chunks)));
    }
    legend.svg += text_at(x + swatch * static_cast<double>(swatches) + 6, y + 10, "fill=\"#333\"", text);
    x += width;
  }
  if (chunks > 1) {
    y += line;
    const std::string order = gantt.chunks.front() + (chunks > 2 ? " to " : "; ") + gantt.chunks.back();
    legend.svg += text_at(layout.left, y + 8, "fill=\"#555\"", "from dark to light: " + order);
  }
  legend.height = y + line - top;
  return legend;
}

}  // namespace

std::string gantt_svg(const Gantt& gantt) {
  const Layout layout = layout_of(gantt);
  const double bottom = Layout::y(gantt.rows.size());
  const double width = layout.left + layout.width + edge + 10;
  const Legend legend = legend_svg(gantt, layout, bottom + axis_height + 6);
  const double height = bottom + axis_height + 6 + legend.height + 6;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"11\">\n<style>.b{{stroke:#fff;stroke-width:0.8}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  svg += text_at(edge, 26, "font-size=\"16\" font-weight=\"bold\" fill=\"#222\"", gantt.title);
  svg += text_at(edge, 44, "fill=\"#555\"", gantt.subtitle);
  for (std::size_t r = 0; r < gantt.rows.size(); ++r) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f3f3f3\"/>\n",
                       layout.left, Layout::y(r), layout.width, row_height);
  }
  svg += axis_svg(gantt, layout);
  for (std::size_t r = 0; r < gantt.rows.size(); ++r) {
    const GanttRow& row = gantt.rows[r];
    const double top = Layout::y(r);
    svg += text_at(layout.left - 8, top + row_height / 2 + 4, "text-anchor=\"end\" fill=\"#333\"", row.label);
    for (const GanttSpan& span : row.spans) svg += span_svg(gantt, row, span, layout, top);
  }
  return svg + legend.svg + "</svg>\n";
}

}  // namespace stepsim
