// svg.cpp: a picture as SVG (W3C, "Scalable Vector Graphics 1.1"), with a legend of the capacities.
//
// A colour and a width for each capacity, the widest first; of more than most_colours capacities neighbours on a
// logarithmic scale share one.
#include "topology/svg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "topology/picture.h"

namespace stepsim {

namespace {

// Paul Tol, "Colour schemes" (2021), bright: told apart by people with any colour vision.
constexpr std::array<const char*, 6> colours{"#4477aa", "#ee6677", "#228833", "#ccaa22", "#66aacc", "#aa3377"};
constexpr std::size_t most_colours = colours.size();
constexpr double widest = 5;
constexpr double narrowest = 1.2;
constexpr double title_height = 56;
constexpr double edge = 24;
constexpr double legend_line = 20;
constexpr double least_width = 560;

const char* fill_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::chip:
      return "#dcebf7";
    case VertexKind::nic:
      return "#fdf0d5";
    case VertexKind::network_switch:
      return "#e3f1de";
    case VertexKind::nvlink_switch:
      return "#eadff0";
    case VertexKind::pcie_switch:
      return "#eeeeee";
    case VertexKind::host:
    case VertexKind::root_complex:
    case VertexKind::host_memory:
    case VertexKind::socket:
      return "#f7e1dc";
  }
  return "#ffffff";
}

struct Style {
  std::string colour;
  double width = narrowest;
};

/// Capacities that share a style, and what has them.
struct Entry {
  std::int64_t most = 0;
  std::int64_t least = 0;
  std::set<std::string> kinds;
  Style style;
};

class Legend {
 public:
  explicit Legend(const Picture& picture) {
    std::map<std::int64_t, std::set<std::string>, std::greater<>> by_capacity;
    for (const Line& line : picture.lines) {
      if (line.down) {
        down_ = true;
      } else {
        by_capacity[line.capacity].insert(line.kind);
      }
    }
    if (by_capacity.empty()) return;
    most_ = static_cast<double>(by_capacity.begin()->first);
    least_ = static_cast<double>(by_capacity.rbegin()->first);
    const bool shared = by_capacity.size() > most_colours;
    int last = -1;
    for (const auto& [capacity, kinds] : by_capacity) {
      const int step = shared ? static_cast<int>(depth(capacity) * (most_colours - 0.01)) : last + 1;
      if (step != last) entries_.push_back({capacity, capacity, {}, {}});
      last = step;
      entries_.back().least = capacity;
      entries_.back().kinds.insert(kinds.begin(), kinds.end());
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].style = {colours.at(i), widest - (widest - narrowest) * depth(entries_[i].most)};
    }
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool has_down() const { return down_; }
  [[nodiscard]] Style style_of(std::int64_t capacity) const {
    for (const Entry& entry : entries_) {
      if (capacity >= entry.least) return entry.style;
    }
    return {};
  }

 private:
  /// 0 for the greatest capacity, 1 for the least.
  [[nodiscard]] double depth(std::int64_t capacity) const {
    if (most_ <= least_) return 0.5;
    return std::log(most_ / static_cast<double>(capacity)) / std::log(most_ / least_);
  }

  std::vector<Entry> entries_;
  double most_ = 1;
  double least_ = 1;
  bool down_ = false;
};

std::string giga(std::int64_t capacity) {
  return fmt::format("{:.4g}", static_cast<double>(capacity) / 1e9);
}

std::string entry_text(const Entry& entry) {
  const std::string range =
      entry.most == entry.least ? giga(entry.most) : giga(entry.least) + " to " + giga(entry.most);
  return fmt::format("{} GB/s  {}", range, fmt::join(entry.kinds, ", "));
}

constexpr const char* down_style = R"(stroke="#cc0000" stroke-width="1.5" stroke-dasharray="4 3")";

std::string style_text(const Style& style) {
  return fmt::format(R"(stroke="{}" stroke-width="{:.1f}")", style.colour, style.width);
}

