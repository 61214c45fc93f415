// export_nccl.h: a described host as an NCCL topology file, as import_nccl.h reads it.
//
// The file says sockets, PCIe switches, GPUs, NICs and their ports with links of NCCL's rates (nccl_rates.h): PCIe by
// generation and lanes, NVLink and xGMI as a number of links of the GPU's generation, sockets by their processor. It has no
// latencies, no host memory, no staging, one vertex for all NVSwitches, and every GPU in a slot. What of a host it cannot say
// is rounded to the nearest that it can, or left out, and told.
#pragma once

#include <string>
#include <vector>

#include "topology/graph_spec.h"

namespace stepsim {

struct ExportedHost {
  std::string text;
  std::vector<std::string> lost;  // what the format cannot say, for the user to read
};

ExportedHost export_nccl_topology(const GraphSpec& graph);

}  // namespace stepsim
