#include "scenarios/import_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "scenarios/nccl_rates.h"
#include "scenarios/smi_matrix.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr std::array<int, 6> links_per_gpu{0, 4, 6, 12, 18, 18};  // by NVLink generation
constexpr std::array<int, 6> sm_of_generation{0, 60, 70, 80, 90, 100};

/// Devices in boxes that nest: who shares a box with whom.
class Boxes {
 public:
  explicit Boxes(std::size_t devices) : parent_(devices) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  [[nodiscard]] std::size_t of(std::size_t device) const {  // the lowest of the box
    while (parent_[device] != device) device = parent_[device];
    return device;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t low = std::min(of(a), of(b));
    const std::size_t high = std::max(of(a), of(b));
    parent_[high] = low;
  }
  [[nodiscard]] std::size_t members(std::size_t device) const {
    std::size_t count = 0;
    for (std::size_t other = 0; other < parent_.size(); ++other) count += of(other) == of(device) ? 1 : 0;
    return count;
  }

 private:
  std::vector<std::size_t> parent_;
};

class Import {
 public:
  Import(SmiMatrix matrix, const SmiRates& rates) : m_(std::move(matrix)), rates_(rates) {}
  GraphSpec run();

 private:
  [[nodiscard]] std::size_t devices() const { return m_.names.size(); }
  [[nodiscard]] Boxes boxes(SmiClass widest) const;
  [[nodiscard]] bool is_told(std::size_t a, std::size_t b) const;
  void place_hidden(Boxes& sockets);
  void check_rates(bool sockets, bool nvlinks) const;
  void note_misfits(const Boxes& box, SmiClass widest);
  std::string add_box(VertexKind kind, const std::string& what, std::map<std::size_t, std::string>& names,
                      std::size_t box);
  void hang(std::size_t device);
  void join_gpus();
  [[nodiscard]] std::vector<std::vector<std::size_t>> nvlink_islands() const;
  void join_island(const std::vector<std::size_t>& island, std::size_t number);
  void join(const std::string& from, const std::string& to, std::int64_t rate, const std::string& kind) {
    graph_.cables.push_back({from, to, rate, Picoseconds(0), kind});
  }
  [[nodiscard]] std::string name(std::size_t device) const {
    return m_.is_gpu(device) ? "gpu " + m_.names[device].substr(3) : "nic " + m_.names[device];
  }
  [[nodiscard]] std::int64_t slot() const { return pcie_rate(*pcie_lane_speed_of_generation(rates_.pcie_gen), 16); }

  SmiMatrix m_;
  SmiRates rates_;
  GraphSpec graph_;
  std::vector<Boxes> levels_;                              // pix, pxb, phb, node
  std::array<std::map<std::size_t, std::string>, 4> box_;  // vertices of boxes by their lowest device
};

Boxes Import::boxes(SmiClass widest) const {
  Boxes box(devices());
  for (std::size_t a = 0; a < devices(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (m_.classes[a][b] <= widest) box.join(a, b);
    }
  }
  return box;
}

/// Does a neighbour of `a` on PCIe tell where `b` is?
bool Import::is_told(std::size_t a, std::size_t b) const {
  for (std::size_t c = 0; c < devices(); ++c) {
    if (c != a && c != b && levels_[2].of(c) == levels_[2].of(a) && m_.classes[c][b] != SmiClass::nvlink) return true;
  }
  return levels_[2].of(a) == levels_[2].of(b);
}

