#include "scenarios/export_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "scenarios/host_tree.h"
#include "scenarios/nccl_rates.h"

namespace stepsim {
namespace {

constexpr std::array<const char*, 6> speeds{"2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",
                                            "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};

struct Slot {
  int generation = 1;
  int lanes = 16;
  std::int64_t rate = 0;
};

/// The nearest of all widths that slots have and generations; of like ones x16 first, then the wider, then the older.
Slot slot_of(std::int64_t rate) {
  Slot best;
  for (const int lanes : {16, 32, 12, 8, 4, 2, 1}) {
    for (int generation = 1; generation <= 6; ++generation) {
      const std::int64_t one = pcie_rate(*pcie_lane_speed_of_generation(generation), lanes);
      if (best.rate == 0 || std::abs(one - rate) < std::abs(best.rate - rate)) best = {generation, lanes, one};
    }
  }
  return best;
}

/// How a GPU says what each of its links carries, and what that is.
struct LinkGeneration {
  const char* attribute = "sm";
  const char* value = "";
  std::int64_t rate = 0;
};

std::vector<LinkGeneration> generations(const std::string& kind) {
  if (kind == "xgmi") {
    return {{"gcn", "gfx942", xgmi_rate("gfx942")},
            {"gcn", "gfx90a", xgmi_rate("gfx90a")},
            {"gcn", "gfx906", xgmi_rate("gfx906")}};
  }
  return {{"sm", "80", nvlink_rate(80)},
          {"sm", "90", nvlink_rate(90)},
          {"sm", "100", nvlink_rate(100)},
          {"sm", "60", nvlink_rate(60)},
          {"sm", "86", nvlink_rate(86)}};
}

/// One of which all rates are whole numbers of links, else the first.
LinkGeneration generation_of(const std::string& kind, const std::vector<std::int64_t>& rates) {
  constexpr std::int64_t most_links = 64;
  const std::vector<LinkGeneration> all = generations(kind);
  for (const LinkGeneration& one : all) {
    if (std::all_of(rates.begin(), rates.end(),
                    [&](std::int64_t rate) { return rate % one.rate == 0 && rate / one.rate <= most_links; }))
      return one;
  }
  return all.front();
}

std::optional<Processor> processor_of(std::int64_t rate) {
  static const std::vector<Processor> known{{"x86_64", "GenuineIntel", 6, 79},  {"x86_64", "GenuineIntel", 6, 85},
                                            {"x86_64", "GenuineIntel", 6, 143}, {"x86_64", "GenuineIntel", 6, 207},
                                            {"x86_64", "AuthenticAMD", 23, 49}, {"x86_64", "AuthenticAMD", 25, 17},
                                            {"x86_64", "AuthenticAMD", 26, 2},  {"x86_64", "CentaurHauls", 7, 91}};
  const Processor* best = nullptr;
  for (const Processor& one : known) {
    if (best == nullptr || std::abs(*socket_rate(one) - rate) < std::abs(*socket_rate(*best) - rate)) best = &one;
  }
  if (rate == nccl_local_rate) return std::nullopt;  // what a processor that is not known is taken for
  return *best;
}

class Export {
 public:
  explicit Export(const GraphSpec& graph) : graph_(graph), tree_(host_tree(graph)), told_(graph.cables.size(), false) {}
  ExportedHost run();

 private:
  [[nodiscard]] const GraphVertex& vertex(std::size_t v) const { return graph_.vertices[v]; }
  [[nodiscard]] VertexKind kind(const std::string& name) const { return vertex(tree_.number.at(name)).kind; }
  /// "host 1 " of "host 1 gpu 0000:07:00.0"
  static std::string host(const std::string& name) {
    if (!name.starts_with("host ")) return "";
    const std::size_t end = name.find(' ', 5);
    return end == std::string::npos ? "" : name.substr(0, end + 1);
  }
  /// "0000:07:00.0" of the same.
  static std::string own_name(const std::string& name, const std::string& what) {
    const std::string rest = name.substr(host(name).size());
    return rest.starts_with(what) ? rest.substr(what.size()) : rest;
  }

  void lose(const std::string& what) { lost_.push_back(what); }
  void name_buses();
  void number_chips();
  void write_top(pugi::xml_node system, std::size_t top, std::size_t number);
  void write_processor(pugi::xml_node cpu, std::size_t top);
  void write_device(pugi::xml_node above, std::size_t v);
  void write_slot(pugi::xml_node pci, std::size_t v);
  void write_gpu(pugi::xml_node pci, std::size_t v);
  void write_links(pugi::xml_node gpu, std::size_t v, const std::string& kind);
  void write_ports(pugi::xml_node nic, std::size_t v);
  void write_bridges(pugi::xml_node pci, std::size_t v);
  void find_lost();

  const GraphSpec& graph_;
  HostTree tree_;
  std::vector<bool> told_;         // per cable
  std::set<std::size_t> written_;  // vertices
  std::map<std::size_t, std::string> bus_;
  std::map<std::size_t, int> dev_;
  std::vector<std::string> lost_;
};

/// Their own where all names are buses, else numbers in order.
void Export::name_buses() {
  std::set<std::string> seen;
  bool own = true;
  std::map<std::size_t, std::string> numbered;
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    const VertexKind kind = vertex(v).kind;
    if (kind != VertexKind::chip && kind != VertexKind::nic && kind != VertexKind::pcie_switch &&
        kind != VertexKind::root_complex)
      continue;
    const char* what = kind == VertexKind::chip ? "gpu " : kind == VertexKind::nic ? "nic " : "switch ";
    bus_[v] = own_name(vertex(v).name, what);
    own = own && (bus_[v].find(':') != std::string::npos || bus_[v].starts_with("at socket")) &&
          seen.insert(vertex(v).name).second;
    numbered[v] = fmt::format("{:04x}:{:02x}:00.0", numbered.size() / 256, numbered.size() % 256);
  }
  if (!own) bus_ = numbered;
}

void Export::number_chips() {
  std::map<std::string, int> of_host;
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    if (vertex(v).kind == VertexKind::chip) dev_[v] = of_host[host(vertex(v).name)]++;
  }
}

void Export::write_slot(pugi::xml_node pci, std::size_t v) {
  if (tree_.cable[v] == HostTree::none) {
    pci.append_attribute("link_speed") = "";
    pci.append_attribute("link_width") = 0;
    return;
  }
  const GraphCable& cable = graph_.cables[tree_.cable[v]];
  const Slot slot = slot_of(cable.capacity);
  if (slot.rate != cable.capacity) {
    lose(fmt::format("{}: {} GB/s of PCIe written as {} (generation {}, x{})", vertex(v).name,
                     static_cast<double>(cable.capacity) / 1e9, static_cast<double>(slot.rate) / 1e9, slot.generation,
                     slot.lanes));
  }
  pci.append_attribute("link_speed") = speeds.at(static_cast<std::size_t>(slot.generation - 1));
  pci.append_attribute("link_width") = slot.lanes;
  told_[tree_.cable[v]] = true;
}

void Export::write_device(pugi::xml_node above, std::size_t v) {
  written_.insert(v);
  const VertexKind kind = vertex(v).kind;
  if (kind == VertexKind::nic && tree_.cable[v] != HostTree::none &&
      graph_.cables[tree_.cable[v]].capacity == nccl_local_rate) {
    told_[tree_.cable[v]] = true;
    write_ports(above.append_child("nic"), v);
    return;
  }
  pugi::xml_node pci = above.append_child("pci");
  pci.append_attribute("busid") = bus_.at(v).c_str();
  pci.append_attribute("class") = kind == VertexKind::chip  ? "0x030200"
                                  : kind == VertexKind::nic ? "0x020700"
                                                            : "0x060400";
  write_slot(pci, v);
  if (kind == VertexKind::chip) return write_gpu(pci, v);
  if (kind == VertexKind::nic) return write_ports(pci.append_child("nic"), v);
  if (kind == VertexKind::root_complex) lose(vertex(v).name + ": a host bridge, written as a switch");
  for (const std::size_t child : tree_.children[v]) write_device(pci, child);
  write_bridges(pci, v);
}

void Export::write_bridges(pugi::xml_node pci, std::size_t v) {
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    if (!is_bridge(graph_, tree_, cable) || (cable.from != vertex(v).name && cable.to != vertex(v).name)) continue;
    told_[c] = true;
    const std::string& other = cable.from == vertex(v).name ? cable.to : cable.from;
    pci.append_child("pcilink").append_attribute("target") = bus_.at(tree_.number.at(other)).c_str();
  }
}

