#include "scenarios/export_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "scenarios/host_tree.h"
#include "scenarios/nccl_rates.h"

namespace stepsim {
namespace {

class Export {
 public:
  explicit Export(const GraphSpec& graph) : graph_(graph), tree_(host_tree(graph)) {}
  ExportedHost run();

 private:
  [[nodiscard]] const GraphVertex& vertex(std::size_t v) const { return graph_.vertices[v]; }
  void name_devices();
  void count_nvlinks();
  [[nodiscard]] std::vector<std::size_t> above(std::size_t v) const;
  [[nodiscard]] std::string class_of(std::size_t a, std::size_t b) const;
  [[nodiscard]] int links_between(std::size_t a, std::size_t b) const;
  void find_lost();

  const GraphSpec& graph_;
  HostTree tree_;
  std::vector<std::size_t> devices_;                                      // vertices: GPUs, then NICs
  std::vector<std::string> names_;                                        // of the columns
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> direct_;    // GPUs, both ways: NVLink rate
  std::map<std::size_t, std::map<std::size_t, std::int64_t>> to_switch_;  // GPU, switch: NVLink rate
  std::int64_t nvlink_ = 0;                                               // rate of one
  std::vector<std::string> lost_;
};

bool is_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// GPUs keep their numbers where all have one; NICs their names where those are a word.
void Export::name_devices() {
  std::set<std::string> seen;
  bool numbered = true;
  for (const VertexKind kind : {VertexKind::chip, VertexKind::nic}) {
    for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
      if (vertex(v).kind == kind) devices_.push_back(v);
    }
  }
  for (const std::size_t v : devices_) {
    if (vertex(v).kind != VertexKind::chip) continue;
    const std::string& name = vertex(v).name;
    numbered = numbered && name.starts_with("gpu ") && is_number(name.substr(4)) && seen.insert(name).second;
  }
  int nics = 0;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::string& name = vertex(devices_[d]).name;
    if (vertex(devices_[d]).kind == VertexKind::chip) {
      names_.push_back("GPU" + (numbered ? name.substr(4) : std::to_string(d)));
      continue;
    }
    const std::string own = name.starts_with("nic ") ? name.substr(4) : name;
    const bool word = own.find_first_of(" \t") == std::string::npos && !own.starts_with("GPU") && own != "CPU" &&
                      own != "NUMA" && !own.empty() && !is_number(own) && seen.insert(own).second;
    names_.push_back(word ? own : fmt::format("NIC{}", nics));
    ++nics;
  }
}

/// # of NV#: by the generation of which all rates are whole numbers of links, else the nearest.
void Export::count_nvlinks() {
  std::vector<std::int64_t> rates;
  for (const GraphCable& cable : graph_.cables) {
    if (cable.kind != "nvlink" || cable.from == cable.to) continue;
    std::size_t a = tree_.number.at(cable.from);
    std::size_t b = tree_.number.at(cable.to);
    if (vertex(a).kind != VertexKind::chip) std::swap(a, b);
    if (vertex(a).kind != VertexKind::chip) continue;
    if (vertex(b).kind == VertexKind::nvlink_switch) to_switch_[a][b] = cable.capacity;
    if (vertex(b).kind == VertexKind::chip) direct_[{std::min(a, b), std::max(a, b)}] = cable.capacity;
    if (vertex(b).kind == VertexKind::nvlink_switch || vertex(b).kind == VertexKind::chip)
      rates.push_back(cable.capacity);
  }
  for (const int sm : {80, 90, 100, 60}) {
    const std::int64_t rate = nvlink_rate(sm);
    if (nvlink_ == 0 && std::all_of(rates.begin(), rates.end(), [&](std::int64_t one) { return one % rate == 0; }))
      nvlink_ = rate;
  }
  if (nvlink_ != 0) return;
  nvlink_ = nvlink_rate(80);
  lost_.push_back(fmt::format("NVLinks are of no generation's rate: counted as links of {} GB/s",
                              static_cast<double>(nvlink_) / 1e9));
}

