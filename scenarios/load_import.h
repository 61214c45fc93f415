// load_import.h: `cluster:` of the kinds that are read from a file of another tool.
//
//   kind: nccl_topology          kind: nvidia_smi
//   file: node.xml               file: topo.txt
//                                pcie_gen: 4
//                                nvlink_gen: 3           # where the matrix has NV#
//                                socket_rate: 22 GB/s    # where it has several sockets
//
// Both become a cluster of kind "links". The file is looked for beside the one that names it, from --set in the
// current folder. What is wrong in it is reported with its own lines.
#pragma once

#include "scenarios/reader.h"
#include "topology/cluster.h"

namespace stepsim {

void read_nccl_topology(Section& cluster, ClusterSpec& spec);
void read_nvidia_smi(Section& cluster, ClusterSpec& spec);

}  // namespace stepsim
