#include "topology/dcn.h"

namespace stepsim {

DcnLinks::DcnLinks(const ChipSpec& chip, const HostGrid& hosts, ChipId chips, LinkId first)
    : chip_(chip), hosts_(hosts), chips_(chips), first_(first) {}

DcnLinks::Owner DcnLinks::owner(LinkId id) const {
  const LinkId index = id - first_;
  if (index < chips_) return {Port::pcie_up, index};
  if (index < 2 * chips_) return {Port::pcie_down, index - chips_};
  const LinkId nic = index - 2 * chips_;
  if (nic < hosts_.hosts()) return {Port::nic_up, nic};
  return {Port::nic_down, nic - hosts_.hosts()};
}

GraphLink DcnLinks::link(LinkId id) const {
  const Owner owner = this->owner(id);
  const VertexId network = chips_;
  const VertexId first_host = network + 1;
  if (owner.port == Port::pcie_up || owner.port == Port::pcie_down) {
    const VertexId host = first_host + hosts_.host_of(owner.number);
    if (owner.port == Port::pcie_up) return {owner.number, host, chip_.pcie_rate, chip_.pcie_latency, "pcie up"};
    return {host, owner.number, chip_.pcie_rate, chip_.pcie_latency, "pcie down"};
  }
  const VertexId host = first_host + owner.number;
  const std::int64_t rate = chip_.dcn_rate_per_chip * hosts_.chips_on(owner.number);
  if (owner.port == Port::nic_up) return {host, network, rate, chip_.dcn_latency, "dcn up"};
  return {network, host, rate, Picoseconds(), "dcn down"};
}

Vertex DcnLinks::vertex(VertexId id) const {
  if (id == chips_) return {VertexKind::network_switch, "dcn"};
  return {VertexKind::host, "host " + std::to_string(id - chips_ - 1)};
}

void DcnLinks::route(ChipId from, ChipId to, std::vector<LinkId>& links) const {
  links.insert(links.end(), {pcie_up(from), nic_up(hosts_.host_of(from)), nic_down(hosts_.host_of(to)), pcie_down(to)});
}

}  // namespace stepsim
