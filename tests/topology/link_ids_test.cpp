// Links computed from their ids, against the definition of a torus written as loops over coordinates.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <tuple>

#include "chips.h"
#include "topology/torus_shape.h"

namespace stepsim::testing {
namespace {

using ::testing::ElementsAre;

ClusterSpec what_if(std::vector<int> shape, std::vector<bool> wraps, int slices = 1) {
  ClusterSpec spec = torus(v5p(), std::move(shape), slices);
  spec.wraps = std::move(wraps);
  return spec;
}

// Open, wrapped and both; extents of 1 and 2; one slice and several.
std::vector<ClusterSpec> odd_shapes() {
  return {what_if({1, 1, 1}, {true, false, true}),
          what_if({2, 1, 3}, {true, true, false}),
          what_if({2, 2, 2}, {false, true, false}),
          what_if({3, 4, 5}, {false, false, false}),
          what_if({3, 4, 5}, {true, false, true}),
          what_if({5, 3, 2}, {false, true, false}, 3),
          what_if({1, 7, 1}, {false, false, false}, 2),
          torus(v5e(), {4, 16}, 2),
          torus(v5p(), {4, 4, 4})};
}

std::string name_of(const ClusterSpec& spec) {
  std::string name = std::to_string(spec.slices) + " of " + shape_text(spec.shape);
  for (const bool wraps : spec.wraps) name += wraps ? " ring" : " line";
  return name;
}

using Ends = std::tuple<VertexId, VertexId, std::string>;  // from, to, kind

/// For every chip and every axis of the slice a link up and down, but for the ends of an axis that does not wrap.
std::multiset<Ends> ici_by_definition(const Cluster& cluster) {
  std::multiset<Ends> links;
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    for (std::size_t axis = 0; axis < cluster.axes().size(); ++axis) {
      const HardwareAxis& hardware = cluster.axes()[axis];
      if (hardware.name == "dcn" || hardware.extent == 1) continue;
      for (const int direction : {1, -1}) {
        std::vector<int> at = cluster.coordinates(chip);
        at[axis] += direction;
        if (!hardware.wraps && (at[axis] < 0 || at[axis] == hardware.extent)) continue;
        at[axis] = (at[axis] + hardware.extent) % hardware.extent;
        links.insert({chip, cluster.chip_at(at), "ici " + hardware.name + (direction > 0 ? "+" : "-")});
      }
    }
  }
  return links;
}

TEST(LinkIds, AreDenseAndMeanTheLinksOfATorus) {
  for (const ClusterSpec& spec : odd_shapes()) {
    SCOPED_TRACE(name_of(spec));
    const Cluster cluster = build(spec);
    std::multiset<Ends> ici;
    std::size_t others = 0;
    for (LinkId id = 0; id < cluster.links(); ++id) {
      const GraphLink link = cluster.link(id);
      if (!link.kind.starts_with("ici")) {
        ++others;
        continue;
      }
      ici.insert({link.from, link.to, link.kind});
      EXPECT_EQ(link.capacity, spec.chip.link_rate);
      EXPECT_EQ(link.latency, spec.chip.link_latency);
    }
    EXPECT_EQ(ici, ici_by_definition(cluster));
    EXPECT_EQ(others, spec.slices == 1 ? 0U : 2 * (cluster.chips() + static_cast<std::size_t>(cluster.hosts())));
    EXPECT_THROW((void)cluster.link(static_cast<LinkId>(cluster.links())), std::out_of_range);
  }
}

TEST(LinkIds, EveryLinkIsTheOnlyOneOfItsPortAtItsPlace) {
  for (const ClusterSpec& spec : odd_shapes()) {
    SCOPED_TRACE(name_of(spec));
    const Cluster cluster = build(spec);
    ASSERT_TRUE(cluster.routes_are_words());
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (LinkId id = 0; id < cluster.links(); ++id) {
      const GraphLink link = cluster.link(id);
      const LinkOwner owner = cluster.owner(id);
      EXPECT_TRUE(seen.insert({owner.place, owner.port}).second);
      EXPECT_LT(owner.place, cluster.places());
      const std::string port = cluster.port_name(owner.port);
      EXPECT_EQ(link.kind, port.size() == 2 ? "ici " + port : port);
      if (port == "pcie down") {
        EXPECT_EQ(owner.place, link.to);
      } else if (port.starts_with("dcn")) {
        const VertexId host = port == "dcn up" ? link.from : link.to;
        EXPECT_EQ(cluster.vertex(host).name, "host " + std::to_string(owner.place - cluster.chips()));
      } else {
        EXPECT_EQ(owner.place, link.from);
      }
    }
  }
}

TEST(LinkIds, PortsOfIciAreTwiceTheAxisAndOneDownward) {
  for (const ClusterSpec& spec : odd_shapes()) {
    const Cluster cluster = build(spec);
    for (int axis = 0; axis < static_cast<int>(cluster.axes().size()); ++axis) {
      const HardwareAxis& hardware = cluster.axes()[static_cast<std::size_t>(axis)];
      if (hardware.direct || !hardware.wraps) continue;
      for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
        const auto port = static_cast<std::uint32_t>(2 * axis);
        EXPECT_EQ(cluster.owner(cluster.along(chip, axis, 1).at(0)), (LinkOwner{chip, port}));
        EXPECT_EQ(cluster.owner(cluster.along(chip, axis, -1).at(0)), (LinkOwner{chip, port + 1}));
      }
    }
  }
}

