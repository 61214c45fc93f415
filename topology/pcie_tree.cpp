// pcie_tree.cpp: one host: devices under PCIe switches, those (perhaps by way of a second level of switches) under one
// or two sockets, and a link between the sockets.
//
// Peer to peer, a transfer turns round at the lowest switch or socket above both devices; from one socket to the other
// it crosses the link between them (QPI, UPI, xGMI). Staged, it is written to the host memory that lies nearest and
// read back: the link into memory carries the staging latency, the memory's own is crossed twice (as in pcie_host.cpp).
// Usual rates (one way), the usable ones that NCCL's topology search counts with (NVIDIA/nccl, src/graph/topo.h and
// topo.cc): PCIe x16 of generations 3, 4, 5: 12, 24, 48 GB/s; between sockets Skylake 10, Sapphire Rapids 22, Emerald
// Rapids 40, AMD 16 GB/s. It also counts 6/5 of the bytes for peers that meet at the root complex of an Intel CPU:
// `intel_peers` takes 5/6 of the rate of all links at a socket instead, for all that crosses them.
#include <algorithm>
#include <numeric>

#include "sim/input_error.h"
#include "topology/builders.h"

namespace stepsim {

namespace {

class TreeCheck {
 public:
  explicit TreeCheck(const ClusterSpec& spec) : chip_(spec.chip), tree_(spec.tree) {}

  void check() {
    check_shape();
    check_rates();
    check_nics();
    if (!problems_.empty()) throw InputError(problems_);
  }

 private:
  void problem(const std::string& name, const std::string& message) {
    problems_.push_back({{}, "cluster." + name, message});
  }

  void check_shape() {
    const std::vector<int>& below = tree_.devices_per_switch;
    const std::vector<int>& upper = tree_.switches_per_upper;
    const auto positive = [](const std::vector<int>& counts) {
      return std::all_of(counts.begin(), counts.end(), [](int count) { return count > 0; });
    };
    const std::int64_t devices = std::accumulate(below.begin(), below.end(), std::int64_t{0});
    if (!positive(below) || devices < 1 || devices > most_listed_chips) {
      problem("devices_per_switch", "expected counts of 1 or more that add up to 1 to " +
                                        std::to_string(most_listed_chips) + " devices, found a sum of " +
                                        std::to_string(devices));
    }
    const std::int64_t switches = std::accumulate(upper.begin(), upper.end(), std::int64_t{0});
    if (!upper.empty() && (!positive(upper) || switches != static_cast<std::int64_t>(below.size()))) {
      problem("switches_per_upper", "expected counts of 1 or more that add up to the " + std::to_string(below.size()) +
                                        " switches, found a sum of " + std::to_string(switches));
    }
    const auto top = static_cast<int>(upper.empty() ? below.size() : upper.size());
    if (tree_.sockets < 1 || tree_.sockets > 2 || (tree_.sockets > top && top > 0)) {
      problem("sockets", "expected 1 or 2, each with a switch of its own, found " + std::to_string(tree_.sockets));
    }
  }

  void need(const std::string& name, std::int64_t rate, const std::string& why) {
    if (rate < 1) problem(name, "expected a rate: " + why);
  }

  void check_rates() {
    if (chip_.pcie_rate < 1) problem("chip", chip_.name + " has no PCIe rate (pcie_rate)");
    if (tree_.switch_rate < 0) problem("switch_rate", "expected a rate, or 0 for that of the chips");
    if (tree_.sockets > 1) need("socket_rate", tree_.socket_rate, "transfers cross from one socket to the other");
    if (tree_.peer_to_peer) return;
    const std::string staged = "without peer-to-peer transfers are staged through host memory";
    need("host_memory_rate", tree_.host_memory_rate, staged);
    need("memory_link_rate", tree_.memory_link_rate, staged);
  }

  void check_nics() {
    const auto switches = static_cast<int>(tree_.devices_per_switch.size());
    for (std::size_t i = 0; i < tree_.nics.size(); ++i) {
      const NicPlace& nic = tree_.nics[i];
      const std::string name = "nics." + std::to_string(i);
      if (nic.at_switch >= switches) {
        problem(name + ".switch",
                "expected 0 to " + std::to_string(switches - 1) + ", found " + std::to_string(nic.at_switch));
      }
      if (nic.at_switch < 0 && (nic.at_socket < 0 || nic.at_socket >= tree_.sockets)) {
        problem(name + ".socket",
                "expected 0 to " + std::to_string(tree_.sockets - 1) + ", found " + std::to_string(nic.at_socket));
      }
      if (nic.rate < 0) problem(name + ".rate", "expected a rate, or 0 for that of the chips");
    }
  }

