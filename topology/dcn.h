// dcn.h: the data-center network that joins slices.
//
// A transfer goes chip -> PCIe -> host -> NIC -> network -> NIC -> host -> PCIe -> chip. Each chip has a PCIe link to
// its host, each host a NIC whose rate is the chip's share times the chips on it; the network itself never blocks
// (one switch vertex). Streaming is cut-through, so the slowest of the four links decides. The NIC's up link carries
// the network's whole latency. Source: "How To Scale Your Model", chapter 2 (path and egress per chip).
#pragma once

#include <vector>

#include "topology/builders.h"

namespace stepsim {

/// Links of the way out and in, per chip; chips of one host share their NIC's two links.
struct DcnLinks {
  std::vector<LinkId> pcie_up;
  std::vector<LinkId> pcie_down;
  std::vector<LinkId> nic_up;
  std::vector<LinkId> nic_down;
};

/// Links on the way between chips of two slices.
inline constexpr int dcn_route_links = 4;

/// Adds hosts, NICs and the network to the parts. host_of: per chip, hosts counted from 0.
DcnLinks add_dcn(Cluster::Parts& parts, const std::vector<int>& host_of);

std::vector<LinkId> dcn_route(const DcnLinks& dcn, ChipId from, ChipId to);

}  // namespace stepsim
