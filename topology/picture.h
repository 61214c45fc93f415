// picture.h: a cluster as boxes and lines with their places, before it is written as SVG (svg.cpp).
//
// Tori lie on a grid (picture_grid.cpp), everything else in rows by kind of vertex (picture_rows.cpp). A picture of more
// than most_drawn vertices shows one part of the cluster and says which.
#pragma once

#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepsim {

inline constexpr std::size_t most_drawn = 512;

struct Point {
  double x = 0;
  double y = 0;
};

/// A vertex. Its place is its centre.
struct Box {
  VertexId vertex = 0;
  Point at;
  double width = 0;
  double height = 0;
  std::string label;  // short; the whole name is shown on pointing at it
};

enum class LineEnd { plain, wrap, goes_on };

/// A link, or several that are drawn as one.
struct Line {
  Point from;
  Point to;
  Point bend;  // control point of a curve, when curved
  bool curved = false;
  LineEnd end = LineEnd::plain;  // of a stub
  std::int64_t capacity = 0;     // of all that it stands for, one way
  std::string kind;              // cable_kind of the links
  bool down = false;
};

/// What belongs together, such as a node.
struct Frame {
  Point corner;  // upper left
  double width = 0;
  double height = 0;
  std::string label;
};

struct Label {
  Point at;  // left end of the base line
  std::string text;
};

struct Picture {
  double width = 0;
  double height = 0;
  std::vector<Frame> frames;
  std::vector<Line> lines;
  std::vector<Box> boxes;
  std::vector<Label> labels;
  std::vector<std::string> remarks;  // what is left out, what signs mean
};

/// Width of a text in a box, in pixels.
double text_width(const std::string& text);

Picture grid_picture(const Cluster& cluster);
Picture rows_picture(const Cluster& cluster);

}  // namespace stepsim
