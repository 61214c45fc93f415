#include "scenarios/import_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <utility>
#include <vector>

#include "scenarios/nccl_rates.h"
#include "scenarios/text_place.h"
#include "sim/input_error.h"

namespace stepsim {
namespace {

constexpr int deepest = 16;       // PCI devices inside each other
constexpr int most_sockets = 64;  // each pair is joined

/// What a GPU says of its links, before all GPUs are known.
struct GpuLink {
  pugi::xml_node node;
  std::string from;
  std::string host;
  std::int64_t rate = 0;  // of one
};

struct Gpu {
  std::string name;
  std::string host;
  int dev = -1;
};

struct Socket {
  std::string name;
  std::string host;
  std::optional<std::int64_t> rate;
};

class Import {
 public:
  Import(const std::string& text, const std::string& name) : text_(text), name_(name) {}
  GraphSpec run();

 private:
  void read_system(const pugi::xml_node& system);
  void read_cpu(const pugi::xml_node& cpu);
  void read_pci(const pugi::xml_node& pci, const std::string& parent, const std::string& host, int depth);
  void read_gpu(const pugi::xml_node& gpu, const std::string& name, const std::string& socket, const std::string& host);
  void read_c2c(const pugi::xml_node& link, const std::string& gpu);
  void read_nic(const pugi::xml_node& nic, const std::string& name, const std::string& host);
  void join_gpus();
  void join_sockets();
  GraphSpec finished();

  [[nodiscard]] std::int64_t slot_rate(const pugi::xml_node& pci, const std::string& name);
  [[nodiscard]] std::string host_of(const pugi::xml_node& cpu);
  [[nodiscard]] int number(const pugi::xml_node& node, const char* attribute, int least, int most, int otherwise);
  [[nodiscard]] int count_of(const pugi::xml_node& link);
  [[nodiscard]] std::string bus(const pugi::xml_node& node, const char* attribute);
  void check_children(const pugi::xml_node& node, const std::vector<std::string>& known);

  void fail(const pugi::xml_node& node, const std::string& message) {
    problems_.push_back({place_in(text_, static_cast<std::size_t>(node.offset_debug()), name_), "", message});
  }
  void note(const std::string& what) { notes_.push_back(what); }
  bool add(VertexKind kind, const std::string& name, const pugi::xml_node& node) {
    if (names_.insert(name).second) {
      vertices_.push_back({kind, name});
      return true;
    }
    fail(node, fmt::format("expected each device once, found {} again", name));
    return false;
  }
  void join(const std::string& from, const std::string& to, std::int64_t rate, const std::string& kind,
            bool both = true) {
    cables_.push_back({from, to, rate, Picoseconds(0), kind, both});
  }

  const std::string& text_;
  const std::string& name_;
  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
  bool has_gpu_tags_ = false;
  std::map<std::string, std::string> hosts_;  // host_hash -> what names of its devices begin with
  std::vector<Socket> sockets_;
  std::vector<Gpu> gpus_;
  std::vector<GpuLink> gpu_links_;
  std::string socket_;  // being read
  std::set<std::string> names_;
  std::vector<GraphVertex> vertices_;  // without GPUs
  std::vector<GraphCable> cables_;
};

/// The number in an attribute, decimal or 0x...; `otherwise` when it is not there.
int Import::number(const pugi::xml_node& node, const char* attribute, int least, int most, int otherwise) {
  const std::string text = node.attribute(attribute).value();
  if (!node.attribute(attribute)) return otherwise;
  const bool hexadecimal = text.starts_with("0x");
  const char* first = text.data() + (hexadecimal ? 2 : 0);
  int value = 0;
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  fail(node, fmt::format("{}: expected a number from {} to {}, found '{}'", attribute, least, most, text));
  return otherwise;
}

int Import::count_of(const pugi::xml_node& link) {
  if (!link.attribute("count")) fail(link, fmt::format("<{}> without count", link.name()));
  return number(link, "count", 1, 64, 1);
}

std::string Import::bus(const pugi::xml_node& node, const char* attribute) {
  std::string text = node.attribute(attribute).value();
  if (text.empty()) fail(node, fmt::format("<{}> without {}", node.name(), attribute));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

void Import::check_children(const pugi::xml_node& node, const std::vector<std::string>& known) {
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    if (std::find(known.begin(), known.end(), child.name()) != known.end()) continue;
    fail(child,
         fmt::format("expected {} in <{}>, found <{}>",
                     known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", ")), node.name(), child.name()));
  }
}