void Export::write_gpu(pugi::xml_node pci, std::size_t v) {
  pugi::xml_node gpu = pci.append_child("gpu");
  gpu.append_attribute("dev") = dev_.at(v);
  for (const std::string kind : {"nvlink", "xgmi"}) write_links(gpu, v, kind);
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    const std::size_t top = tree_.top(v);
    if (cable.kind != "c2c" || cable.from != vertex(v).name || top == HostTree::none || cable.to != vertex(top).name)
      continue;
    if (cable.capacity % 1'000'000 != 0 || cable.capacity > std::int64_t{4'000'000} * 1'000'000) continue;
    told_[c] = true;
    pugi::xml_node c2c = gpu.append_child("c2c");
    c2c.append_attribute("bw") = cable.capacity / 1'000'000;
    c2c.append_attribute("count") = 1;
  }
}

/// Of one kind, to GPUs, NVSwitches and the GPU's own socket.
void Export::write_links(pugi::xml_node gpu, std::size_t v, const std::string& kind) {
  struct Link {
    std::size_t cable = 0;
    std::size_t to = 0;
  };
  std::vector<Link> links;
  std::vector<std::int64_t> rates;
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    if (cable.kind != kind || cable.from == cable.to) continue;
    const bool out = cable.from == vertex(v).name;
    if (!out && !(cable.both_ways && cable.to == vertex(v).name)) continue;
    const std::size_t to = tree_.number.at(out ? cable.to : cable.from);
    const VertexKind end = vertex(to).kind;
    const bool fits = end == VertexKind::chip || end == VertexKind::nvlink_switch || to == tree_.top(v);
    if (!fits) continue;
    links.push_back({c, to});
    rates.push_back(cable.capacity);
  }
  if (links.empty()) return;
  const LinkGeneration generation = generation_of(kind, rates);
  gpu.append_attribute(generation.attribute) = generation.value;
  for (const Link& one : links) {
    const GraphCable& cable = graph_.cables[one.cable];
    const std::int64_t count =
        std::clamp<std::int64_t>((cable.capacity + generation.rate / 2) / generation.rate, 1, 64);
    if (count * generation.rate != cable.capacity && !told_[one.cable]) {
      lose(fmt::format("{} to {}: {} GB/s of {} written as {} links of {}", vertex(v).name, vertex(one.to).name,
                       static_cast<double>(cable.capacity) / 1e9, kind, count,
                       static_cast<double>(generation.rate) / 1e9));
    }
    told_[one.cable] = true;
    pugi::xml_node link = gpu.append_child(kind.c_str());
    const VertexKind end = vertex(one.to).kind;
    link.append_attribute("target") = end == VertexKind::chip ? bus_.at(one.to).c_str() : "fffffff:ffff:ff";
    link.append_attribute("count") = count;
    link.append_attribute("tclass") = end == VertexKind::chip            ? "0x030200"
                                      : end == VertexKind::nvlink_switch ? "0x068000"
                                                                         : "0x068001";
  }
}

