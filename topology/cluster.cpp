#include "topology/cluster.h"

#include <stdexcept>

#include "topology/builders.h"
#include "topology/link_graph.h"

namespace stepsim {

struct Cluster::Impl {
  explicit Impl(Parts given) : parts(std::move(given)) {
    for (const HardwareAxis& axis : parts.axes) chips *= static_cast<std::uint32_t>(axis.extent);
  }

  Parts parts;
  std::uint32_t chips = 1;
};

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
const std::vector<Vertex>& Cluster::vertices() const {
  return impl_->parts.vertices;
}
const std::vector<GraphLink>& Cluster::links() const {
  return impl_->parts.links;
}
const LinkGraph& Cluster::graph() const {
  return *impl_->parts.graph;
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

std::vector<LinkId> Cluster::along(ChipId from, int axis, int hops) const {
  if (from >= chips()) throw std::out_of_range("no chip " + std::to_string(from));
  if (axis < 0 || axis >= static_cast<int>(axes().size())) throw std::out_of_range("no axis " + std::to_string(axis));
  return impl_->parts.along(from, axis, hops);
}

std::vector<WeightedRoute> Cluster::routes(ChipId from, ChipId to) const {
  if (from >= chips() || to >= chips()) throw std::out_of_range("no such chip");
  if (from == to) return {WeightedRoute{}};
  return impl_->parts.routes(from, to);
}

Network Cluster::network() const {
  Network network;
  for (const GraphLink& link : links()) network.add_link(link.capacity, link.latency);
  return network;
}

}  // namespace stepsim