std::string Import::host_of(const pugi::xml_node& cpu) {
  const std::string hash = cpu.attribute("host_hash").value();
  const std::string prefix = hosts_.empty() ? "" : fmt::format("host {} ", hosts_.size());
  return hosts_.try_emplace(hash, prefix).first->second;
}

void Import::read_system(const pugi::xml_node& system) {
  const int version = number(system, "version", 1, 2, 0);
  if (version == 0 && !system.attribute("version")) note("system: no version, NCCL's (1) assumed");
  check_children(system, {"cpu"});
  has_gpu_tags_ = !system.select_nodes(".//gpu").empty();
  for (const pugi::xml_node& cpu : system.children("cpu")) {
    if (sockets_.size() == most_sockets) {
      fail(cpu, fmt::format("expected at most {} sockets", most_sockets));
      return;
    }
    read_cpu(cpu);
  }
}

void Import::read_cpu(const pugi::xml_node& cpu) {
  const std::string host = host_of(cpu);
  const std::string id = cpu.attribute("numaid").value();
  if (id.empty()) fail(cpu, "<cpu> without numaid");
  socket_ = host + "socket " + id;
  if (!add(VertexKind::socket, socket_, cpu)) return;
  check_children(cpu, {"pci", "nic"});
  Processor processor{cpu.attribute("arch").value(), cpu.attribute("vendor").value(), 0, 0};
  processor.family = number(cpu, "familyid", -1, 100'000, 0);
  processor.model = number(cpu, "modelid", -1, 100'000, 0);
  sockets_.push_back({socket_, host, socket_rate(processor)});
  if (processor.vendor == "GenuineIntel") {
    note(socket_ + ": Intel; NCCL counts 6/5 of the bytes that GPUs send each other through it, here they count once");
  }
  for (const pugi::xml_node& child : cpu.children()) {
    const std::string tag = child.name();
    if (tag == "pci") read_pci(child, socket_, host, 0);
    if (tag != "nic") continue;
    const std::string name = fmt::format("{}nic at socket {} {}", host, id, names_.size());
    if (!add(VertexKind::nic, name, child)) continue;
    note(name + ": no PCIe link given, 5000 GB/s assumed");
    join(name, socket_, nccl_local_rate, "pcie");
    read_nic(child, name, host);
  }
}

/// Of the slot that a device or switch sits in.
std::int64_t Import::slot_rate(const pugi::xml_node& pci, const std::string& name) {
  int lanes = number(pci, "link_width", 0, 32, 0);
  const std::string speed = pci.attribute("link_speed").value();
  std::optional<int> lane = pcie_lane_speed(speed);
  std::vector<std::string> assumed;
  if (!lane) {
    assumed.push_back(speed.empty() ? "link_speed empty, PCIe generation 3 assumed"
                                    : fmt::format("link_speed '{}' not known, PCIe generation 3 assumed", speed));
    lane = pcie_lane_speed_of_generation(3);
  }
  if (lanes == 0) {
    assumed.emplace_back("link_width 0 or missing, x16 assumed");
    lanes = 16;
  }
  if (!assumed.empty()) note(fmt::format("{}: {}", name, fmt::join(assumed, "; ")));
  return pcie_rate(*lane, lanes);
}

bool is_gpu_class(const std::string& pci_class) {
  return pci_class.starts_with("0x03") || pci_class.starts_with("0x1200");
}

void Import::read_pci(const pugi::xml_node& pci, const std::string& parent, const std::string& host, int depth) {
  if (depth == deepest) {
    fail(pci, fmt::format("expected at most {} PCI devices inside each other", deepest));
    return;
  }
  check_children(pci, {"pci", "gpu", "nic", "pcilink"});
  const std::string id = bus(pci, "busid");
  const std::string pci_class = pci.attribute("class").value();
  if (pci_class.empty()) fail(pci, fmt::format("pci {}: no class", id));
  if (pci.child("gpu")) {
    const std::string name = host + "gpu " + id;
    if (!names_.insert(name).second) fail(pci, fmt::format("expected each device once, found {} again", name));
    join(name, parent, slot_rate(pci, name), "pcie");
    read_gpu(pci.child("gpu"), name, socket_, host);
    if (pci.child("gpu").next_sibling("gpu")) note(name + ": several <gpu>, the first is taken");
  } else if (pci.child("nic") || pci_class.starts_with("0x02")) {
    const std::string name = host + "nic " + id;
    if (!add(VertexKind::nic, name, pci)) return;
    join(name, parent, slot_rate(pci, name), "pcie");
    if (!pci.child("nic")) note(name + ": no <net>, so no port and no rate of one");
    read_nic(pci.child("nic"), name, host);
  } else if (is_gpu_class(pci_class)) {
    const std::string name = host + "gpu " + id;
    if (has_gpu_tags_) {
      note(name + ": no <gpu> though others have one, left out");
      return;
    }
    if (!names_.insert(name).second) fail(pci, fmt::format("expected each device once, found {} again", name));
    note(name + ": no <gpu>, taken as one for its class " + pci_class);
    join(name, parent, slot_rate(pci, name), "pcie");
    gpus_.push_back({name, host, -1});
  } else if (!pci_class.starts_with("0x0680") || pci.child("pci")) {
    const std::string name = host + "switch " + id;
    if (!add(VertexKind::pcie_switch, name, pci)) return;
    join(name, parent, slot_rate(pci, name), "pcie");
    for (const pugi::xml_node& child : pci.children("pci")) read_pci(child, name, host, depth + 1);
    for (const pugi::xml_node& link : pci.children("pcilink"))
      gpu_links_.push_back({link, name, host, nccl_local_rate});
  }
}

void Import::read_gpu(const pugi::xml_node& gpu, const std::string& name, const std::string& socket,
                      const std::string& host) {
  check_children(gpu, {"nvlink", "xgmi", "c2c"});
  gpus_.push_back({name, host, number(gpu, "dev", 0, 100'000, -1)});
  const int sm = number(gpu, "sm", 0, 10'000, 0);
  if (gpu.child("nvlink") && sm == 0) note(name + ": no sm, 20 GB/s per NVLink assumed");
  const std::string gcn = gpu.attribute("gcn").value();
  if (gpu.child("xgmi") && gcn.empty()) note(name + ": no gcn, 24 GB/s per xGMI link assumed");
  for (const pugi::xml_node& link : gpu.children("nvlink")) {
    if (!std::string(link.attribute("tclass").value()).starts_with("0x068001")) {
      gpu_links_.push_back({link, name, host, nvlink_rate(sm)});
      continue;
    }
    join(name, socket, count_of(link) * nvlink_rate(sm), "nvlink");
  }
  for (const pugi::xml_node& link : gpu.children("xgmi")) gpu_links_.push_back({link, name, host, xgmi_rate(gcn)});
  for (const pugi::xml_node& link : gpu.children("c2c")) read_c2c(link, name);
}

/// Chip-to-chip to the GPU's own CPU: bw in MB/s of each of count.
void Import::read_c2c(const pugi::xml_node& link, const std::string& gpu) {
  const int rate = number(link, "bw", 1, 4'000'000, 0);
  if (!link.attribute("bw")) fail(link, "<c2c> without bw");
  if (rate > 0) join(gpu, socket_, std::int64_t{rate} * count_of(link) * 1'000'000, "c2c");
}

void Import::read_nic(const pugi::xml_node& nic, const std::string& name, const std::string& host) {
  constexpr int slow = 10'000;  // Mb/s: NCCL's for ports that give none
  check_children(nic, {"net", "gin", "rma"});
  for (const pugi::xml_node& net : nic.children("net")) {
    const std::string given = net.attribute("name").value();
    const std::string dev = net.attribute("dev").value();
    std::string port = host + "net " + (given.empty() ? dev : given);
    if (names_.contains(port) && !dev.empty()) port += " dev " + dev;
    if (given.empty() && dev.empty()) fail(net, "<net> without name or dev");
    if (!add(VertexKind::network_switch, port, net)) continue;
    int speed = number(net, "speed", -1, 100'000'000, 0);
    if (speed <= 0) {
      note(port + ": no speed, 10 Gb/s assumed");
      speed = slow;
    }
    join(name, port, std::int64_t{speed} * 125'000, "net");
  }
}

/// Links of both ends are listed at both ends; NVSwitches are one vertex.
void Import::join_gpus() {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::string>> direct;
  std::map<std::string, std::int64_t> to_switch;
  for (const GpuLink& link : gpu_links_) {
    const bool bridge = std::string(link.node.name()) == "pcilink";
    const std::int64_t rate = bridge ? link.rate : count_of(link.node) * link.rate;
    if (std::string(link.node.attribute("tclass").value()).starts_with("0x0680")) {
      to_switch[link.from] += rate;
      continue;
    }
    const std::string target = link.host + (bridge ? "switch " : "gpu ") + bus(link.node, "target");
    if (target == link.from) fail(link.node, fmt::format("expected a link to another device, found one to {}", target));
    if (!names_.contains(target)) {
      note(
          fmt::format("{}: its {} to {} is left out, as that is not in the file", link.from, link.node.name(), target));
      continue;
    }
    auto& [sum, kind] = direct[{link.from, target}];
    sum += rate;
    kind = bridge ? "pcie" : link.node.name();
  }
  for (const auto& [pair, how] : direct) {
    const auto back = direct.find({pair.second, pair.first});
    if (back == direct.end()) {
      note(fmt::format("{}: its {} to {} is listed at one end only, taken both ways", pair.first, how.second,
                       pair.second));
      join(pair.first, pair.second, how.first, how.second);
    } else if (back->second.first != how.first) {
      note(fmt::format("{}: its {} to {} is not as wide as the way back", pair.first, how.second, pair.second));
      join(pair.first, pair.second, how.first, how.second, false);
    } else if (pair.first < pair.second) {
      join(pair.first, pair.second, how.first, how.second);
    }
  }
  if (to_switch.empty()) return;
  vertices_.push_back({VertexKind::nvlink_switch, "nvswitch"});
  for (const Gpu& gpu : gpus_) {
    if (to_switch.contains(gpu.name)) join(gpu.name, "nvswitch", to_switch[gpu.name], "nvlink");
  }
}

void Import::join_sockets() {
  for (std::size_t a = 0; a < sockets_.size(); ++a) {
    for (std::size_t b = a + 1; b < sockets_.size(); ++b) {
      if (sockets_[a].host != sockets_[b].host) continue;
      const std::optional<std::int64_t> rate = sockets_[a].rate;
      if (!rate)
        note(fmt::format("{}: processor not known, 5000 GB/s to {} assumed", sockets_[a].name, sockets_[b].name));
      join(sockets_[a].name, sockets_[b].name, rate.value_or(nccl_local_rate), "socket");
    }
  }
}

GraphSpec Import::finished() {
  std::set<std::pair<std::string, int>> devs;
  bool numbered = true;
  for (const Gpu& gpu : gpus_) numbered = numbered && gpu.dev >= 0 && devs.insert({gpu.host, gpu.dev}).second;
  if (numbered) {
    std::stable_sort(gpus_.begin(), gpus_.end(),
                     [](const Gpu& a, const Gpu& b) { return std::pair(a.host, a.dev) < std::pair(b.host, b.dev); });
  } else if (has_gpu_tags_) {
    note("system: not every GPU has a dev of its own, GPUs count in the order of the file");
  }
  GraphSpec graph;
  for (const Gpu& gpu : gpus_) graph.vertices.push_back({VertexKind::chip, gpu.name});
  graph.vertices.insert(graph.vertices.end(), vertices_.begin(), vertices_.end());
  graph.cables = cables_;
  graph.notes = notes_;
  graph.notes.emplace_back("system: latencies are not in the file, 0 assumed");
  return graph;
}

GraphSpec Import::run() {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    throw InputError(
        {Problem{place_in(text_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)), name_), "",
                 fmt::format("not XML: {}", parsed.description())}});
  }
  const pugi::xml_node system = document.document_element();
  if (std::string(system.name()) != "system") {
    fail(system, fmt::format("expected <system>, found <{}>", system.name()));
    throw InputError(problems_);
  }
  read_system(system);
  join_gpus();
  join_sockets();
  if (gpus_.empty()) fail(system, "no GPUs: expected <gpu>, or <pci> of a class 0x0300, 0x0302, 0x0380 or 0x1200");
  if (!problems_.empty()) throw InputError(problems_);
  return finished();
}

}  // namespace

GraphSpec import_nccl_topology(const std::string& text, const std::string& name) {
  return Import(text, name).run();
}

}  // namespace stepsim