void Export::write_ports(pugi::xml_node nic, std::size_t v) {
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    const std::string& other = cable.from == vertex(v).name ? cable.to : cable.from;
    if ((cable.from != vertex(v).name && cable.to != vertex(v).name) || !cable.both_ways) continue;
    if (kind(other) != VertexKind::network_switch || !written_.insert(tree_.number.at(other)).second) continue;
    constexpr std::int64_t megabit = 125'000;
    const std::int64_t speed = std::max<std::int64_t>(1, cable.capacity / megabit);
    if (speed * megabit != cable.capacity) {
      lose(fmt::format("{} to {}: {} GB/s written as {} Mb/s", vertex(v).name, other,
                       static_cast<double>(cable.capacity) / 1e9, speed));
    }
    told_[c] = true;
    pugi::xml_node net = nic.append_child("net");
    net.append_attribute("name") = own_name(other, "net ").c_str();
    net.append_attribute("speed") = speed;
  }
}

/// By the rate to the next of its host's sockets.
void Export::write_processor(pugi::xml_node cpu, std::size_t top) {
  std::optional<std::int64_t> rate;
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    const std::string& name = vertex(top).name;
    const auto is_top = [&](const std::string& end) {
      return std::find(tree_.tops.begin(), tree_.tops.end(), tree_.number.at(end)) != tree_.tops.end();
    };
    if ((cable.from != name && cable.to != name) || cable.from == cable.to || !cable.both_ways) continue;
    if (!is_top(cable.from) || !is_top(cable.to) || host(cable.from) != host(cable.to)) continue;
    told_[c] = true;
    if (!rate || cable.from == name) rate = cable.capacity;
  }
  if (!rate) return;
  const std::optional<Processor> processor = processor_of(*rate);
  if (!processor) return;
  if (*socket_rate(*processor) != *rate) {
    lose(fmt::format("{}: {} GB/s between sockets written as {}", vertex(top).name, static_cast<double>(*rate) / 1e9,
                     static_cast<double>(*socket_rate(*processor)) / 1e9));
  }
  cpu.append_attribute("arch") = processor->arch.c_str();
  cpu.append_attribute("vendor") = processor->vendor.c_str();
  cpu.append_attribute("familyid") = processor->family;
  cpu.append_attribute("modelid") = processor->model;
}

