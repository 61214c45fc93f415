#include "collectives/torus_role.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collectives/line.h"
#include "collectives/ring.h"

namespace stepsim {

namespace {

// Collects the runs of each lane, and counts what has come in.
class RoleWriter {
 public:
  RoleWriter(std::uint32_t lanes, std::uint32_t ports) : lanes_(lanes), received_(ports) {}

  // Transfers through `port` at the end of `lane`, after what `flow` says and after all that the `gates` have brought
  // in earlier stages.
  void send(std::uint32_t lane, std::uint32_t port, const AxisFlow& flow, const std::vector<std::uint32_t>& gates) {
    if (flow.sends == 0) return;
    Run run{.port = port, .count = flow.sends, .bytes = flow.bytes, .first_need = next_need()};
    const std::uint32_t stride = flow.receives > 0 ? 1 : 0;
    need(port, received_[port] + stride * flow.ahead, stride, flow.sends);
    for (const std::uint32_t gate : gates) {
      if (gate != port) need(gate, received_[gate], 0, flow.sends);
    }
    run.needs = next_need() - run.first_need;
    lanes_[lane].push_back(run);
  }

  void receive(std::uint32_t port, const AxisFlow& flow) { received_[port] += flow.receives; }

  Role finish() {
    for (const std::vector<Run>& runs : lanes_) {
      role_.lanes.push_back({static_cast<std::uint32_t>(role_.runs.size()), static_cast<std::uint32_t>(runs.size())});
      role_.runs.insert(role_.runs.end(), runs.begin(), runs.end());
    }
    return std::move(role_);
  }

 private:
  [[nodiscard]] std::uint32_t next_need() const { return static_cast<std::uint32_t>(role_.needs.size()); }

  // Leaves out what holds from the start.
  void need(std::uint32_t port, std::uint32_t base, std::uint32_t stride, std::uint32_t count) {
    if (base + stride * (count - 1) == 0) return;
    role_.needs.push_back({port, static_cast<std::int32_t>(base), static_cast<std::int32_t>(stride)});
  }

  Role role_;
  std::vector<std::vector<Run>> lanes_;
  std::vector<std::uint32_t> received_;  // per port, in the stages so far
};

AxisFlows flows(const CollectiveSpec& spec, const AxisStage& stage, std::uint32_t position) {
  const GroupAxis& axis = spec.shape[stage.axis];
  const auto n = static_cast<std::uint32_t>(axis.extent);
  return axis.closed ? ring_flows(n, spec.ring, stage.bundle) : line_flows(n, position, stage.phase, stage.bundle);
}

// What the first transfer of a stage waits for: all ports of this part. An all-reduce turns from reduce-scatter to
// all-gather on one axis; there each direction of a ring may go on by itself if its share of the sum is complete.
std::vector<std::uint32_t> gates(const CollectiveSpec& spec, const PortNumbers& ports, std::size_t part,
                                 std::uint32_t axis, bool turns) {
  const bool alone = turns && spec.shape[axis].closed && gathers_per_direction(spec.ring);
  std::vector<std::uint32_t> gates;
  for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
    if (alone && a == axis) continue;
    for (std::uint32_t d = 0; d < ports.of_axis(a); ++d) gates.push_back(ports.at(part, a, d));
  }
  return gates;
}

// With weighted parts, the port of part 0 stands for the link.
std::uint32_t lane_of(const CollectiveSpec& spec, const PortNumbers& ports, std::uint32_t port) {
  return spec.weighted_parts ? port % ports.per_part() : port;
}

void write_stage(RoleWriter& role, const CollectiveSpec& spec, const PortNumbers& ports, std::size_t number,
                 const std::vector<AxisStage>& part, std::size_t s, const std::vector<std::uint32_t>& position) {
  const std::uint32_t axis = part[s].axis;
  const bool turns = s > 0 && part[s - 1].axis == axis;
  const AxisFlows both = flows(spec, part[s], position[axis]);
  const std::array<AxisFlow, 2> flow{both.up, both.down};
  const std::vector<std::uint32_t> waits = gates(spec, ports, number, axis, turns);
  for (std::uint32_t d = 0; d < ports.of_axis(axis); ++d) {
    const std::uint32_t port = ports.at(number, axis, d);
    role.send(lane_of(spec, ports, port), port, flow[d], waits);
  }
  for (std::uint32_t d = 0; d < ports.of_axis(axis); ++d) role.receive(ports.at(number, axis, d), flow[d]);
}

}  // namespace

Role torus_role(const CollectiveSpec& spec, const PortNumbers& ports, const std::vector<std::vector<AxisStage>>& parts,
                const std::vector<std::uint32_t>& position) {
  const auto all = static_cast<std::uint32_t>(parts.size()) * ports.per_part();
  RoleWriter role(spec.weighted_parts ? std::min(all, ports.per_part()) : all, all);
  const std::size_t count = parts.empty() ? 0 : parts.front().size();
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t p = 0; p < parts.size(); ++p) write_stage(role, spec, ports, p, parts[p], s, position);
  }
  return role.finish();
}

}  // namespace stepsim
