// dcn.h: the data-center network that joins slices.
//
// A transfer goes chip -> PCIe -> host -> NIC -> network -> NIC -> host -> PCIe -> chip. Each chip has a PCIe link to
// its host, each host a NIC whose rate is the chip's share times the chips on it; the network itself never blocks
// (one switch vertex). Streaming is cut-through, so the slowest of the four links decides. The NIC's up link carries
// the network's whole latency. Source: "How To Scale Your Model", chapter 2 (path and egress per chip).
// Vertices after the chips: the network, then the hosts. Links count PCIe up, PCIe down (by chip), NIC up, NIC down
// (by host).
#pragma once

#include "topology/host_grid.h"

namespace stepsim {

/// Links on the way between chips of two slices.
inline constexpr int dcn_route_links = 4;

class DcnLinks {
 public:
  /// The LinkIds begin at `first`.
  DcnLinks(const ChipSpec& chip, const HostGrid& hosts, ChipId chips, LinkId first);

  [[nodiscard]] LinkId size() const { return 2 * chips_ + 2 * hosts_.hosts(); }
  [[nodiscard]] LinkId pcie_up(ChipId chip) const { return first_ + chip; }
  [[nodiscard]] LinkId pcie_down(ChipId chip) const { return first_ + chips_ + chip; }
  [[nodiscard]] LinkId nic_up(std::uint32_t host) const { return first_ + 2 * chips_ + host; }
  [[nodiscard]] LinkId nic_down(std::uint32_t host) const { return nic_up(host) + hosts_.hosts(); }

  [[nodiscard]] GraphLink link(LinkId id) const;

  enum class Port { pcie_up, pcie_down, nic_up, nic_down };
  struct Owner {
    Port port = Port::pcie_up;
    std::uint32_t number = 0;  // of the chip or the host
  };
  [[nodiscard]] Owner owner(LinkId id) const;

  [[nodiscard]] std::size_t vertices() const { return 1 + hosts_.hosts(); }
  [[nodiscard]] Vertex vertex(VertexId id) const;

  void route(ChipId from, ChipId to, std::vector<LinkId>& links) const;

 private:
  ChipSpec chip_;
  HostGrid hosts_;
  ChipId chips_ = 0;
  LinkId first_ = 0;
};

}  // namespace stepsim