/// NV# pairs of which no NIC tells where they are: sockets by CPU affinity.
void Import::place_hidden(Boxes& sockets) {
  std::vector<std::string> guessed;
  std::vector<std::string> hidden;
  for (std::size_t a = 0; a < devices(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (m_.classes[a][b] != SmiClass::nvlink) continue;
      const std::string pair = name(b) + " and " + name(a);
      if (!is_told(a, b) && !is_told(b, a)) hidden.push_back(pair);
      if (sockets.of(a) == sockets.of(b) || m_.affinity[a] != m_.affinity[b]) continue;
      if (m_.affinity[a].empty()) guessed.push_back(pair);
      sockets.join(a, b);
    }
  }
  const auto note = [&](const std::vector<std::string>& pairs, const std::string& what) {
    if (pairs.empty()) return;
    const std::string more = pairs.size() == 1 ? "" : fmt::format(" ({} pairs in all)", pairs.size());
    graph_.notes.push_back(fmt::format("{}{}: {}", pairs[0], more, what));
  };
  note(hidden, "NV# hides where they are on PCIe, no common switch or host bridge assumed");
  note(guessed, "NV# hides where they are and no CPU affinity is given, one socket assumed");
}

/// Classes that do not nest: a shares a box with b and b with c, but a and c are said to be farther apart.
void Import::note_misfits(const Boxes& box, SmiClass widest) {
  static const std::map<SmiClass, std::string> names{
      {SmiClass::pix, "PIX"}, {SmiClass::pxb, "PXB"}, {SmiClass::phb, "PHB"}, {SmiClass::node, "NODE"}};
  for (std::size_t a = 0; a < devices(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (box.of(a) != box.of(b) || m_.classes[a][b] <= widest || m_.classes[a][b] == SmiClass::nvlink) continue;
      graph_.notes.push_back(
          fmt::format("{}, {}: taken as {}, as both are that to a third", name(b), name(a), names.at(widest)));
    }
  }
}

void Import::check_rates(bool sockets, bool nvlinks) const {
  std::vector<Problem> problems;
  const auto fail = [&](const std::string& key, const std::string& message) {
    problems.push_back({{}, "cluster." + key, message});
  };
  if (!pcie_lane_speed_of_generation(rates_.pcie_gen)) {
    fail("pcie_gen", fmt::format("expected a PCIe generation from 1 to 6, found {}", rates_.pcie_gen));
  }
  if (nvlinks && !rates_.nvlink_gen)
    fail("nvlink_gen", "missing: the matrix has NV#, expected a generation from 1 to 5");
  if (rates_.nvlink_gen && (*rates_.nvlink_gen < 1 || *rates_.nvlink_gen > 5)) {
    fail("nvlink_gen", fmt::format("expected an NVLink generation from 1 to 5, found {}", *rates_.nvlink_gen));
  }
  if (sockets && !rates_.socket_rate)
    fail("socket_rate", "missing: the matrix has several sockets, expected what one sends another");
  if (rates_.socket_rate && *rates_.socket_rate < 1) fail("socket_rate", "expected more than 0");
  if (!problems.empty()) throw InputError(problems);
}

std::string Import::add_box(VertexKind kind, const std::string& what, std::map<std::size_t, std::string>& names,
                            std::size_t box) {
  const auto [known, is_new] = names.try_emplace(box, fmt::format("{} {}", what, names.size()));
  if (is_new) graph_.vertices.push_back({kind, known->second});
  return known->second;
}

/// A device hangs from the innermost box that it shares with another, each box from the next: a box of one is none.
void Import::hang(std::size_t device) {
  static const std::array<std::pair<VertexKind, std::string>, 4> kinds{{{VertexKind::pcie_switch, "switch"},
                                                                        {VertexKind::pcie_switch, "upper switch"},
                                                                        {VertexKind::root_complex, "host bridge"},
                                                                        {VertexKind::socket, "socket"}}};
  std::string below = name(device);
  std::size_t inside = 1;  // devices in the box below
  for (std::size_t level = 0; level < kinds.size(); ++level) {
    const std::size_t box = levels_[level].of(device);
    const std::size_t members = levels_[level].members(device);
    if (members == inside && level + 1 < kinds.size()) continue;  // the same box as below
    const bool is_new = !box_[level].contains(box);
    const std::string above = add_box(kinds[level].first, kinds[level].second, box_[level], box);
    // A host bridge is as wide as all below it: the matrix knows no narrower figure.
    const bool bridge = level == 3 && below.starts_with("host bridge");
    join(below, above, slot() * static_cast<std::int64_t>(bridge ? inside : 1), "pcie");
    if (!is_new) return;
    below = above;
    inside = members;
  }
}

