// picture_part.cpp: the part of a cluster that is drawn, and in which row each vertex belongs.
//
// Vertices count by how many links they are from the nearest chip. The first chips are taken, then from each vertex
// those that are further from chips: so a node takes its NICs, leaves and spines along, but not the other nodes.
#include "topology/picture_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "topology/picture.h"
#include "topology/summary.h"

namespace stepsim {

namespace {

class PartMaker {
 public:
  explicit PartMaker(const Cluster& cluster) : cluster_(cluster), beside_(cluster.vertices()) {
    for (LinkId id = 0; id < cluster.links(); ++id) {
      const GraphLink link = cluster.link(id);
      if (link.from == link.to) continue;
      beside_[link.from].push_back(link.to);
      beside_[link.to].push_back(link.from);
    }
    for (auto& list : beside_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    measure();
  }

  Part make() {
    std::vector<VertexId> kept;
    std::uint32_t chips = 0;
    for (const std::uint32_t count : counts()) {
      chips = count;
      kept = with_all_above(count);
      if (kept.size() <= most_drawn) break;
    }
    add_vertices(kept);
    add_bundles();
    if (chips < cluster_.chips()) part_.remarks.push_back(what_is_drawn(chips));
    return std::move(part_);
  }

 private:
  /// Links from the nearest chip, and which chips those are: the first and the last.
  void measure() {
    far_.assign(cluster_.vertices(), INT32_MAX);
    first_.assign(cluster_.vertices(), UINT32_MAX);
    last_.assign(cluster_.vertices(), 0);
    std::vector<VertexId> queue;
    for (ChipId chip = 0; chip < cluster_.chips(); ++chip) {
      far_[chip] = 0;
      first_[chip] = last_[chip] = chip;
      queue.push_back(chip);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const VertexId at = queue[i];
      for (const VertexId next : beside_[at]) {
        if (far_[next] == INT32_MAX) {
          far_[next] = far_[at] + 1;
          queue.push_back(next);
        }
        if (far_[next] != far_[at] + 1) continue;
        first_[next] = std::min(first_[next], first_[at]);
        last_[next] = std::max(last_[next], last_[at]);
      }
    }
  }

  /// Numbers of chips to try: all, one group of each axis from the outermost, then halves.
  [[nodiscard]] std::vector<std::uint32_t> counts() const {
    std::vector<std::uint32_t> all{cluster_.chips()};
    for (std::size_t axis = 0; axis + 1 < cluster_.axes().size(); ++axis) {
      all.push_back(all.back() / static_cast<std::uint32_t>(cluster_.axes()[axis].extent));
    }
    while (all.back() > 1) all.push_back((all.back() + 1) / 2);
    return all;
  }

  [[nodiscard]] std::vector<VertexId> with_all_above(std::uint32_t chips) const {
    std::vector<VertexId> kept;
    std::vector<bool> known(cluster_.vertices(), false);
    const auto keep = [&](VertexId id) {
      if (!known[id]) kept.push_back(id);
      known[id] = true;
    };
    for (ChipId chip = 0; chip < chips; ++chip) keep(chip);
    for (std::size_t i = 0; i < kept.size() && kept.size() <= most_drawn; ++i) {
      for (const VertexId next : beside_[kept[i]]) {
        if (far_[next] > far_[kept[i]]) keep(next);
      }
    }
    if (chips == cluster_.chips() && kept.size() <= most_drawn) {
      for (VertexId id = 0; id < cluster_.vertices(); ++id) keep(id);  // also what is joined to no chip
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }

  [[nodiscard]] static PartRow row_of(VertexKind kind, bool has_network) {
    switch (kind) {
      case VertexKind::network_switch:
        return PartRow::network;
      case VertexKind::nic:
        return has_network ? PartRow::nic : PartRow::chip;
      case VertexKind::host_memory:
        return PartRow::memory;
      case VertexKind::host:
      case VertexKind::socket:
      case VertexKind::root_complex:
        return PartRow::socket;
      case VertexKind::pcie_switch:
        return PartRow::pcie_switch;
      case VertexKind::nvlink_switch:
        return PartRow::nvlink_switch;
      case VertexKind::chip:
        break;
    }
    return PartRow::chip;
  }

  void add_vertices(const std::vector<VertexId>& kept) {
    const bool has_network = std::any_of(
        kept.begin(), kept.end(), [&](VertexId id) { return cluster_.vertex(id).kind == VertexKind::network_switch; });
    for (const VertexId id : kept) index_[id] = index_.size();
    for (const VertexId id : kept) {
      const Vertex vertex = cluster_.vertex(id);
      PartVertex one{id, vertex.kind, vertex.name, row_of(vertex.kind, has_network), 0, first_[id], 0, {}};
      if (one.row == PartRow::network || one.row == PartRow::pcie_switch) one.level = -far_[id];
      one.order = vertex.kind == VertexKind::chip ? id : last_[id] + 0.5;
      for (const VertexId next : beside_[id]) {
        if (const auto found = index_.find(next); found != index_.end()) one.neighbours.push_back(found->second);
      }
      part_.vertices.push_back(one);
    }
  }

  void add_bundles() {
    std::map<std::tuple<std::size_t, std::size_t, std::string, bool>, std::size_t> known;
    for (LinkId id = 0; id < cluster_.links(); ++id) {
      const GraphLink link = cluster_.link(id);
      const auto from = index_.find(link.from);
      const auto to = index_.find(link.to);
      if (from == index_.end() || to == index_.end()) continue;
      const auto [low, high] = std::minmax(from->second, to->second);
      const auto [entry, is_new] =
          known.try_emplace({low, high, cable_kind(link.kind), link.down}, part_.bundles.size());
      if (is_new) part_.bundles.push_back({low, high, cable_kind(link.kind), link.down, 0, 0});
      PartBundle& bundle = part_.bundles[entry->second];
      (from->second == low ? bundle.there : bundle.back) += link.capacity;
    }
  }

  [[nodiscard]] std::string what_is_drawn(std::uint32_t chips) const {
    std::uint32_t group = cluster_.chips();
    for (const HardwareAxis& axis : cluster_.axes()) {
      group /= static_cast<std::uint32_t>(axis.extent);
      if (group != chips || group == 1) continue;
      return fmt::format("Drawn: the first {} of {} ({} of {} chips), with what is above it.", axis.name,
                         cluster_.chips() / group, chips, cluster_.chips());
    }
    return fmt::format("Drawn: the first {} of {} chips, with what is above them.", chips, cluster_.chips());
  }

  const Cluster& cluster_;
  std::vector<std::vector<VertexId>> beside_;
  std::vector<int> far_;  // links from the nearest chip
  std::vector<ChipId> first_;
  std::vector<ChipId> last_;
  std::map<VertexId, std::size_t> index_;  // in part_
  Part part_;
};

}  // namespace

Part part_to_draw(const Cluster& cluster) {
  return PartMaker(cluster).make();
}

}  // namespace stepsim