TEST(LinkIds, StepsFollowTheLinks) {
  for (const ClusterSpec& spec : odd_shapes()) {
    SCOPED_TRACE(name_of(spec));
    const Cluster cluster = build(spec);
    for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
      for (int axis = 0; axis < static_cast<int>(cluster.axes().size()); ++axis) {
        for (const int hops : {-7, -2, -1, 0, 1, 2, 3}) {
          const HardwareAxis& hardware = cluster.axes()[static_cast<std::size_t>(axis)];
          std::vector<int> at = cluster.coordinates(chip);
          int& place = at[static_cast<std::size_t>(axis)];
          place += hops;
          if (!hardware.wraps && (place < 0 || place >= hardware.extent)) {
            EXPECT_THROW((void)cluster.step(chip, axis, hops), std::out_of_range);
            EXPECT_THROW((void)cluster.along(chip, axis, hops), std::out_of_range);
            continue;
          }
          place = ((place % hardware.extent) + hardware.extent) % hardware.extent;
          ASSERT_EQ(cluster.step(chip, axis, hops), cluster.chip_at(at));
          ASSERT_TRUE(connects(cluster, cluster.along(chip, axis, hops), chip, cluster.chip_at(at)));
        }
      }
    }
  }
}

TEST(LinkIds, AlongAppends) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}));
  std::vector<LinkId> links = cluster.along(5, 0, 1);
  cluster.along(5, 1, 2, links);
  EXPECT_THAT(links, ElementsAre(cluster.along(5, 0, 1)[0], cluster.along(5, 1, 2)[0], cluster.along(5, 1, 2)[1]));
}

// Hosts of 2x2x1 on 3x3: one of four chips, two of two, one of one; each slice anew. NICs have their chips' shares.
TEST(LinkIds, HostsMayBeCutAtTheEnds) {
  const Cluster cluster = build(what_if({3, 3, 1}, {false, false, false}, 2));
  EXPECT_EQ(cluster.hosts(), 8);
  EXPECT_EQ(cluster.places(), cluster.chips() + 8);
  std::vector<std::uint32_t> hosts;
  for (ChipId chip = 0; chip < 9; ++chip) {
    hosts.push_back(cluster.host_of(chip));
    EXPECT_EQ(cluster.host_of(chip + 9), cluster.host_of(chip) + 4);
  }
  EXPECT_THAT(hosts, ElementsAre(0, 0, 1, 0, 0, 1, 2, 2, 3));
  std::map<std::uint32_t, std::int64_t> chips_by_nic;
  for (ChipId chip = 0; chip < 18; ++chip) {
    const std::vector<LinkId> route = cluster.along(chip, 0, 1);
    EXPECT_EQ(cluster.owner(route[0]).place, chip);
    EXPECT_EQ(cluster.owner(route[1]).place, 18 + cluster.host_of(chip));
    EXPECT_EQ(cluster.owner(route[2]).place, 18 + cluster.host_of(cluster.step(chip, 0, 1)));
    EXPECT_EQ(cluster.owner(route[3]).place, cluster.step(chip, 0, 1));
    ++chips_by_nic[route[1]];
  }
  for (const auto& [nic, chips] : chips_by_nic) EXPECT_EQ(cluster.link(nic).capacity, chips * 6'250'000'000);
}

TEST(LinkIds, OneSliceHasHostsButNoPlacesForThem) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}));
  EXPECT_EQ(cluster.places(), 64U);
  EXPECT_EQ(cluster.vertices(), 64U);
  EXPECT_EQ(cluster.host_of(63), 15U);
}

TEST(LinkIds, LinksOfAPcieHostBelongToNoPort) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.chip.pcie_rate = 1'000'000'000;
  spec.devices = 4;
  const Cluster cluster = build(spec);
  EXPECT_FALSE(cluster.routes_are_words());
  EXPECT_THROW((void)cluster.owner(0), std::logic_error);
  EXPECT_EQ(cluster.places(), 4U);
  EXPECT_EQ(cluster.step(3, 0, 2), 1U);
}

TEST(LinkIds, DirectAxesAreMarked) {
  const Cluster cluster = build(torus(v5p(), {4, 4, 4}, 2));
  EXPECT_TRUE(cluster.axes()[0].direct);
  EXPECT_FALSE(cluster.axes()[1].direct);
}

// 64 slices of 16x16x32: 6 ICI links and 2 PCIe links a chip, 2 NIC links a host of 4. Nothing is listed.
TEST(LinkIds, HalfAMillionChips) {
  const Cluster cluster = build(torus(v5p(), {16, 16, 32}, 64));
  EXPECT_EQ(cluster.chips(), 524'288U);
  EXPECT_EQ(cluster.links(), 524'288U * 8 + 524'288 / 4 * 2);
  const ChipId last = cluster.chips() - 1;
  EXPECT_EQ(cluster.link(cluster.along(last, 1, 1)[0]).to, last - 15 * 16 * 32);
  EXPECT_EQ(cluster.vertex(last).name, "slice 63 chip 15,15,31");
}

}  // namespace
}  // namespace stepsim::testing
