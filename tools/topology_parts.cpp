#include "tools/topology_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>

#include "sim/input_error.h"
#include "tools/format.h"
#include "tools/table.h"

namespace stepsim {

namespace {

using Json = nlohmann::ordered_json;

/// "5" or "1,3,2"; nothing when it is no list of numbers.
std::optional<std::vector<int>> numbers(const std::string& text) {
  std::vector<int> all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    all.push_back(number);
  }
  if (all.empty() || text.ends_with(',')) return std::nullopt;
  return all;
}

std::string valid_chips(const Cluster& cluster) {
  std::vector<std::string> axes;
  for (const HardwareAxis& axis : cluster.axes()) axes.push_back(fmt::format("{} 0 to {}", axis.name, axis.extent - 1));
  std::string text = fmt::format("expected a chip from 0 to {}", cluster.chips() - 1);
  if (axes.size() > 1) text += fmt::format(", or coordinates {}", fmt::join(axes, ","));
  return text + fmt::format(", or a name such as '{}'", cluster.vertex(cluster.chips() - 1).name);
}

std::string rate_of(const GraphLink& link) {
  return link.down ? "down" : rate_text(static_cast<double>(link.capacity));
}

std::int64_t least_capacity(const Cluster& cluster, const WeightedRoute& route) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const LinkId id : route.links) least = std::min(least, cluster.link(id).capacity);
  return least;
}

/// Where all are alike none is narrower than the rest.
bool is_narrowest(const Cluster& cluster, const WeightedRoute& route, LinkId link) {
  const std::int64_t least = least_capacity(cluster, route);
  const bool others =
      std::any_of(route.links.begin(), route.links.end(), [&](LinkId id) { return cluster.link(id).capacity > least; });
  return cluster.link(link).capacity == least && (others || route.links.size() == 1);
}

Picoseconds latency(const Cluster& cluster, const WeightedRoute& route) {
  Picoseconds sum;
  for (const LinkId id : route.links) sum += cluster.link(id).latency;
  return sum;
}

int all_weights(const std::vector<WeightedRoute>& routes) {
  return std::accumulate(routes.begin(), routes.end(), 0, [](int sum, const auto& one) { return sum + one.weight; });
}

Json link_json(const Cluster& cluster, LinkId id) {
  const GraphLink link = cluster.link(id);
  return {{"id", id},
          {"kind", link.kind},
          {"from", cluster.vertex(link.from).name},
          {"to", cluster.vertex(link.to).name},
          {"capacity_bytes_per_s", link.down ? 0 : link.capacity},
          {"latency_ps", link.latency.count()},
          {"down", link.down}};
}

std::vector<Column> link_columns() {
  return {{"link"}, {"kind", Align::left}, {"from", Align::left}, {"to", Align::left}, {"capacity"}, {"latency"}};
}

std::vector<Cell> link_cells(const Cluster& cluster, LinkId id) {
  const GraphLink link = cluster.link(id);
  return {std::to_string(id),
          link.kind,
          cluster.vertex(link.from).name,
          cluster.vertex(link.to).name,
          Cell(rate_of(link), link.down ? Paint::red : Paint::plain),
          time_text(link.latency)};
}

std::string route_text(const Cluster& cluster, const WeightedRoute& route, const std::string& title, bool colour) {
  std::vector<Column> columns = link_columns();
  columns.push_back({"", Align::left});
  Table table(columns);
  const std::int64_t least = least_capacity(cluster, route);
  for (const LinkId id : route.links) {
    std::vector<Cell> cells = link_cells(cluster, id);
    if (is_narrowest(cluster, route, id)) cells.emplace_back("narrowest", Paint::yellow);
    table.row(cells);
  }
  const std::string sum = fmt::format("{}{} {}, {} alone, {} latency", title, route.links.size(),
                                      route.links.size() == 1 ? "link" : "links", rate_text(static_cast<double>(least)),
                                      time_text(latency(cluster, route)));
  return "  " + paint(colour, Paint::dim, sum) + "\n" + table.text(colour);
}

}  // namespace

ChipId chip_called(const Cluster& cluster, const std::string& key, const std::string& text) {
  const std::optional<std::vector<int>> at = numbers(text);
  if (at && at->size() == 1 && at->front() >= 0 && static_cast<ChipId>(at->front()) < cluster.chips()) {
    return static_cast<ChipId>(at->front());
  }
  if (at && at->size() > 1 && at->size() == cluster.axes().size()) {
    bool inside = true;
    for (std::size_t axis = 0; axis < at->size(); ++axis) {
      inside = inside && (*at)[axis] >= 0 && (*at)[axis] < cluster.axes()[axis].extent;
    }
    if (inside) return cluster.chip_at(*at);
  }
  for (ChipId chip = 0; !at && chip < cluster.chips(); ++chip) {
    if (cluster.vertex(chip).name == text) return chip;
  }
  throw InputError(key, valid_chips(cluster) + ", found '" + text + "'");
}

std::string routes_text(const Cluster& cluster, ChipId from, ChipId to, bool colour) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  const auto name = [&](ChipId chip) { return fmt::format("{} ({})", cluster.vertex(chip).name, chip); };
  std::string text = "\n" + paint(colour, Paint::bold, "From " + name(from) + " to " + name(to)) + "\n";
  if (from == to) return text + "  the same chip: no link is crossed\n";
  const int whole = all_weights(routes);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    std::string title;
    if (routes.size() > 1) {
      title = fmt::format("route {} of {}, {} of the bytes: ", i + 1, routes.size(),
                          percent_text(share(routes[i].weight, whole)));
    }
    text += (i > 0 ? "\n" : "") + route_text(cluster, routes[i], title, colour);
  }
  return text;
}

std::string routes_json(const Cluster& cluster, ChipId from, ChipId to) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  Json json{{"from", cluster.vertex(from).name}, {"to", cluster.vertex(to).name}, {"routes", Json::array()}};
  for (const WeightedRoute& route : routes) {
    if (from == to) break;
    const std::int64_t least = least_capacity(cluster, route);
    Json links = Json::array();
    for (const LinkId id : route.links) {
      links.push_back(link_json(cluster, id));
      links.back()["narrowest"] = is_narrowest(cluster, route, id);
    }
    json["routes"].push_back({{"weight", route.weight},
                              {"weights_of_all", all_weights(routes)},
                              {"capacity_bytes_per_s", least},
                              {"latency_ps", latency(cluster, route).count()},
                              {"links", links}});
  }
  return json.dump();
}

std::string links_text(const Cluster& cluster, std::size_t most, bool colour) {
  Table table(link_columns());
  const std::size_t shown = std::min(most, cluster.links());
  for (LinkId id = 0; id < shown; ++id) table.row(link_cells(cluster, id));
  std::string text = "\n" + paint(colour, Paint::bold, "Links one by one") + "\n" + table.text(colour);
  const auto left_out = static_cast<std::int64_t>(cluster.links() - shown);
  if (left_out > 0)
    text += fmt::format("  {} more of {} (--most)\n", grouped(left_out),
                        grouped(left_out + static_cast<std::int64_t>(shown)));
  return text;
}

std::string links_json(const Cluster& cluster, std::size_t most) {
  Json list = Json::array();
  for (LinkId id = 0; id < std::min(most, cluster.links()); ++id) list.push_back(link_json(cluster, id));
  return list.dump();
}

}  // namespace stepsim
