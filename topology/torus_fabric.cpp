#include "topology/torus_fabric.h"

#include <set>

namespace stepsim {

namespace {

// Ports of the two axes' worth that "dcn" has, owned by the host.
constexpr std::uint32_t nic_up_port = 0;
constexpr std::uint32_t nic_down_port = 1;

}  // namespace

TorusFabric::TorusFabric(const ClusterSpec& spec, const std::vector<bool>& wraps, const Twists& twists)
    : chip_(spec.chip),
      shape_(spec.shape),
      hosts_(spec.chip, spec.shape, spec.slices),
      ways_(TorusLinks(spec.shape, wraps, spec.slices, twists)) {
  chips_ = ici().chips_per_slice() * static_cast<ChipId>(spec.slices);
  if (spec.slices > 1) dcn_.emplace(spec.chip, hosts_, chips_, ici().size());
}

void TorusFabric::set_faults(LinkStates states) {
  faults_ = std::move(states);
  std::vector<LinkId> down;
  for (const auto& [link, state] : faults_) {
    if (state.down) down.push_back(link);
  }
  std::set<std::string> reported;
  std::vector<Problem> problems;
  for (const LinkId link : ways_.take_down(down)) {
    const TorusLinks::Sender sender = ici().sender(link);
    const std::string key = faults_.at(link).key;
    if (!reported.insert(key).second) continue;
    problems.push_back({{},
                        key,
                        vertex(sender.chip).name + " cannot reach " +
                            vertex(ici().neighbour(sender.chip, sender.port)).name +
                            ": with the links that are down, no way is left inside the slice"});
  }
  if (!problems.empty()) throw InputError(problems);
}

std::size_t TorusFabric::vertices() const {
  return chips_ + (dcn_ ? dcn_->vertices() : 0);
}

Vertex TorusFabric::vertex(VertexId id) const {
  if (id >= chips_) return dcn_->vertex(id);
  const ChipId slice = id / ici().chips_per_slice();
  std::string name = dcn_ ? "slice " + std::to_string(slice) + " chip " : "chip ";
  for (int axis = 0; axis < ici().axes(); ++axis) {
    name += (axis == 0 ? "" : ",") + std::to_string(ici().coordinate(id, axis));
  }
  return {VertexKind::chip, name, id};
}

std::size_t TorusFabric::links() const {
  return ici().size() + (dcn_ ? dcn_->size() : 0);
}

GraphLink TorusFabric::link(LinkId id) const {
  GraphLink link;
  if (id < ici().size()) {
    const TorusLinks::Sender sender = ici().sender(id);
    link = {sender.chip, ici().neighbour(sender.chip, sender.port), chip_.link_rate, chip_.link_latency,
            "ici " + torus_port_name(sender.port)};
  } else {
    link = dcn_->link(id);
  }
  apply(faults_, id, link);
  return link;
}

void TorusFabric::along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const {
  if (axis >= slice_axes()) return ways_.along(from, axis - slice_axes(), hops, links);
  const ChipId per_slice = ici().chips_per_slice();
  const int slices = static_cast<int>(chips_ / per_slice);
  const int slice = static_cast<int>(from / per_slice);
  const int to_slice = ((slice + hops) % slices + slices) % slices;
  if (to_slice == slice) return;
  dcn_->route(from, from % per_slice + per_slice * static_cast<ChipId>(to_slice), links);
}

std::vector<WeightedRoute> TorusFabric::routes(ChipId from, ChipId to) const {
  if (from / ici().chips_per_slice() == to / ici().chips_per_slice()) return ways_.routes(from, to);
  WeightedRoute route;
  dcn_->route(from, to, route.links);
  return {route};
}

std::vector<std::string> TorusFabric::ports() const {
  std::vector<std::string> names;
  if (dcn_) names = {"dcn up", "dcn down"};
  for (int port = 0; port < ici().ports(); ++port) names.push_back(torus_port_name(port));
  if (dcn_) names.insert(names.end(), {"pcie up", "pcie down"});
  return names;
}

std::optional<Fabric::Cable> TorusFabric::cable(ChipId chip, std::uint32_t port) const {
  if (dcn_ && (port < 2 || port >= pcie_port())) {
    const LinkId nic_up = dcn_->nic_up(hosts_.host_of(chip));
    const LinkId nic_down = dcn_->nic_down(hosts_.host_of(chip));
    if (port == nic_up_port) return Cable{nic_up, nic_down};
    if (port == nic_down_port) return Cable{nic_down, nic_up};
    if (port == pcie_port()) return Cable{dcn_->pcie_up(chip), dcn_->pcie_down(chip)};
    return Cable{dcn_->pcie_down(chip), dcn_->pcie_up(chip)};
  }
  const int ici_port = static_cast<int>(port) - 2 * slice_axes();
  const int opposite = ici_port % 2 == 0 ? ici_port + 1 : ici_port - 1;
  if (!ici().has(chip, ici_port)) return std::nullopt;
  return Cable{ici().id(chip, ici_port), ici().id(ici().neighbour(chip, ici_port), opposite), true};
}

std::optional<LinkOwner> TorusFabric::owner(LinkId link) const {
  if (link < ici().size()) {
    const TorusLinks::Sender sender = ici().sender(link);
    return LinkOwner{sender.chip, static_cast<std::uint32_t>(2 * slice_axes() + sender.port)};
  }
  const DcnLinks::Owner owner = dcn_->owner(link);
  switch (owner.port) {
    case DcnLinks::Port::pcie_up:
      return LinkOwner{owner.number, pcie_port()};
    case DcnLinks::Port::pcie_down:
      return LinkOwner{owner.number, pcie_port() + 1};
    case DcnLinks::Port::nic_up:
      return LinkOwner{chips_ + owner.number, nic_up_port};
    case DcnLinks::Port::nic_down:
      return LinkOwner{chips_ + owner.number, nic_down_port};
  }
  return std::nullopt;
}

}  // namespace stepsim