/// GPUs joined by NVLinks, directly or over others.
std::vector<std::vector<std::size_t>> Import::nvlink_islands() const {
  Boxes island(devices());
  for (std::size_t a = 0; a < devices(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (m_.links[a][b] > 0) island.join(a, b);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> all;
  for (std::size_t a = 0; a < devices(); ++a) all[island.of(a)].push_back(a);
  std::vector<std::vector<std::size_t>> islands;
  for (const auto& [lowest, members] : all) {
    if (members.size() > 1) islands.push_back(members);
  }
  return islands;
}

void Import::join_island(const std::vector<std::size_t>& island, std::size_t number) {
  const std::int64_t rate = nvlink_rate(sm_of_generation.at(static_cast<std::size_t>(*rates_.nvlink_gen)));
  const int most = links_per_gpu.at(static_cast<std::size_t>(*rates_.nvlink_gen));
  std::set<int> counts;
  bool through_switches = false;
  for (const std::size_t a : island) {
    through_switches = through_switches || std::accumulate(m_.links[a].begin(), m_.links[a].end(), 0) > most;
    for (const std::size_t b : island) {
      if (a != b) counts.insert(m_.links[a][b]);
    }
  }
  if (!through_switches) {
    for (const std::size_t a : island) {
      for (const std::size_t b : island) {
        if (a < b && m_.links[a][b] > 0) join(name(a), name(b), m_.links[a][b] * rate, "nvlink");
      }
    }
    return;
  }
  if (counts.size() > 1 || *counts.begin() > most) {
    throw InputError("cluster.nvlink_gen", fmt::format("{} has more NV# than the {} links of a GPU of generation {}, "
                                                       "and not the same to all, as NVSwitches would have it",
                                                       name(island[0]), most, *rates_.nvlink_gen));
  }
  const std::string nvswitch = number == 0 ? "nvswitch" : fmt::format("nvswitch {}", number);
  graph_.vertices.push_back({VertexKind::nvlink_switch, nvswitch});
  for (const std::size_t a : island) join(name(a), nvswitch, *counts.begin() * rate, "nvlink");
}

void Import::join_gpus() {
  const std::vector<std::vector<std::size_t>> islands = nvlink_islands();
  for (std::size_t number = 0; number < islands.size(); ++number) join_island(islands[number], number);
}

GraphSpec Import::run() {
  for (const SmiClass widest : {SmiClass::pix, SmiClass::pxb, SmiClass::phb, SmiClass::node}) {
    levels_.push_back(boxes(widest));
    note_misfits(levels_.back(), widest);
  }
  place_hidden(levels_[3]);
  std::set<std::size_t> sockets;
  for (std::size_t d = 0; d < devices(); ++d) sockets.insert(levels_[3].of(d));
  check_rates(sockets.size() > 1, !nvlink_islands().empty());
  for (std::size_t d = 0; d < devices(); ++d) {
    if (m_.is_gpu(d)) graph_.vertices.push_back({VertexKind::chip, name(d)});
  }
  for (std::size_t d = 0; d < devices(); ++d) {
    if (!m_.is_gpu(d)) graph_.vertices.push_back({VertexKind::nic, name(d)});
  }
  for (std::size_t d = 0; d < devices(); ++d) hang(d);
  join_gpus();
  for (const auto& [a, one] : box_[3]) {
    for (const auto& [b, other] : box_[3]) {
      if (a < b) join(one, other, *rates_.socket_rate, "socket");
    }
  }
  graph_.notes.push_back(
      fmt::format("system: every PCIe link taken as x16 of generation {}, latencies as 0", rates_.pcie_gen));
  return std::move(graph_);
}

}  // namespace

GraphSpec import_nvidia_smi(const std::string& text, const std::string& name, const SmiRates& rates) {
  return Import(read_smi_matrix(text, name), rates).run();
}

}  // namespace stepsim
