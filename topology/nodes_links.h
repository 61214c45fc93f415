// nodes_links.h: links and ways of nodes of GPUs in a tree of switches, computed from their ids.
//
// A GPU has a link to the switch of its node and back, and one to its NIC and back (PCIe). Above the NICs stand tiers
// of switches: leaves, spines, cores. Where packets are sprayed over all ways up (ideal ECMP), every cable of a bundle
// carries its even share of every flow that takes the bundle, so the bundle is one link with the sum of the rates, and
// the tree of bundles has one way between two GPUs: up to the lowest switch above both, and down. Hashed ECMP sends a
// flow up one cable and down the like-numbered one, chosen by a hash of (seed, sender, receiver, tier).
//
// Every link is the only one of its port at its owner: a GPU (NVLink, PCIe), a NIC, or a switch (its ways up). A way is
// a word over these ports: up through the places above the sender, down through those above the receiver.
// Sources: NVIDIA DGX SuperPOD reference architecture (scalable units of 32 nodes, rails, leaves and spines); "How To
// Scale Your Model", chapter 12; Wang et al. 2023 (rail-only networks).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "topology/builders.h"

namespace stepsim {

class NodesLinks {
 public:
  /// The spec is checked but for rates that no link may have: InputError.
  NodesLinks(const ChipSpec& chip, const NodesSpec& spec);

  [[nodiscard]] std::uint32_t chips() const { return nodes_ * gpus(); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t places() const { return places_; }
  [[nodiscard]] std::size_t links() const { return links_; }
  [[nodiscard]] GraphLink link(LinkId id) const;
  [[nodiscard]] LinkOwner owner(LinkId id) const;
  [[nodiscard]] std::vector<std::string> ports() const;
  [[nodiscard]] std::optional<Fabric::Cable> cable(ChipId chip, std::uint32_t port) const;

  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  [[nodiscard]] Vertex vertex(VertexId id) const;

  void route(ChipId from, ChipId to, std::vector<LinkId>& links) const;

  /// From each place to the one above it: GPU to NIC, NIC to leaf, leaf to spine.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> edges_between_places() const;

  /// Narrowest cut into halves across the outermost axis, bytes/s one way.
  [[nodiscard]] double bisection() const;

 private:
  /// The switches of one tier, from 1 (leaves): `groups` of nodes, each with `planes` of them.
  struct Tier {
    std::uint32_t nodes_below = 1;  // per group
    std::uint32_t groups = 1;
    std::uint32_t planes = 1;
    std::uint32_t uplinks = 0;  // per switch; 0 at the top
    std::int64_t rate = 0;      // of one uplink
    std::uint32_t first_place = 0;
    LinkId first_link = 0;  // per switch: up, down of each uplink in turn
    std::uint32_t first_port = 0;
    VertexId first_vertex = 0;
    std::string name;

    [[nodiscard]] std::uint32_t switches() const { return groups * planes; }
  };

  [[nodiscard]] std::uint32_t gpus() const { return static_cast<std::uint32_t>(spec_.gpus); }
  [[nodiscard]] std::uint32_t nics() const { return static_cast<std::uint32_t>(spec_.nics); }
  [[nodiscard]] std::uint32_t node_of(ChipId chip) const { return chip / gpus(); }
  [[nodiscard]] std::uint32_t rail_of(ChipId chip) const;
  [[nodiscard]] std::uint32_t nic_of(ChipId chip) const { return node_of(chip) * nics() + rail_of(chip); }
  [[nodiscard]] std::uint32_t switch_at(const Tier& tier, ChipId chip) const;
  [[nodiscard]] const Tier& tier_of(LinkId id) const;
  [[nodiscard]] std::size_t meeting_tier(ChipId from, ChipId to) const;  // tiers_.size(): nowhere
  [[nodiscard]] std::uint32_t uplink(const Tier& tier, ChipId from, ChipId to) const;
  [[nodiscard]] GraphLink own_link(LinkId id) const;
  [[nodiscard]] GraphLink nic_link(LinkId id) const;
  [[nodiscard]] bool relays() const;
  void make_tiers();
  void rate_tiers();
  void through_network(ChipId from, ChipId to, std::vector<LinkId>& links) const;

  ChipSpec chip_;
  NodesSpec spec_;
  std::uint32_t nodes_ = 1;
  std::vector<Tier> tiers_;  // leaves first; empty: one node
  // Links: NVLink up, down of each GPU, PCIe up, down of each GPU, NIC up, down of each NIC, then tier by tier.
  LinkId first_pcie_ = 0;
  LinkId first_nic_ = 0;
  std::size_t links_ = 0;
  // Vertices: GPUs, node switches, NICs, switches tier by tier. Places: GPUs, NICs, switches.
  VertexId first_node_switch_ = 0;
  VertexId first_nic_vertex_ = 0;
  std::size_t vertices_ = 0;
  std::uint32_t places_ = 0;
};

}  // namespace stepsim
