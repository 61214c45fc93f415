#include "tools/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace stepsim {

namespace {

const char* code(Paint how) {
  switch (how) {
    case Paint::bold:
      return "\x1b[1m";
    case Paint::dim:
      return "\x1b[2m";
    case Paint::red:
      return "\x1b[31m";
    case Paint::green:
      return "\x1b[32m";
    case Paint::yellow:
      return "\x1b[33m";
    case Paint::cyan:
      return "\x1b[36m";
    case Paint::plain:
      break;
  }
  return "";
}

std::string padded(const Cell& cell, Align align, std::size_t columns, bool colour) {
  const std::string blanks(columns - std::min(columns, width(cell.text)), ' ');
  const std::string text = paint(colour, cell.how, cell.text);
  return align == Align::left ? text + blanks : blanks + text;
}

constexpr std::size_t table_width = 100;
constexpr std::size_t least_room = 24;  // of the last column, even if the table then gets wider

void strip_end(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

/// One row, on several lines when its last cell has to be broken.
std::string line_of(const std::vector<Cell>& cells, const std::vector<Column>& columns,
                    const std::vector<std::size_t>& widths, bool colour) {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    line += "  " + padded(cells[i], columns[i].align, widths[i], colour);
    used += widths[i] + 2;
  }
  const Cell& last = cells.back();
  if (columns.back().align == Align::right) {
    line += "  " + padded(last, Align::right, widths.back(), colour);
  } else {
    const std::size_t room = std::max(least_room, table_width - std::min(table_width, used + 2));
    line += "  " + paint(colour, last.how, indented(wrapped(last.text, room, 0), used + 2));
  }
  strip_end(line);
  return line + "\n";
}

std::string rule_of(std::vector<std::size_t> widths, bool colour) {
  std::size_t used = 0;
  for (const std::size_t one : widths) used += one + 2;
  if (used > table_width) widths.back() -= std::min(widths.back(), used - table_width);
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (std::size_t k = 0; k < widths[i] + (i > 0 ? 2 : 0); ++k) line += "─";
  }
  return "  " + paint(colour, Paint::dim, line) + "\n";
}

}  // namespace

std::string paint(bool colour, Paint how, const std::string& text) {
  if (!colour || how == Paint::plain || text.empty()) return text;
  return code(how) + text + "\x1b[0m";
}

std::size_t width(const std::string& text) {
  // Bytes that continue a character are 10xxxxxx.
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string indented(std::string text, std::size_t blanks) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, blanks, ' ');
  }
  return text;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::row(std::vector<Cell> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("table row with more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::rule() {
  rows_.emplace_back();
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i].text));
  }
  return widths;
}

std::string Table::text(bool colour) const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Paint::dim);
  const bool titled = std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  std::string text = titled ? line_of(titles, columns_, widths, colour) : "";
  for (const auto& row : rows_) {
    text += row.empty() ? rule_of(widths, colour) : line_of(row, columns_, widths, colour);
  }
  return text;
}

std::string bar(double share, int cells) {
  static constexpr std::array<const char*, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(share > 0)) return "";
  const long eighths = std::max(1L, std::lround(std::min(share, 1.0) * cells * 8));
  std::string text;
  for (long i = 0; i < eighths / 8; ++i) text += "█";
  return text + parts[static_cast<std::size_t>(eighths % 8)];
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  std::istringstream words(text);
  std::string all;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const bool breaks = used > 0 && used + 1 + width(word) > columns;
    if (breaks) {
      all += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      all += " ";
      ++used;
    }
    all += word;
    used += width(word);
  }
  return all;
}

}  // namespace stepsim
