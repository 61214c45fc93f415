// torus_fabric.h: slices over ICI, joined by the data-center network: links and ways, computed from ids.
//
// ICI links come first, then those of the network. Inside a slice transfers stay on ICI.
#pragma once

#include <optional>

#include "topology/dcn.h"
#include "topology/link_faults.h"
#include "topology/torus_ways.h"

namespace stepsim {

class TorusFabric : public Fabric {
 public:
  TorusFabric(const ClusterSpec& spec, const std::vector<bool>& wraps, const Twists& twists);

  /// InputError on the faults whose links leave chips cut off.
  void set_faults(LinkStates states);

  [[nodiscard]] const HostGrid& hosts() const { return hosts_; }

  [[nodiscard]] std::size_t vertices() const override;
  [[nodiscard]] Vertex vertex(VertexId id) const override;
  [[nodiscard]] std::size_t links() const override;
  [[nodiscard]] GraphLink link(LinkId id) const override;
  void along(ChipId from, int axis, int hops, std::vector<LinkId>& links) const override;
  [[nodiscard]] std::vector<WeightedRoute> routes(ChipId from, ChipId to) const override;
  [[nodiscard]] std::vector<LinkId> faulty_links() const override { return links_of(faults_); }
  [[nodiscard]] std::vector<Detour> detours() const override { return ways_.detours(); }
  [[nodiscard]] std::uint32_t host_of(ChipId chip) const override { return hosts_.host_of(chip); }
  [[nodiscard]] std::vector<std::string> ports() const override;
  [[nodiscard]] std::optional<Cable> cable(ChipId chip, std::uint32_t port) const override;
  [[nodiscard]] std::optional<LinkOwner> owner(LinkId link) const override;

 private:
  [[nodiscard]] const TorusLinks& ici() const { return ways_.links(); }
  // With several slices the axis "dcn" comes before those of the slice.
  [[nodiscard]] int slice_axes() const { return dcn_ ? 1 : 0; }
  [[nodiscard]] std::uint32_t pcie_port() const {
    return static_cast<std::uint32_t>(2 * (slice_axes() + ici().axes()));
  }

  ChipSpec chip_;
  std::vector<int> shape_;
  ChipId chips_ = 0;
  HostGrid hosts_;
  TorusWays ways_;
  std::optional<DcnLinks> dcn_;  // of several slices
  LinkStates faults_;
};

}  // namespace stepsim
