// nodes.cpp: nodes of GPUs: a switch in each (NVSwitch), NICs, and tiers of network switches (nodes_links.h).
//
// A node alone is an NVSwitch machine (DGX A100, H100, B200) or an NVL72 rack. Axes, outermost first: the groups of
// each tier ("pod", "unit"), "node", "device"; every one is direct: any pair along it has a route of its own.
#include <memory>

#include "topology/link_faults.h"
#include "topology/nodes_links.h"

namespace stepsim {

namespace {

constexpr std::int64_t max_chips = 1 << 20;

void check_network(const NodesSpec& spec, std::vector<Problem>& problems) {
  const auto problem = [&](const std::string& key, const std::string& text) { problems.push_back({{}, key, text}); };
  if (spec.nics < 1 || spec.gpus % spec.nics != 0) {
    problem("cluster.nics", "expected a divisor of the " + std::to_string(spec.gpus) + " GPUs of a node, found " +
                                std::to_string(spec.nics) +
                                " (several NICs of one GPU: one with the sum of the rates)");
  }
  if (spec.nic_rate < 1) problem("cluster.nic_rate", "expected a rate: nodes are joined by their NICs");
  if (spec.oversubscription.size() + 1 > spec.nodes.size()) {
    problem("cluster.oversubscription", "expected at most " + std::to_string(spec.nodes.size() - 1) +
                                            " ratio(s), one per tier below the top, found " +
                                            std::to_string(spec.oversubscription.size()));
  }
  for (const Ratio& one : spec.oversubscription) {
    if (one.over < 1 || one.times < one.over) problem("cluster.oversubscription", "expected ratios of 1 or more");
  }
  if (spec.uplinks > 0 && spec.nodes.size() < 2) {
    problem("cluster.uplinks", "expected none: one tier of switches has no ways up to hash over");
  }
}

void check(const ClusterSpec& cluster) {
  std::vector<Problem> problems;
  const NodesSpec& spec = cluster.nodes;
  std::int64_t nodes = 1;
  for (const int extent : spec.nodes) nodes = extent < 1 ? 0 : std::min(nodes * extent, max_chips + 1);
  if (spec.nodes.empty() || spec.nodes.size() > 3 || nodes < 1) {
    problems.push_back({{}, "cluster.nodes", "expected 1 to 3 numbers of 1 or more, outermost first"});
    throw InputError(problems);
  }
  if (spec.gpus < 1 || spec.gpus > 1024) {
    problems.push_back({{}, "cluster.gpus", "expected 1 to 1024 per node, found " + std::to_string(spec.gpus)});
    throw InputError(problems);
  }
  if (nodes * spec.gpus > max_chips) {
    problems.push_back({{}, "cluster.nodes", "expected at most " + std::to_string(max_chips) + " GPUs in all"});
  }
  if (spec.gpus > 1 && spec.switch_rate < 1) {
    problems.push_back({{}, "cluster.switch_rate", "expected the rate of a GPU into the switch of its node"});
  }
  if (nodes > 1) check_network(spec, problems);
  if (!problems.empty()) throw InputError(problems);
}

class NodesFabric : public Fabric {
 public:
  explicit NodesFabric(const ClusterSpec& spec)
      : links_(spec.chip, spec.nodes),
        gpus_(static_cast<std::uint32_t>(spec.nodes.gpus)),
        hashed_(spec.nodes.uplinks > 1) {
    std::uint32_t stride = links_.chips();
    for (const int extent : spec.nodes.nodes)
      strides_.push_back({stride /= static_cast<std::uint32_t>(extent), extent});
    strides_.push_back({1, spec.nodes.gpus});
  }

  void set_faults(LinkStates states) {
    faulty_ = links_of(states);
    states_ = std::move(states);
  }
  [[nodiscard]] const NodesLinks& links_of_nodes() const { return links_; }

  [[nodiscard]] std::size_t vertices() const override { return links_.vertices(); }
  [[nodiscard]] Vertex vertex(VertexId id) const override { return links_.vertex(id); }
  [[nodiscard]] std::size_t links() const override { return links_.links(); }
  [[nodiscard]] GraphLink link(LinkId id) const override {
    GraphLink link = links_.link(id);
    apply(states_, id, link);
    return link;
  }
  void along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const override {
    const auto [stride, extent] = strides_[static_cast<std::size_t>(axis)];
    const int at = static_cast<int>(from / stride % static_cast<std::uint32_t>(extent));
    const int to = ((at + hops) % extent + extent) % extent;
    if (to != at) links_.route(from, from + static_cast<std::uint32_t>(to - at) * stride, links);
  }
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const override {
    WeightedRoute one;
    links_.route(from, to, one.links);
    return {one};
  }
  [[nodiscard]] std::vector<LinkId> faulty_links() const override { return faulty_; }
  [[nodiscard]] std::uint32_t host_of(ChipId chip) const override { return chip / gpus_; }
  [[nodiscard]] std::vector<std::string> ports() const override { return links_.ports(); }
  [[nodiscard]] std::optional<Cable> cable(ChipId chip, std::uint32_t port) const override {
    return links_.cable(chip, port);
  }
  [[nodiscard]] std::optional<LinkOwner> owner(LinkId link) const override { return links_.owner(link); }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> edges_between_places() const override {
    return links_.edges_between_places();
  }
  [[nodiscard]] bool ways_differ() const override { return hashed_; }

 private:
  struct Stride {
    std::uint32_t of = 1;
    int extent = 1;
  };

  NodesLinks links_;
  std::uint32_t gpus_;
  bool hashed_;
  std::vector<Stride> strides_;
  LinkStates states_;
  std::vector<LinkId> faulty_;
};

std::vector<HardwareAxis> axes_of(const NodesSpec& spec) {
  static const std::vector<std::string> names{"node", "unit", "pod"};
  std::vector<HardwareAxis> axes;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    axes.push_back({names[spec.nodes.size() - 1 - i], spec.nodes[i], spec.nodes[i] > 1, true});
  }
  axes.push_back({"device", spec.gpus, spec.gpus > 1, true});
  return axes;
}

int diameter(const NodesLinks& links) {
  std::size_t longest = 0;
  for (ChipId to = links.chips() - std::min(links.chips(), links.chips() / links.nodes()); to < links.chips(); ++to) {
    std::vector<LinkId> route;
    if (to != 0) links.route(0, to, route);
    longest = std::max(longest, route.size());
  }
  return static_cast<int>(longest);
}

}  // namespace

Cluster build_nodes(const ClusterSpec& spec) {
  check(spec);
  auto fabric = std::make_unique<NodesFabric>(spec);
  const NodesLinks& links = fabric->links_of_nodes();
  Cluster::Parts parts;
  parts.spec = spec;
  parts.axes = axes_of(spec.nodes);
  parts.hosts = static_cast<int>(links.nodes());
  parts.host_places = links.places() - links.chips();
  parts.routes_are_words = true;
  parts.bisection = links.bisection();
  parts.diameter = diameter(links);
  fabric->set_faults(find_faults(spec, parts.axes, *fabric));
  parts.fabric = std::move(fabric);
  return Cluster(std::move(parts));
}

}  // namespace stepsim
