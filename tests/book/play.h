// play.h: small systems for the worked answers: a few chips, a few ops, played once by the clock.
//
// Each chip is a class of its own. All return the seconds from the start to the last end.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.h"
#include "sim/simulation.h"
#include "topology/cluster.h"
#include "topology/mesh.h"

namespace stepsim::book {

inline double play_once(const StepProgram& program, const Network& network, LatencyModel latency_model) {
  RunOptions options;
  options.latency_model = latency_model;
  options.exact_steps = 1;
  return to_seconds(simulate(program, network, options).window_end());
}

/// One program per chip, no ops yet.
inline StepProgram programs_of(std::uint32_t chips) {
  StepProgram program;
  program.name("");
  program.programs.resize(chips);
  program.chips_of.assign(chips, 1);
  for (std::uint32_t chip = 0; chip < chips; ++chip) program.program_of.push_back(chip);
  return program;
}

/// Ops of these durations, one after the other on one chip.
inline double play_computes(const std::vector<Picoseconds>& durations) {
  StepProgram program = programs_of(1);
  Op op;
  op.kind = OpKind::compute;
  op.stream = program.stream("compute", true);
  op.ends_step = true;
  for (const Picoseconds duration : durations) {
    op.work = duration;
    program.programs[0].add(op);
  }
  return play_once(program, Network(), LatencyModel::additive);
}

/// A transfer by one chip over these links.
struct Transfer {
  ChipId chip = 0;
  std::vector<LinkId> links;
  Bytes bytes = 0;
};

/// All at once, each on a stream of its own.
inline double play_transfers(const Cluster& cluster, const std::vector<Transfer>& transfers,
                             LatencyModel latency_model = LatencyModel::additive) {
  StepProgram program = programs_of(cluster.chips());
  Network network = cluster.network();
  for (const Transfer& transfer : transfers) {
    Program& of_chip = program.programs[transfer.chip];
    Op op;
    op.kind = OpKind::transfer;
    op.stream = program.stream("send " + std::to_string(of_chip.ops.size()), false);
    op.route = network.add_route(transfer.links);
    op.bytes = transfer.bytes;
    op.ends_step = true;
    of_chip.add(op);
  }
  return play_once(program, network, latency_model);
}

/// bytes between two chips over all of the cluster's routes, split by their weights.
inline void add_message(const Cluster& cluster, ChipId from, ChipId to, Bytes bytes, std::vector<Transfer>& transfers) {
  const std::vector<WeightedRoute> routes = cluster.routes(from, to);
  int weights = 0;
  for (const WeightedRoute& route : routes) weights += route.weight;
  Bytes sent = 0;
  int passed = 0;
  for (const WeightedRoute& route : routes) {
    passed += route.weight;
    const Bytes until = bytes * passed / weights;
    if (until > sent) transfers.push_back({from, route.links, until - sent});
    sent = until;
  }
}

/// Where a port of a plan leads from this chip: a neighbour along an axis of the group, or any chip.
inline RouteId port_route(const Cluster& cluster, Network& network, const std::vector<GroupAxis>& shape, ChipId from,
                          const Port& port, ChipId to) {
  if (port.axis < 0) return network.add_route(cluster.routes(from, to).front().links);
  const GroupAxis& axis = shape[static_cast<std::size_t>(port.axis)];
  return network.add_route(cluster.along(from, axis.hardware_axis, port.direction * axis.hops));
}

/// The plan's ports laid on the cluster, for every chip.
inline std::vector<RouteId> route_table(const Cluster& cluster, Network& network, const CollectiveSpec& spec,
                                        const TransferPlan& plan, const Communicator& communicator) {
  std::vector<RouteId> table(static_cast<std::size_t>(cluster.chips()) * plan.ports, none);
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const std::uint32_t rank = communicator.rank_of[chip];
    const auto members = communicator.members(communicator.group_of[chip]);
    for (std::uint32_t p = 0; p < plan.ports; ++p) {
      const Port& port = plan.port[static_cast<std::size_t>(rank) * plan.ports + p];
      if (port.to == no_member) continue;  // not used
      const ChipId to = members[port.to];
      table[static_cast<std::size_t>(chip) * plan.ports + p] = port_route(cluster, network, spec.shape, chip, port, to);
    }
  }
  return table;
}

inline Communicator communicator_of(const Mesh& mesh, const std::vector<int>& mesh_axes) {
  const Mesh::Groups groups = mesh.groups(mesh_axes);
  return communicator("group", groups.members, groups.group_of, groups.rank_of);
}

/// The same collectives, one after the other, in every group along these mesh axes.
inline double play_collectives(const Cluster& cluster, const Mesh& mesh, const std::vector<int>& mesh_axes,
                               std::vector<CollectiveSpec> specs, LatencyModel latency_model = LatencyModel::additive) {
  StepProgram program = programs_of(cluster.chips());
  Network network = cluster.network();
  program.communicators.push_back(communicator_of(mesh, mesh_axes));
  const StreamId queue = program.stream("queue", false);
  for (CollectiveSpec& spec : specs) {
    spec.shape = mesh.group_shape(mesh_axes);
    const TransferPlan plan = collective_algorithms().at("algorithm", spec.algorithm).make(spec);
    const auto id = static_cast<CollectiveId>(program.collectives.size());
    program.collectives.push_back({0, {id}, id, program.name(to_string(spec.kind)), spec.bytes});
    program.route_tables.push_back(route_table(cluster, network, spec, plan, program.communicators[0]));
    program.plans.push_back(plan);
    Op op;
    op.kind = OpKind::collective;
    op.stream = queue;
    op.collective = id;
    op.ends_step = true;
    for (Program& of_chip : program.programs) of_chip.add(op);
  }
  return play_once(program, network, latency_model);
}

}  // namespace stepsim::book