  const ChipSpec& chip_;
  const PcieTreeSpec& tree_;
  std::vector<Problem> problems_;
};

std::string numbered(const std::string& word, std::size_t number) {
  return word + " " + std::to_string(number);
}

class TreeGraph {
 public:
  explicit TreeGraph(const ClusterSpec& spec) : chip_(spec.chip), tree_(spec.tree) {}

  GraphSpec make() {
    add_devices();
    add_switches();
    add_sockets();
    if (!tree_.peer_to_peer) add_memory();
    for (std::size_t i = 0; i < tree_.nics.size(); ++i) add_nic(tree_.nics[i], i);
    graph_.staged = !tree_.peer_to_peer;
    return std::move(graph_);
  }

 private:
  void vertex(VertexKind kind, const std::string& name) { graph_.vertices.push_back({kind, name}); }

  void cable(const std::string& from, const std::string& to, std::int64_t rate, const std::string& kind) {
    graph_.cables.push_back({from, to, rate, chip_.pcie_latency, kind});
  }

  [[nodiscard]] std::int64_t at_socket(std::int64_t rate) const {
    return tree_.intel_peers ? std::max<std::int64_t>(1, rate / 6 * 5 + rate % 6 * 5 / 6) : rate;
  }

  void add_devices() {
    std::size_t device = 0;
    for (std::size_t s = 0; s < tree_.devices_per_switch.size(); ++s) {
      for (int i = 0; i < tree_.devices_per_switch[s]; ++i, ++device) {
        vertex(VertexKind::chip, numbered("device", device));
        cable(numbered("device", device), numbered("switch", s), chip_.pcie_rate, "pcie");
      }
    }
  }

  void add_switches() {
    const std::int64_t rate = tree_.switch_rate > 0 ? tree_.switch_rate : chip_.pcie_rate;
    const bool two_levels = !tree_.switches_per_upper.empty();
    for (std::size_t s = 0; s < tree_.devices_per_switch.size(); ++s) {
      vertex(VertexKind::pcie_switch, numbered("switch", s));
    }
    std::size_t below = 0;
    for (std::size_t u = 0; u < tree_.switches_per_upper.size(); ++u) {
      vertex(VertexKind::pcie_switch, numbered("upper switch", u));
      for (int i = 0; i < tree_.switches_per_upper[u]; ++i, ++below) {
        cable(numbered("switch", below), numbered("upper switch", u), rate, "switch");
      }
    }
    const std::size_t top = two_levels ? tree_.switches_per_upper.size() : tree_.devices_per_switch.size();
    for (std::size_t t = 0; t < top; ++t) {
      const std::size_t socket = t * static_cast<std::size_t>(tree_.sockets) / top;
      cable(numbered(two_levels ? "upper switch" : "switch", t), numbered("socket", socket), at_socket(rate), "switch");
    }
  }

  void add_sockets() {
    for (int i = 0; i < tree_.sockets; ++i) vertex(VertexKind::socket, numbered("socket", i));
    if (tree_.sockets < 2) return;
    graph_.cables.push_back({"socket 0", "socket 1", tree_.socket_rate, tree_.socket_latency, "socket"});
  }

  void add_memory() {
    for (int i = 0; i < tree_.sockets; ++i) {
      const std::string socket = numbered("socket", i);
      const std::string memory = numbered("host memory", i);
      vertex(VertexKind::host_memory, memory);
      graph_.cables.push_back({socket, memory, tree_.memory_link_rate, tree_.staging_latency, "memory up", false});
      graph_.cables.push_back({memory, socket, tree_.memory_link_rate, Picoseconds(), "memory down", false});
      graph_.cables.push_back({memory, memory, tree_.host_memory_rate, Picoseconds(), "host memory", false});
    }
  }

  void add_nic(const NicPlace& nic, std::size_t number) {
    const std::int64_t rate = nic.rate > 0 ? nic.rate : chip_.pcie_rate;
    vertex(VertexKind::nic, numbered("nic", number));
    const bool by_switch = nic.at_switch >= 0;
    const auto place = static_cast<std::size_t>(by_switch ? nic.at_switch : nic.at_socket);
    cable(numbered("nic", number), numbered(by_switch ? "switch" : "socket", place), by_switch ? rate : at_socket(rate),
          "nic");
  }

  const ChipSpec& chip_;
  const PcieTreeSpec& tree_;
  GraphSpec graph_;
};

}  // namespace

GraphSpec pcie_tree_graph(const ClusterSpec& spec) {
  TreeCheck(spec).check();
  return TreeGraph(spec).make();
}

Cluster build_pcie_tree(const ClusterSpec& spec) {
  ClusterSpec listed = spec;
  listed.graph = pcie_tree_graph(spec);
  return build_listed(listed);
}

}  // namespace stepsim
