// table.h: text tables for the terminal: columns as wide as their widest cell, two blanks between them.
//
// A cell's width is counted in characters, not bytes (titles and bars are UTF-8), and its colour is kept
// apart from its text, so that colouring never moves a column.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

enum class Paint { plain, bold, dim, red, green, yellow, cyan };

/// `text` between ANSI codes, or unchanged when `colour` is false.
std::string paint(bool colour, Paint how, const std::string& text);

/// Characters of a UTF-8 text.
std::size_t width(const std::string& text);

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

struct Cell {
  std::string text;
  Paint how = Paint::plain;

  Cell(std::string cell_text = "", Paint cell_paint = Paint::plain) : text(std::move(cell_text)), how(cell_paint) {}
  Cell(const char* cell_text) : text(cell_text) {}
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// One cell per column; missing ones at the end are empty, more than there are columns throw
  /// std::logic_error.
  void row(std::vector<Cell> cells);
  /// A line across, before the next row (a total).
  void rule();

  /// Every line indented by two and without blanks at its end. Titles are left out when all are empty. A last column
  /// that is aligned left is broken at blanks to end at 100 characters.
  [[nodiscard]] std::string text(bool colour) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // an empty one is a rule
};

/// A bar for `share` of 1 in eighths of a character, at most `cells` wide; a share above 0 shows at least a
/// sliver.
std::string bar(double share, int cells);

/// Breaks a text at blanks into lines of at most `columns` characters; later lines are indented by `indent`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

/// `blanks` in front of every line but the first.
std::string indented(std::string text, std::size_t blanks);

}  // namespace stepsim
