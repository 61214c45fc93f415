#include "topology/cluster.h"

#include <stdexcept>

#include "topology/builders.h"

namespace stepsim {

struct Cluster::Impl {
  explicit Impl(Parts given) : parts(std::move(given)), strides(parts.axes.size()), ports(parts.fabric->ports()) {
    for (std::size_t axis = strides.size(); axis-- > 0;) {
      strides[axis] = chips;
      chips *= static_cast<ChipId>(parts.axes[axis].extent);
    }
  }

  [[nodiscard]] const Fabric& fabric() const { return *parts.fabric; }

  Parts parts;
  std::uint32_t chips = 1;
  std::vector<ChipId> strides;  // of chip ids, per axis
  std::vector<std::string> ports;
};

namespace {

void check_axis(const Cluster& cluster, ChipId from, int axis) {
  if (from >= cluster.chips()) throw std::out_of_range("no chip " + std::to_string(from));
  if (axis < 0 || axis >= static_cast<int>(cluster.axes().size())) {
    throw std::out_of_range("no axis " + std::to_string(axis));
  }
}

}  // namespace

Cluster::Cluster(Parts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

const ClusterSpec& Cluster::spec() const {
  return impl_->parts.spec;
}
std::uint32_t Cluster::chips() const {
  return impl_->chips;
}
const std::vector<HardwareAxis>& Cluster::axes() const {
  return impl_->parts.axes;
}
std::size_t Cluster::vertices() const {
  return impl_->fabric().vertices();
}
Vertex Cluster::vertex(VertexId id) const {
  if (id >= vertices()) throw std::out_of_range("no vertex " + std::to_string(id));
  return impl_->fabric().vertex(id);
}
std::size_t Cluster::links() const {
  return impl_->fabric().links();
}
GraphLink Cluster::link(LinkId id) const {
  if (id >= links()) throw std::out_of_range("no link " + std::to_string(id));
  return impl_->fabric().link(id);
}
bool Cluster::routes_are_words() const {
  return impl_->parts.routes_are_words;
}
std::uint32_t Cluster::places() const {
  return impl_->chips + impl_->parts.host_places;
}
std::string Cluster::port_name(std::uint32_t port) const {
  return impl_->ports.at(port);
}
std::vector<LinkId> Cluster::faulty_links() const {
  return impl_->fabric().faulty_links();
}
std::vector<Detour> Cluster::detours() const {
  return impl_->fabric().detours();
}
int Cluster::hosts() const {
  return impl_->parts.hosts;
}
int Cluster::cores() const {
  return static_cast<int>(impl_->chips) * impl_->parts.spec.chip.cores;
}
int Cluster::diameter() const {
  return impl_->parts.diameter;
}
double Cluster::bisection() const {
  return impl_->parts.bisection;
}

std::vector<int> Cluster::coordinates(ChipId chip) const {
  if (chip >= chips()) throw std::out_of_range("no chip " + std::to_string(chip));
  std::vector<int> at(axes().size());
  for (std::size_t axis = at.size(); axis-- > 0;) {
    const auto extent = static_cast<ChipId>(axes()[axis].extent);
    at[axis] = static_cast<int>(chip % extent);
    chip /= extent;
  }
  return at;
}

ChipId Cluster::chip_at(std::span<const int> coordinates) const {
  if (coordinates.size() != axes().size()) throw std::out_of_range("one coordinate per axis is needed");
  ChipId chip = 0;
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    const int extent = axes()[axis].extent;
    if (coordinates[axis] < 0 || coordinates[axis] >= extent) {
      throw std::out_of_range("axis " + axes()[axis].name + " has no coordinate " + std::to_string(coordinates[axis]));
    }
    chip = chip * static_cast<ChipId>(extent) + static_cast<ChipId>(coordinates[axis]);
  }
  return chip;
}

ChipId Cluster::step(ChipId from, int axis, int hops) const {
  check_axis(*this, from, axis);
  const HardwareAxis& hardware = axes()[axis];
  const ChipId stride = impl_->strides[axis];
  const std::int64_t extent = hardware.extent;
  const std::int64_t at = from / stride % static_cast<ChipId>(extent);
  std::int64_t to = at + hops;
  const std::int64_t there = to;
  if (hardware.wraps || hardware.direct) to = (to % extent + extent) % extent;
  if (to < 0 || to >= extent) throw std::out_of_range("past the open end of axis " + hardware.name);
  auto chip = static_cast<ChipId>(from + (to - at) * stride);
  const std::int64_t laps = (there - to) / extent;
  for (std::size_t other = 0; other < hardware.twist.size(); ++other) {
    if (laps == 0 || hardware.twist[other] == 0) continue;
    chip = step(chip, static_cast<int>(other), static_cast<int>(laps * hardware.twist[other]));
  }
  return chip;
}

LinkOwner Cluster::owner(LinkId link) const {
  if (link >= links()) throw std::out_of_range("no link " + std::to_string(link));
  const std::optional<LinkOwner> owner = impl_->fabric().owner(link);
  if (!owner) throw std::logic_error("links of this cluster belong to no port");
  return *owner;
}

std::uint32_t Cluster::host_of(ChipId chip) const {
  if (chip >= chips()) throw std::out_of_range("no chip " + std::to_string(chip));
  return impl_->fabric().host_of(chip);
}

std::vector<std::vector<std::uint32_t>> Cluster::edges_between_places() const {
  return impl_->fabric().edges_between_places();
}

bool Cluster::ways_differ() const {
  return impl_->fabric().ways_differ() || !impl_->fabric().detours().empty();
}

void Cluster::along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const {
  check_axis(*this, from, axis);
  impl_->fabric().along(from, axis, hops, links);
}

std::vector<LinkId> Cluster::along(ChipId from, int axis, int hops) const {
  std::vector<LinkId> links;
  along(from, axis, hops, links);
  return links;
}

std::vector<WeightedRoute> Cluster::routes(ChipId from, ChipId to) const {
  if (from >= chips() || to >= chips()) throw std::out_of_range("no such chip");
  if (from == to) return {WeightedRoute{}};
  return impl_->fabric().routes(from, to);
}

Network Cluster::network() const {
  Network network;
  for (LinkId id = 0; id < links(); ++id) {
    const GraphLink one = link(id);
    network.add_link(one.capacity, one.latency);
  }
  return network;
}

}  // namespace stepsim
