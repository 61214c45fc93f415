// svg.h: a drawing of a cluster, as the text of an SVG file.
#pragma once

#include <string>

#include "topology/cluster.h"

namespace stepsim {

/// The text as it may stand in an SVG file.
std::string svg_text(const std::string& text);

/// Vertices as boxes, links as lines whose colour and width tell the capacity, a legend in GB/s. Of a large cluster one
/// part, which the drawing says (picture.h). The subtitle is a line under the title.
std::string to_svg(const Cluster& cluster, const std::string& title, const std::string& subtitle);

}  // namespace stepsim
