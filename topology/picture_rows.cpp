// picture_rows.cpp: a cluster that is no torus, in rows by kind of vertex. From the top: tiers of network switches, NICs,
// host memory, sockets, PCIe switches, chips, NVLink switches.
//
// Chips stand in order, by node and unit; whatever is joined to them stands over (or under) the middle of what it
// serves. Of all such places those are taken whose squared distances from the middles add up to least while no two
// boxes overlap: an isotonic regression, found by pooling neighbours (Barlow et al. 1972, "Statistical inference under
// order restrictions"). Cables of one kind between the same two vertices are one line with the sum of their capacities.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topology/picture.h"
#include "topology/picture_part.h"

namespace stepsim {

namespace {

constexpr double margin = 24;
constexpr double names_width = 100;
constexpr double box_height = 24;
constexpr double box_gap = 8;
constexpr double cable_gap = 26;  // between chips that are joined
constexpr double group_gap = 40;
constexpr double frame_edge = 12;
constexpr double frame_foot = 18;             // for its label
constexpr std::size_t most_whole_names = 16;  // in a row of whole names

/// Places as near as can be to those wanted, at least `apart[i]` from i to i + 1.
std::vector<double> spread(const std::vector<double>& wanted, const std::vector<double>& apart) {
  struct Pool {
    double sum = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> shift(wanted.size(), 0);
  for (std::size_t i = 1; i < wanted.size(); ++i) shift[i] = shift[i - 1] + apart[i - 1];
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    pools.push_back({wanted[i] - shift[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::vector<double> places;
  for (const Pool& pool : pools) {
    for (std::size_t k = 0; k < pool.count; ++k) places.push_back(pool.mean() + shift[places.size()]);
  }
  return places;
}

/// The name without what all names of the row begin with, in whole words.
std::size_t common_words(const std::vector<std::string>& names) {
  std::size_t common = 0;
  for (std::size_t end = names[0].find(' '); end != std::string::npos; end = names[0].find(' ', end + 1)) {
    const std::string start = names[0].substr(0, end + 1);
    const bool all = std::all_of(names.begin(), names.end(), [&](const auto& name) { return name.starts_with(start); });
    if (all) common = end + 1;
  }
  return common;
}

class Rows {
 public:
  explicit Rows(const Cluster& cluster)
      : cluster_(cluster),
        nodes_(cluster.spec().kind == "nodes"),
        part_(part_to_draw(cluster)),
        box_(part_.vertices.size()) {}

  Picture draw() {
    make_rows();
    for (std::vector<std::size_t>& row : rows_) name_row(row);
    place_across();
    place_down();
    for (const PartBundle& bundle : part_.bundles) add_lines(bundle);
    if (nodes_) add_frames();
    add_row_names();
    picture_.remarks.insert(picture_.remarks.begin(), part_.remarks.begin(), part_.remarks.end());
    picture_.boxes = std::move(box_);
    return std::move(picture_);
  }

 private:
  [[nodiscard]] const PartVertex& vertex(std::size_t index) const { return part_.vertices[index]; }
  [[nodiscard]] std::uint32_t host(std::size_t index) const { return vertex(index).chip / hosts_every(); }
  [[nodiscard]] std::uint32_t hosts_every() const {
    return nodes_ ? static_cast<std::uint32_t>(cluster_.spec().nodes.gpus) : UINT32_MAX;
  }

  void make_rows() {
    std::vector<std::size_t> all(part_.vertices.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto key = [&](std::size_t v) { return std::pair(vertex(v).row, vertex(v).level); };
    std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (const std::size_t v : all) {
      if (rows_.empty() || key(rows_.back().back()) != key(v)) rows_.emplace_back();
      rows_.back().push_back(v);
    }
    row_of_.resize(all.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const std::size_t v : rows_[r]) row_of_[v] = r;
      if (vertex(rows_[r][0]).row == PartRow::chip) chip_row_ = r;
    }
  }

  /// Inside the frame of a node the number says enough.
  void name_row(const std::vector<std::size_t>& row) {
    std::vector<std::string> names;
    for (const std::size_t v : row) names.push_back(vertex(v).name);
    const std::size_t cut = row.size() > most_whole_names ? common_words(names) : 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t point = names[i].rfind('.');
      const bool in_frame = nodes_ && vertex(row[i]).row != PartRow::network;
      std::string label = names[i].substr(cut);
      if (in_frame) label = point == std::string::npos ? "switch" : names[i].substr(point + 1);
      box_[row[i]] = {vertex(row[i]).id, {}, std::max(24.0, text_width(label) + 10), box_height, label};
    }
  }

  /// What a box needs beside its right neighbour, centre to centre.
  [[nodiscard]] double apart(std::size_t left, std::size_t right) const {
    const bool own_frame = nodes_ && vertex(left).row != PartRow::network && host(left) != host(right);
    return (box_[left].width + box_[right].width) / 2 + (own_frame ? group_gap
                                                         : joined_chips_ && vertex(left).row == PartRow::chip
                                                             ? cable_gap
                                                             : box_gap);
  }

  void place_row(std::vector<std::size_t>& row, std::vector<bool>& placed) {
    std::vector<double> wanted(part_.vertices.size(), middle_);
    for (const std::size_t v : row) {
      double sum = 0;
      std::size_t count = 0;
      for (const std::size_t other : vertex(v).neighbours) {
        if (!placed[other]) continue;
        sum += box_[other].at.x;
        ++count;
      }
      if (count > 0) wanted[v] = sum / static_cast<double>(count);
    }
    std::stable_sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b] - 0.5; });
    std::vector<double> places;
    std::vector<double> gaps;
    for (std::size_t i = 0; i < row.size(); ++i) {
      places.push_back(wanted[row[i]]);
      if (i > 0) gaps.push_back(apart(row[i - 1], row[i]));
    }
    places = spread(places, gaps);
    for (std::size_t i = 0; i < row.size(); ++i) box_[row[i]].at.x = places[i];
    for (const std::size_t v : row) placed[v] = true;
  }

  void place_across() {
    joined_chips_ = std::any_of(part_.bundles.begin(), part_.bundles.end(), [&](const PartBundle& one) {
      return one.low != one.high && row_of_[one.low] == chip_row_ && row_of_[one.high] == chip_row_;
    });
    std::vector<bool> placed(part_.vertices.size(), false);
    std::vector<std::size_t>& chips = rows_[chip_row_];
    std::stable_sort(chips.begin(), chips.end(),
                     [&](std::size_t a, std::size_t b) { return vertex(a).order < vertex(b).order; });
    for (std::size_t i = 1; i < chips.size(); ++i)
      box_[chips[i]].at.x = box_[chips[i - 1]].at.x + apart(chips[i - 1], chips[i]);
    for (const std::size_t v : chips) placed[v] = true;
    middle_ = box_[chips.back()].at.x / 2;
    for (std::size_t r = chip_row_ + 1; r < rows_.size(); ++r) place_row(rows_[r], placed);
    for (std::size_t r = chip_row_; r-- > 0;) place_row(rows_[r], placed);
    double left = 0;
    double right = 0;
    for (const Box& box : box_) {
      left = std::min(left, box.at.x - box.width / 2);
      right = std::max(right, box.at.x + box.width / 2);
    }
    const double shift = margin + names_width + frame_edge - left;
    for (Box& box : box_) box.at.x += shift;
    picture_.width = right + shift + frame_edge + margin;
  }

  /// Curves between boxes of a row run below chips and above the rest.
  [[nodiscard]] double bend(const PartBundle& bundle) const {
    return 20 + 0.35 * std::abs(box_[bundle.high].at.x - box_[bundle.low].at.x);
  }

  [[nodiscard]] bool is_curved(const PartBundle& bundle) const {
    if (row_of_[bundle.low] != row_of_[bundle.high]) return false;
    const std::vector<std::size_t>& row = rows_[row_of_[bundle.low]];
    const auto place = [&](std::size_t v) { return std::find(row.begin(), row.end(), v) - row.begin(); };
    return std::abs(place(bundle.low) - place(bundle.high)) > 1;
  }

  void place_down() {
    std::vector<double> curves(rows_.size(), 0);
    for (const PartBundle& bundle : part_.bundles) {
      if (is_curved(bundle)) curves[row_of_[bundle.low]] = std::max(curves[row_of_[bundle.low]], bend(bundle) / 2);
    }
    const double gap = std::clamp(0.07 * picture_.width, 50.0, 170.0);
    double y = margin + box_height / 2;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r < chip_row_) y += curves[r];
      for (const std::size_t v : rows_[r]) box_[v].at.y = y;
      const bool in_frame = nodes_ && vertex(rows_[r][0]).row != PartRow::network;
      const double next = box_height + (in_frame ? 44 : gap) + (r >= chip_row_ ? curves[r] : 0);
      picture_.height = y + box_height / 2 + (r >= chip_row_ ? curves[r] : 0) + margin;
      y += next;
    }
    if (nodes_) picture_.height += frame_edge + frame_foot;
  }

