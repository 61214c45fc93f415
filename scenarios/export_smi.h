// export_smi.h: a described host as the matrix that `nvidia-smi topo -m` prints, as import_smi.h reads it.
//
// The matrix says classes: PIX for devices under one PCIe switch, PXB where switches stand one above the other, PHB under
// one host bridge, NODE under one socket, SYS across sockets, NV# for # NVLinks, which hides where a pair is. It has no
// rates (whoever reads it gives them by generation), no switches of one device, no NVSwitches but by counts, no latencies,
// no ports. The CPU affinity column has the number of the socket: CPUs are not known.
#pragma once

#include <string>
#include <vector>

#include "scenarios/export_nccl.h"
#include "topology/graph_spec.h"

namespace stepsim {

ExportedHost export_nvidia_smi(const GraphSpec& graph);

}  // namespace stepsim
