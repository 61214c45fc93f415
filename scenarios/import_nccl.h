// import_nccl.h: a node from an NCCL topology file (NCCL_TOPO_DUMP_FILE), NVIDIA's dialect or RCCL's.
//
//   <system version="1">
//     <cpu numaid arch vendor familyid modelid>             a socket; sockets of one host are joined pair by pair
//       <pci busid class link_speed link_width>             0x0604..: a switch; what is inside hangs from it
//         <gpu dev sm|gcn> <nvlink target count tclass/>    to a GPU (0x03..), the NVSwitches (0x068000), the CPU
//                          <xgmi .../> <c2c bw count/>      (0x068001)
//         <nic> <net name speed/>                           speed in Mb/s; each net is a port with a network behind it
//
// Rates are NCCL's own (nccl_rates.h). All NVSwitches are one vertex, as NCCL has it. GPUs count by `dev` where all have
// different ones, else in the order of the file. Whatever the file leaves open is taken as NCCL takes it and said in
// GraphSpec::notes. Latencies are not in these files: 0.
// Sources: NVIDIA/nccl src/graph/xml.cc, topo.cc; ROCm/rccl tools/topo_expl/models; aws/aws-ofi-nccl topology.
#pragma once

#include <string>

#include "topology/graph_spec.h"

namespace stepsim {

/// name: of the file, for messages. InputError with lines and columns, several at once.
GraphSpec import_nccl_topology(const std::string& text, const std::string& name);

}  // namespace stepsim
