// One line of chips stands for all: the rates are those of the definition, all chips sending at once.
#include "scenarios/link_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

namespace stepsim {
namespace {

ClusterSpec slices(std::vector<int> shape, std::vector<bool> wraps, int count, std::vector<int> host = {2, 2, 1}) {
  ClusterSpec spec;
  spec.kind = "torus";
  spec.shape = std::move(shape);
  spec.wraps = std::move(wraps);
  spec.slices = count;
  spec.chip.axes = 3;
  spec.chip.host_shape = std::move(host);
  spec.chip.link_rate = 90'000'000'000;
  spec.chip.link_latency = Picoseconds(1'000'001);
  spec.chip.pcie_rate = 16'000'000'000;
  spec.chip.pcie_latency = Picoseconds(77);
  spec.chip.dcn_rate_per_chip = 6'250'000'001;
  spec.chip.dcn_latency = Picoseconds(10'000'000);
  return spec;
}

ClusterSpec host(std::vector<int> per_switch, int root_complexes, bool peer_to_peer) {
  ClusterSpec spec;
  spec.kind = "pcie";
  spec.devices = 8;
  spec.devices_per_switch = std::move(per_switch);
  spec.root_complexes = root_complexes;
  spec.peer_to_peer = peer_to_peer;
  spec.chip.pcie_rate = 32'000'000'000;
  spec.host_memory_rate = 80'000'000'000;
  spec.root_complex_rate = 30'000'000'000;
  return spec;
}

/// Every chip of the cluster sends one step each way it uses; the narrowest share of a link is the rate.
LinkRates::Step by_definition(const Cluster& cluster, const GroupAxis& axis, bool both_ways) {
  std::map<LinkId, int> flows;
  std::vector<std::vector<LinkId>> routes;
  for (ChipId chip = 0; chip < cluster.chips(); ++chip) {
    const int place = cluster.coordinates(chip)[static_cast<std::size_t>(axis.hardware_axis)];
    const int digit = place / axis.hops % axis.extent;
    if (axis.closed || digit + 1 < axis.extent) routes.push_back(cluster.along(chip, axis.hardware_axis, axis.hops));
    if (both_ways && (axis.closed || digit > 0)) {
      routes.push_back(cluster.along(chip, axis.hardware_axis, -axis.hops));
    }
  }
  LinkRates::Step step{std::numeric_limits<double>::infinity(), 0};
  for (const auto& route : routes) {
    for (const LinkId link : route) ++flows[link];
  }
  for (const auto& route : routes) {
    double latency = 0;
    for (const LinkId link : route) {
      step.rate = std::min(step.rate, static_cast<double>(cluster.link(link).capacity) / flows[link]);
      latency += to_seconds(cluster.link(link).latency);
    }
    step.latency = std::max(step.latency, latency);
  }
  return step;
}

TEST(LinkRates, AreThoseOfTheDefinition) {
  const std::vector<ClusterSpec> specs = {slices({4, 4, 4}, {true, true, true}, 1),
                                          slices({4, 6, 2}, {true, false, true}, 1),
                                          slices({4, 2, 4}, {false, true, false}, 4),
                                          slices({3, 3, 1}, {false, false, false}, 6),  // hosts of 4, 2 and 1 chips
                                          slices({2, 2, 2}, {false, false, false}, 8, {1, 2, 4}),
                                          host({2, 2, 2, 2}, 2, true),
                                          host({}, 1, false),
                                          host({5, 3}, 1, true)};
  for (const ClusterSpec& spec : specs) {
    const Cluster cluster = build(spec);
    for (const bool both_ways : {false, true}) {
      LinkRates rates(cluster, both_ways);
      for (int hardware = 0; hardware < static_cast<int>(cluster.axes().size()); ++hardware) {
        const HardwareAxis& axis = cluster.axes()[static_cast<std::size_t>(hardware)];
        for (int extent = 2; extent <= axis.extent; ++extent) {
          for (int hops = 1; hops * extent <= axis.extent; ++hops) {
            if (axis.extent % (extent * hops) != 0) continue;
            const GroupAxis digit{hardware, extent, hops, axis.wraps && extent * hops == axis.extent};
            const LinkRates::Step expected = by_definition(cluster, digit, both_ways);
            EXPECT_EQ(rates.step(digit).rate, expected.rate) << axis.name << " " << extent << "@" << hops;
            EXPECT_EQ(rates.step(digit).latency, expected.latency) << axis.name << " " << extent << "@" << hops;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepsim
