// flow_list.h: plays a list of flows with given start times on the bare link engine, without programs or streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flows.h"
#include "sim/network.h"

namespace stepsim {

struct ListedFlow {
  RouteId route = 0;
  Bytes bytes = 0;
  Picoseconds at{};
};

struct PlayedFlows {
  std::vector<std::int64_t> drained;  // ps, per flow
  std::vector<LinkUse> links;
};

/// Flows that start at one instant are started in the order of the list.
inline PlayedFlows play_flows(const Network& network, const std::vector<ListedFlow>& list) {
  constexpr std::uint32_t flow_end = 0;
  constexpr std::uint32_t start = 1;
  EventQueue queue;
  Flows flows(network, queue, flow_end);
  PlayedFlows played;
  played.drained.assign(list.size(), -1);
  for (std::uint32_t i = 0; i < list.size(); ++i) queue.push({.time = list[i].at, .kind = start, .a = i});
  std::vector<std::uint32_t> listed_as;  // [FlowId]
  std::vector<QueuedEvent> batch;
  std::vector<FlowId> ended;
  while (!queue.empty()) {
    queue.take_instant(batch);
    std::stable_sort(batch.begin(), batch.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
    for (const QueuedEvent& event : batch) {
      if (event.kind == flow_end) {
        flows.finish_due(event, ended);
        for (const FlowId id : ended) played.drained[listed_as[id]] = event.time.count();
      } else {
        const FlowId id = flows.start(list[event.a].route, list[event.a].bytes);
        if (id >= listed_as.size()) listed_as.resize(id + 1);
        listed_as[id] = event.a;
      }
    }
    flows.settle();
  }
  played.links = flows.link_use();
  return played;
}

}  // namespace stepsim