void Export::write_top(pugi::xml_node system, std::size_t top, std::size_t number) {
  written_.insert(top);
  pugi::xml_node cpu = system.append_child("cpu");
  const std::string own = own_name(vertex(top).name, "socket ");
  const bool numbered = vertex(top).name.substr(host(vertex(top).name).size()).starts_with("socket ");
  cpu.append_attribute("numaid") = numbered ? own.c_str() : std::to_string(number).c_str();
  const std::string of_host = host(vertex(top).name);
  cpu.append_attribute("host_hash") = of_host.empty() ? "0x0" : ("0x" + of_host.substr(5, of_host.size() - 6)).c_str();
  write_processor(cpu, top);
  for (const std::size_t child : tree_.children[top]) write_device(cpu, child);
}

/// What no element says.
void Export::find_lost() {
  bool latencies = false;
  for (std::size_t c = 0; c < graph_.cables.size(); ++c) {
    const GraphCable& cable = graph_.cables[c];
    latencies = latencies || cable.latency.count() > 0;
    if (!told_[c])
      lose(fmt::format("{} to {} ({}): left out, the format has no such link", cable.from, cable.to, cable.kind));
  }
  int nvswitches = 0;
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    if (vertex(v).kind == VertexKind::nvlink_switch) {
      if (++nvswitches == 2) lose("several NVLink switches: written as one");
    } else if (!written_.contains(v)) {
      lose(vertex(v).name + ": left out");
    }
  }
  if (latencies) lose("latencies: left out");
  if (graph_.staged) lose("staging through host memory: left out");
  if (graph_.chips_relay) lose("chips that forward: left out");
}

ExportedHost Export::run() {
  name_buses();
  number_chips();
  pugi::xml_document document;
  pugi::xml_node system = document.append_child("system");
  system.append_attribute("version") = 1;
  for (std::size_t t = 0; t < tree_.tops.size(); ++t) write_top(system, tree_.tops[t], t);
  pugi::xml_node first = system.child("cpu");
  for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
    const VertexKind kind = vertex(v).kind;
    if (written_.contains(v) || (kind != VertexKind::chip && kind != VertexKind::nic)) continue;
    if (!first) {
      first = system.append_child("cpu");
      first.append_attribute("numaid") = "0";
      lose("no socket: one is written");
    }
    lose(vertex(v).name + ": in no slot, written into one of no width at the first socket");
    write_device(first, v);
  }
  find_lost();
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration, pugi::encoding_utf8);
  return {text.str(), lost_};
}

}  // namespace

ExportedHost export_nccl_topology(const GraphSpec& graph) {
  return Export(graph).run();
}

}  // namespace stepsim