  void add_line(const PartBundle& bundle, std::size_t from, std::size_t to, std::int64_t capacity, double aside) {
    const Box& a = box_[from];
    const Box& b = box_[to];
    Line line{a.at, b.at, {}, false, LineEnd::plain, capacity, bundle.kind, bundle.down};
    if (from == to) {  // a bar over the box
      line.from = {a.at.x - a.width / 2, a.at.y - a.height / 2 - 5};
      line.to = {a.at.x + a.width / 2, line.from.y};
      has_bars_ = true;
    } else if (row_of_[from] != row_of_[to]) {
      const double way = a.at.y < b.at.y ? 1 : -1;
      line.from = {a.at.x + aside, a.at.y + way * a.height / 2};
      line.to = {b.at.x + aside, b.at.y - way * b.height / 2};
    } else if (is_curved(bundle)) {
      const double way = row_of_[from] >= chip_row_ ? 1 : -1;
      const double toward = b.at.x > a.at.x ? 1 : -1;
      line.from = {a.at.x + toward * a.width / 5, a.at.y + way * a.height / 2};
      line.to = {b.at.x - toward * b.width / 5, b.at.y + way * b.height / 2};
      line.bend = {(a.at.x + b.at.x) / 2, a.at.y + way * (a.height / 2 + bend(bundle) + 4 * aside)};
      line.curved = true;
    } else {
      const double toward = b.at.x > a.at.x ? 1 : -1;
      line.from = {a.at.x + toward * a.width / 2, a.at.y + aside};
      line.to = {b.at.x - toward * b.width / 2, b.at.y + aside};
    }
    picture_.lines.push_back(line);
  }