std::string line_text(const Line& line, const Legend& legend) {
  const Style style = legend.style_of(line.capacity);
  const std::string stroke = line.down ? down_style : style_text(style);
  if (line.curved) {
    return fmt::format("<path d=\"M {:.1f} {:.1f} Q {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" {}/>\n", line.from.x,
                       line.from.y, line.bend.x, line.bend.y, line.to.x, line.to.y, stroke);
  }
  std::string text = fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", line.from.x,
                                 line.from.y, line.to.x, line.to.y, stroke);
  if (line.end == LineEnd::wrap) {
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#ffffff\" stroke=\"{}\"/>\n", line.to.x,
                        line.to.y, line.down ? "#cc0000" : style.colour);
  } else if (line.end == LineEnd::goes_on) {
    const double x = (line.to.x - line.from.x) / 4;
    const double y = (line.to.y - line.from.y) / 4;
    for (const int i : {1, 2}) {
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1\" fill=\"#555555\"/>\n", line.to.x + i * x,
                          line.to.y + i * y);
    }
  }
  return text;
}

std::string text_at(Point at, const std::string& text, const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", at.x, at.y, more, svg_text(text));
}

std::string box_text(const Cluster& cluster, const Box& box, const std::set<ChipId>& slow) {
  const Vertex vertex = cluster.vertex(box.vertex);
  const bool is_slow = vertex.kind == VertexKind::chip && slow.contains(vertex.chip);
  return fmt::format(
             "<g class=\"vertex\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
             "rx=\"4\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>",
             svg_text(vertex.name), box.at.x - box.width / 2, box.at.y - box.height / 2, box.width, box.height,
             fill_of(vertex.kind), is_slow ? "#cc0000" : "#666666", is_slow ? 2.5 : 1) +
         fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text></g>\n", box.at.x, box.at.y + 4,
                     svg_text(box.label));
}

std::string frame_text(const Frame& frame) {
  return fmt::format(
             "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\" fill=\"#fafafa\" "
             "stroke=\"#bbbbbb\"/>\n",
             frame.corner.x, frame.corner.y, frame.width, frame.height) +
         text_at({frame.corner.x + frame.width / 2, frame.corner.y + frame.height - 7}, frame.label,
                 " text-anchor=\"middle\" fill=\"#555555\"");
}

double longest(const std::vector<std::string>& texts) {
  double most = 0;
  for (const std::string& text : texts) most = std::max(most, text_width(text));
  return most;
}

std::string legend_text(const Legend& legend, const std::vector<std::string>& remarks, double x, double y) {
  std::string text;
  for (const Entry& entry : legend.entries()) {
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x, y - 4, x + 40, y - 4,
                        style_text(entry.style));
    text += text_at({x + 52, y}, entry_text(entry));
    y += legend_line;
  }
  if (legend.has_down()) {
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x, y - 4, x + 40, y - 4,
                        down_style);
    text += text_at({x + 52, y}, "down");
    y += legend_line;
  }
  for (const std::string& remark : remarks) {
    text += text_at({x, y}, remark, " fill=\"#555555\"");
    y += legend_line;
  }
  return text;
}

}  // namespace

std::string svg_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

double text_width(const std::string& text) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return 6.4 * static_cast<double>(characters);
}

std::string to_svg(const Cluster& cluster, const std::string& title, const std::string& subtitle) {
  Picture picture = cluster.spec().kind == "torus" ? grid_picture(cluster) : rows_picture(cluster);
  const Legend legend(picture);
  std::set<ChipId> slow;
  for (const ChipFault& fault : cluster.spec().chip_faults) slow.insert(cluster.chip_at(fault.at));
  if (!slow.empty()) picture.remarks.emplace_back("Red box: a chip that computes more slowly.");
  const double width = std::max({least_width, picture.width, 2 * edge + 1.6 * text_width(title),
                                 2 * edge + 1.1 * text_width(subtitle), 2 * edge + longest(picture.remarks)});
  const std::size_t legend_lines = legend.entries().size() + (legend.has_down() ? 1 : 0) + picture.remarks.size();
  const double height = title_height + picture.height + legend_line * static_cast<double>(legend_lines) + 16;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height);
  text += text_at({edge, 28}, title, " font-size=\"16\" font-weight=\"bold\"");
  text += text_at({edge, 48}, subtitle, " font-size=\"12\"");
  text += fmt::format("<g transform=\"translate(0 {})\">\n", title_height);
  for (const Frame& frame : picture.frames) text += frame_text(frame);
  for (const Line& line : picture.lines) text += line_text(line, legend);
  for (const Box& box : picture.boxes) text += box_text(cluster, box, slow);
  for (const Label& label : picture.labels) text += text_at(label.at, label.text, " font-weight=\"bold\"");
  text += legend_text(legend, picture.remarks, edge, picture.height + 12);
  return text + "</g>\n</svg>\n";
}

}  // namespace stepsim
