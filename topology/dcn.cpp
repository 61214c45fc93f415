#include "topology/dcn.h"

#include <algorithm>

namespace stepsim {

namespace {

LinkId add(std::vector<GraphLink>& links, GraphLink link) {
  links.push_back(std::move(link));
  return static_cast<LinkId>(links.size() - 1);
}

}  // namespace

DcnLinks add_dcn(Cluster::Parts& parts, const std::vector<int>& host_of) {
  const ChipSpec& chip = parts.spec.chip;
  const int hosts = *std::max_element(host_of.begin(), host_of.end()) + 1;
  std::vector<int> chips_on(static_cast<std::size_t>(hosts), 0);
  for (const int host : host_of) ++chips_on[host];

  const auto network = static_cast<VertexId>(parts.vertices.size());
  parts.vertices.push_back({VertexKind::network_switch, "dcn"});
  const VertexId first_host = network + 1;
  std::vector<LinkId> nic_up;
  std::vector<LinkId> nic_down;
  for (int host = 0; host < hosts; ++host) {
    const VertexId vertex = first_host + static_cast<VertexId>(host);
    parts.vertices.push_back({VertexKind::host, "host " + std::to_string(host)});
    const std::int64_t rate = chip.dcn_rate_per_chip * chips_on[host];
    nic_up.push_back(add(parts.links, {vertex, network, rate, chip.dcn_latency, "dcn up"}));
    nic_down.push_back(add(parts.links, {network, vertex, rate, Picoseconds(), "dcn down"}));
  }

  DcnLinks dcn;
  for (ChipId id = 0; id < host_of.size(); ++id) {
    const VertexId host = first_host + static_cast<VertexId>(host_of[id]);
    dcn.pcie_up.push_back(add(parts.links, {id, host, chip.pcie_rate, chip.pcie_latency, "pcie up"}));
    dcn.pcie_down.push_back(add(parts.links, {host, id, chip.pcie_rate, chip.pcie_latency, "pcie down"}));
    dcn.nic_up.push_back(nic_up[host_of[id]]);
    dcn.nic_down.push_back(nic_down[host_of[id]]);
  }
  return dcn;
}

std::vector<LinkId> dcn_route(const DcnLinks& dcn, ChipId from, ChipId to) {
  return {dcn.pcie_up[from], dcn.nic_up[from], dcn.nic_down[to], dcn.pcie_down[to]};
}

}  // namespace stepsim