int Export::links_between(std::size_t a, std::size_t b) const {
  std::int64_t rate = 0;
  const auto pair = direct_.find({std::min(a, b), std::max(a, b)});
  if (pair != direct_.end()) rate = pair->second;
  const auto from = to_switch_.find(a);
  const auto to = to_switch_.find(b);
  if (from != to_switch_.end() && to != to_switch_.end()) {
    for (const auto& [nvswitch, own] : from->second) {
      const auto other = to->second.find(nvswitch);
      if (other != to->second.end()) rate += std::min(own, other->second);
    }
  }
  return rate == 0 ? 0 : static_cast<int>(std::max<std::int64_t>(1, (rate + nvlink_ / 2) / nvlink_));
}

std::vector<std::size_t> Export::above(std::size_t v) const {
  std::vector<std::size_t> way;
  for (v = tree_.parent[v]; v != HostTree::none; v = tree_.parent[v]) way.push_back(v);
  return way;
}

std::string Export::class_of(std::size_t a, std::size_t b) const {
  if (a == b) return " X ";
  if (const int links = links_between(a, b)) return fmt::format("NV{}", links);
  const std::vector<std::size_t> one = above(a);
  const std::vector<std::size_t> other = above(b);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto meet = std::find(other.begin(), other.end(), one[i]);
    if (meet == other.end()) continue;
    const GraphVertex& at = vertex(one[i]);
    if (at.kind == VertexKind::root_complex) return "PHB";
    if (at.kind != VertexKind::pcie_switch) return "NODE";
    // "upper switch": import_smi's and pcie_tree's word for one with others below, seen or not.
    const bool several = i > 0 || meet != other.begin() || at.name.starts_with("upper switch");
    return several ? "PXB" : "PIX";
  }
  return "SYS";
}

void Export::find_lost() {
  std::set<std::string> kinds;
  for (const std::size_t v : devices_) {
    if (tree_.top(v) == HostTree::none)
      lost_.push_back(vertex(v).name + ": on no socket, written as far from all others");
  }
  const std::set<std::size_t> tree(tree_.cable.begin(), tree_.cable.end());
  const auto is_top = [&](const std::string& name) {
    return std::find(tree_.tops.begin(), tree_.tops.end(), tree_.number.at(name)) != tree_.tops.end();
  };
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    const bool told = tree.contains(c) || cable.kind == "nvlink" || (is_top(cable.from) && is_top(cable.to));
    if (!told) kinds.insert(cable.kind);
  }
  for (const std::string& kind : kinds) lost_.push_back("links of kind " + kind + ": left out");
  lost_.emplace_back("rates and latencies: left out");
}

ExportedHost Export::run() {
  name_devices();
  count_nvlinks();
  std::string text;
  for (const std::string& name : names_) text += "\t" + name;
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t a = 0; a < devices_.size(); ++a) {
    text += names_[a];
    for (const std::size_t b : devices_) text += "\t" + class_of(devices_[a], b);
    const std::size_t top = tree_.top(devices_[a]);
    const auto socket = std::find(tree_.tops.begin(), tree_.tops.end(), top);
    if (vertex(devices_[a]).kind == VertexKind::chip && socket != tree_.tops.end())
      text += fmt::format("\t{0}\t{0}", socket - tree_.tops.begin());
    text += "\n";
  }
  text +=
      "\nLegend:\n\n  X    = Self\n  SYS  = across sockets\n  NODE = within a socket\n  PHB  = through a host bridge\n"
      "  PXB  = through several PCIe switches\n  PIX  = through one PCIe switch\n  NV#  = # NVLinks\n";
  find_lost();
  return {text, lost_};
}

}  // namespace

ExportedHost export_nvidia_smi(const GraphSpec& graph) {
  return Export(graph).run();
}

}  // namespace stepsim