  void add_lines(const PartBundle& bundle) {
    if (bundle.there == bundle.back || bundle.back == 0 || bundle.low == bundle.high) {
      return add_line(bundle, bundle.low, bundle.high, std::max(bundle.there, bundle.back), 0);
    }
    if (bundle.there == 0) return add_line(bundle, bundle.high, bundle.low, bundle.back, 0);
    add_line(bundle, bundle.low, bundle.high, bundle.there, -3);
    add_line(bundle, bundle.high, bundle.low, bundle.back, 3);
  }

  void add_frames() {
    struct Extent {
      double left = 0, right = 0, top = 0, bottom = 0;
      bool any = false;
    };
    std::vector<Extent> extents;
    for (std::size_t v = 0; v < part_.vertices.size(); ++v) {
      if (vertex(v).row == PartRow::network) continue;
      if (host(v) >= extents.size()) extents.resize(host(v) + 1);
      Extent& extent = extents[host(v)];
      const Box& box = box_[v];
      const auto take = [&](double& bound, double value, bool least) {
        if (!extent.any || (least ? value < bound : value > bound)) bound = value;
      };
      take(extent.left, box.at.x - box.width / 2, true);
      take(extent.right, box.at.x + box.width / 2, false);
      take(extent.top, box.at.y - box.height / 2, true);
      take(extent.bottom, box.at.y + box.height / 2, false);
      extent.any = true;
    }
    for (std::size_t node = 0; node < extents.size(); ++node) {
      const Extent& one = extents[node];
      picture_.frames.push_back({{one.left - frame_edge, one.top - frame_edge},
                                 one.right - one.left + 2 * frame_edge,
                                 one.bottom - one.top + 2 * frame_edge + frame_foot,
                                 fmt::format("node {}", node)});
    }
  }

  void add_row_names() {
    for (const std::vector<std::size_t>& row : rows_) {
      picture_.labels.push_back({{margin, box_[row[0]].at.y + 4}, row_name(row)});
    }
    if (has_bars_) picture_.remarks.emplace_back("Bar over a box: what it can carry in all.");
  }

  [[nodiscard]] std::string row_name(const std::vector<std::size_t>& row) const {
    const PartVertex& first = vertex(row[0]);
    const bool nics =
        std::any_of(row.begin(), row.end(), [&](std::size_t v) { return vertex(v).kind == VertexKind::nic; });
    switch (first.row) {
      case PartRow::network:
        return nodes_ ? first.name.substr(0, first.name.find(' ')) : "switch";
      case PartRow::nic:
        return "NIC";
      case PartRow::memory:
        return "host memory";
      case PartRow::socket:
        return first.kind == VertexKind::host ? "host" : first.kind == VertexKind::socket ? "socket" : "root complex";
      case PartRow::pcie_switch:
        return "PCIe switch";
      case PartRow::chip:
        return nodes_ ? "GPU" : nics ? "chip, NIC" : "chip";
      case PartRow::nvlink_switch:
        return nodes_ ? "node switch" : "NVLink switch";
    }
    return "";
  }

  const Cluster& cluster_;
  bool nodes_;
  Part part_;
  std::vector<Box> box_;  // per vertex of the part
  std::vector<std::vector<std::size_t>> rows_;
  std::vector<std::size_t> row_of_;
  std::size_t chip_row_ = 0;
  double middle_ = 0;
  bool joined_chips_ = false;
  bool has_bars_ = false;
  Picture picture_;
};

}  // namespace

Picture rows_picture(const Cluster& cluster) {
  return Rows(cluster).draw();
}

}  // namespace stepsim
