#include "topology/nodes_links.h"

#include <algorithm>
#include <numeric>

#include "sim/input_error.h"
#include "sim/int128.h"
#include "topology/partition.h"

namespace stepsim {

namespace {

constexpr std::array<const char*, 6> own_ports{"nvlink up", "nvlink down", "pcie up",
                                               "pcie down", "nic up",      "nic down"};

enum Port : std::uint32_t { nvlink_up, nvlink_down, pcie_up, pcie_down, nic_up, nic_down, first_tier_port };

std::string tier_name(std::size_t tier) {
  static constexpr std::array names{"leaf", "spine", "core"};
  return tier < names.size() ? names.at(tier) : "tier " + std::to_string(tier + 1);
}

/// Steele, Lea & Flood 2014 (SplitMix64): every bit of the input moves every bit of the output.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The smaller half of so many.
double half_of(std::uint32_t parts) {
  const std::uint32_t half = parts / 2;
  return half;
}

}  // namespace

NodesLinks::NodesLinks(const ChipSpec& chip, const NodesSpec& spec) : chip_(chip), spec_(spec) {
  for (const int extent : spec.nodes) nodes_ *= static_cast<std::uint32_t>(extent);
  const bool alone = nodes_ == 1;
  const LinkId nvlinks = gpus() > 1 ? 2 * chips() : 0;
  const LinkId pcie = !alone && chip.pcie_rate > 0 ? 2 * chips() : 0;
  first_pcie_ = nvlinks;
  first_nic_ = nvlinks + pcie;
  links_ = first_nic_ + (alone ? 0 : 2 * nodes_ * nics());
  first_node_switch_ = chips();
  first_nic_vertex_ = first_node_switch_ + (gpus() > 1 ? nodes_ : 0);
  vertices_ = first_nic_vertex_ + (alone ? 0 : nodes_ * nics());
  places_ = chips() + (alone ? 0 : nodes_ * nics());
  if (!alone) make_tiers();
}

void NodesLinks::make_tiers() {
  const std::size_t count = spec_.nodes.size();
  std::uint32_t below = 1;
  std::uint32_t port = first_tier_port;
  for (std::size_t t = 0; t < count; ++t) {
    below *= static_cast<std::uint32_t>(spec_.nodes[count - 1 - t]);
    Tier tier;
    tier.name = tier_name(t);
    tier.nodes_below = below;
    tier.groups = nodes_ / below;
    const bool railed = spec_.wiring == Wiring::rail_only || (spec_.wiring == Wiring::rail_optimised && t == 0);
    tier.planes = railed ? nics() : 1;
    if (t + 1 < count) tier.uplinks = static_cast<std::uint32_t>(std::max(spec_.uplinks, 1));
    tier.first_place = places_;
    tier.first_link = static_cast<LinkId>(links_);
    tier.first_port = port;
    tier.first_vertex = static_cast<VertexId>(vertices_);
    places_ += tier.switches();
    links_ += std::size_t{2} * tier.switches() * tier.uplinks;
    port += 2 * tier.uplinks;
    vertices_ += tier.switches();
    tiers_.push_back(tier);
  }
  rate_tiers();
}

/// What comes into a switch from below, divided by its oversubscription, goes up.
void NodesLinks::rate_tiers() {
  Int128 rate = Int128{spec_.nic_rate} * nics() / tiers_[0].planes * tiers_[0].nodes_below;
  for (std::size_t t = 0; t + 1 < tiers_.size(); ++t) {
    const Ratio by = t < spec_.oversubscription.size() ? spec_.oversubscription[t] : Ratio{};
    rate = rate * by.over / by.times;
    if (rate / tiers_[t].uplinks > max_capacity) {
      throw InputError("cluster.nodes", "the ways up of one " + tiers_[t].name + " carry more than " +
                                            std::to_string(max_capacity / 1'000'000'000'000) +
                                            " TB/s: expected smaller groups, or more tiers");
    }
    tiers_[t].rate = static_cast<std::int64_t>(rate / tiers_[t].uplinks);
    rate = rate * (tiers_[t + 1].nodes_below / tiers_[t].nodes_below) * (tiers_[t].planes / tiers_[t + 1].planes);
  }
}

std::uint32_t NodesLinks::rail_of(ChipId chip) const {
  return chip % gpus() * nics() / gpus();
}

std::uint32_t NodesLinks::switch_at(const Tier& tier, ChipId chip) const {
  return node_of(chip) / tier.nodes_below * tier.planes + (tier.planes > 1 ? rail_of(chip) : 0);
}

const NodesLinks::Tier& NodesLinks::tier_of(LinkId id) const {
  const auto above = std::find_if(tiers_.begin(), tiers_.end(), [&](const Tier& tier) { return tier.first_link > id; });
  return *std::prev(above);
}

GraphLink NodesLinks::own_link(LinkId id) const {
  const bool nvlink = id < first_pcie_;
  const LinkId index = nvlink ? id : id - first_pcie_;
  const ChipId chip = index / 2;
  const bool up = index % 2 == 0;
  const VertexId other = nvlink ? first_node_switch_ + node_of(chip) : first_nic_vertex_ + nic_of(chip);
  const Picoseconds latency = nvlink ? (up ? spec_.switch_latency : Picoseconds()) : chip_.pcie_latency;
  return {up ? chip : other, up ? other : chip, nvlink ? spec_.switch_rate : chip_.pcie_rate, latency,
          own_ports.at((nvlink ? nvlink_up : pcie_up) + (up ? 0 : 1))};
}

GraphLink NodesLinks::nic_link(LinkId id) const {
  const LinkId nic = (id - first_nic_) / 2;
  const bool up = (id - first_nic_) % 2 == 0;
  const ChipId chip = nic / nics() * gpus() + nic % nics() * (gpus() / nics());
  const VertexId below = first_nic_vertex_ + nic;
  const VertexId leaf = tiers_[0].first_vertex + switch_at(tiers_[0], chip);
  return {up ? below : leaf, up ? leaf : below, spec_.nic_rate, up ? spec_.nic_latency : Picoseconds(),
          own_ports.at(up ? nic_up : nic_down)};
}

GraphLink NodesLinks::link(LinkId id) const {
  if (id < first_nic_) return own_link(id);
  if (tiers_.empty() || id < tiers_[0].first_link) return nic_link(id);
  const Tier& tier = tier_of(id);
  const Tier& above = *(&tier + 1);
  const LinkId index = id - tier.first_link;
  const std::uint32_t at = index / 2 / tier.uplinks;
  const bool up = index % 2 == 0;
  const std::uint32_t groups_joined = above.nodes_below / tier.nodes_below;
  const VertexId lower = tier.first_vertex + at;
  const VertexId upper =
      above.first_vertex + at / tier.planes / groups_joined * above.planes + (above.planes > 1 ? at % tier.planes : 0);
  return {up ? lower : upper, up ? upper : lower, tier.rate, up ? spec_.tier_latency : Picoseconds(),
          tier.name + (up ? " up" : " down")};
}

LinkOwner NodesLinks::owner(LinkId id) const {
  if (id < first_pcie_) return {id / 2, nvlink_up + id % 2};
  if (id < first_nic_) return {(id - first_pcie_) / 2, pcie_up + (id - first_pcie_) % 2};
  if (tiers_.empty() || id < tiers_[0].first_link) {
    return {chips() + (id - first_nic_) / 2, nic_up + (id - first_nic_) % 2};
  }
  const Tier& tier = tier_of(id);
  const LinkId index = id - tier.first_link;
  return {tier.first_place + index / 2 / tier.uplinks, tier.first_port + index % (2 * tier.uplinks)};
}

std::vector<std::string> NodesLinks::ports() const {
  std::vector<std::string> names(own_ports.begin(), own_ports.end());
  for (const Tier& tier : tiers_) {
    for (std::uint32_t k = 0; k < tier.uplinks; ++k) {
      const std::string number = tier.uplinks > 1 ? " " + std::to_string(k) : "";
      names.push_back(tier.name + " up" + number);
      names.push_back(tier.name + " down" + number);
    }
  }
  return names;
}

std::optional<Fabric::Cable> NodesLinks::cable(ChipId chip, std::uint32_t port) const {
  const auto both = [&](LinkId up) { return Fabric::Cable{up + port % 2, up + 1 - port % 2}; };
  if (port <= nvlink_down) return gpus() > 1 ? std::optional(both(2 * chip)) : std::nullopt;
  if (port <= pcie_down) return first_nic_ > first_pcie_ ? std::optional(both(first_pcie_ + 2 * chip)) : std::nullopt;
  if (tiers_.empty()) return std::nullopt;
  if (port <= nic_down) return both(first_nic_ + 2 * nic_of(chip));
  for (const Tier& tier : tiers_) {
    if (port >= tier.first_port + 2 * tier.uplinks) continue;
    const std::uint32_t k = (port - tier.first_port) / 2;
    return both(tier.first_link + 2 * (switch_at(tier, chip) * tier.uplinks + k));
  }
  return std::nullopt;
}

Vertex NodesLinks::vertex(VertexId id) const {
  if (id < chips()) {
    return {VertexKind::chip, "gpu " + std::to_string(node_of(id)) + "." + std::to_string(id % gpus()), id};
  }
  if (id < first_nic_vertex_) {
    return {VertexKind::nvlink_switch, "node " + std::to_string(id - first_node_switch_) + " switch"};
  }
  if (tiers_.empty() || id < tiers_[0].first_vertex) {
    const std::uint32_t nic = id - first_nic_vertex_;
    return {VertexKind::nic, "nic " + std::to_string(nic / nics()) + "." + std::to_string(nic % nics())};
  }
  const Tier* own = &tiers_[0];
  for (const Tier& tier : tiers_) {
    if (tier.first_vertex <= id) own = &tier;
  }
  const std::uint32_t at = id - own->first_vertex;
  std::string name = own->name;
  if (own->groups > 1) name += " " + std::to_string(at / own->planes);
  if (own->planes > 1) name += " rail " + std::to_string(at % own->planes);
  return {VertexKind::network_switch, name};
}

std::size_t NodesLinks::meeting_tier(ChipId from, ChipId to) const {
  std::size_t t = 0;
  while (t < tiers_.size() && switch_at(tiers_[t], from) != switch_at(tiers_[t], to)) ++t;
  return t;
}

std::uint32_t NodesLinks::uplink(const Tier& tier, ChipId from, ChipId to) const {
  if (tier.uplinks == 1) return 0;
  const std::uint64_t pair = (std::uint64_t{from} << 32) | to;
  return static_cast<std::uint32_t>(mixed(mixed(spec_.ecmp_seed + tier.first_port) ^ mixed(pair)) % tier.uplinks);
}

/// Rails that no spine joins meet in the nodes.
bool NodesLinks::relays() const {
  if (spec_.wiring == Wiring::leaf_spine) return false;
  return spec_.cross_rail == CrossRail::pxn || spec_.wiring == Wiring::rail_only || tiers_.size() == 1;
}

void NodesLinks::route(ChipId from, ChipId to, std::vector<LinkId>& links) const {
  if (node_of(from) == node_of(to)) {
    links.insert(links.end(), {2 * from, 2 * to + 1});
    return;
  }
  if (relays() && rail_of(from) != rail_of(to)) {
    const ChipId relay = node_of(from) * gpus() + to % gpus();
    links.insert(links.end(), {2 * from, 2 * relay + 1});
    from = relay;
  }
  through_network(from, to, links);
}

void NodesLinks::through_network(ChipId from, ChipId to, std::vector<LinkId>& links) const {
  const bool pcie = first_nic_ > first_pcie_;
  const std::size_t top = meeting_tier(from, to);
  if (pcie) links.push_back(first_pcie_ + 2 * from);
  links.push_back(first_nic_ + 2 * nic_of(from));
  for (std::size_t t = 0; t < top; ++t) {
    const Tier& tier = tiers_[t];
    links.push_back(tier.first_link + 2 * (switch_at(tier, from) * tier.uplinks + uplink(tier, from, to)));
  }
  for (std::size_t t = top; t-- > 0;) {
    const Tier& tier = tiers_[t];
    links.push_back(tier.first_link + 2 * (switch_at(tier, to) * tier.uplinks + uplink(tier, from, to)) + 1);
  }
  links.push_back(first_nic_ + 2 * nic_of(to) + 1);
  if (pcie) links.push_back(first_pcie_ + 2 * to + 1);
}

std::vector<std::vector<std::uint32_t>> NodesLinks::edges_between_places() const {
  std::vector<std::uint32_t> above(places_, no_node);
  std::vector<std::uint32_t> next(places_, no_node);  // within the node: a relay is found from the sender
  for (ChipId chip = 0; chip < chips(); ++chip) {
    next[chip] = node_of(chip) * gpus() + (chip + 1) % gpus();
    if (tiers_.empty()) continue;
    above[chip] = chips() + nic_of(chip);
    above[above[chip]] = tiers_[0].first_place + switch_at(tiers_[0], chip);
    for (std::size_t t = 0; t + 1 < tiers_.size(); ++t) {
      above[tiers_[t].first_place + switch_at(tiers_[t], chip)] =
          tiers_[t + 1].first_place + switch_at(tiers_[t + 1], chip);
    }
  }
  if (relays()) return {above, next};
  return {above};
}

double NodesLinks::bisection() const {
  if (tiers_.empty()) return half_of(gpus()) * static_cast<double>(spec_.switch_rate);
  const double injection = static_cast<double>(nics()) * static_cast<double>(spec_.nic_rate);
  for (std::size_t t = tiers_.size(); t-- > 0;) {
    const std::uint32_t parts = t == 0 ? tiers_[0].nodes_below : tiers_[t].nodes_below / tiers_[t - 1].nodes_below;
    if (parts < 2) continue;
    const double half = half_of(parts);
    if (t == 0) return half * injection;
    const Tier& below = tiers_[t - 1];
    const double up = static_cast<double>(below.planes) * below.uplinks * static_cast<double>(below.rate);
    return half * std::min(up, below.nodes_below * injection);
  }
  return 0;
}

}  // namespace stepsim
