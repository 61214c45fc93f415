// nodes_collectives_test.cpp: collectives on networks of nodes against closed forms worked out by hand, in time and in
// bytes per link. H100 nodes of 8: 450 GB/s into the node's switch, a NIC of 50 GB/s per GPU, no latency.
#include <gtest/gtest.h>

#include "tests/scenarios/nodes_play.h"

namespace stepsim::testing {
namespace {

using enum CollectiveKind;

constexpr std::int64_t us = 1'000'000;  // ps

ClusterSpec rails(std::vector<int> nodes, int gpus = 8) {
  return without_latency(nodes_of(gpus, std::move(nodes), gpus));
}

CollectiveSpec spec_of(CollectiveKind kind, const std::string& algorithm, Bytes bytes) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.algorithm = algorithm;
  spec.bytes = bytes;
  return spec;
}

/// Every pair of the N members sends c bytes.
CollectiveSpec pairs_of(const std::string& algorithm, Bytes members, Bytes c) {
  return spec_of(all_to_all, algorithm, members * members * c);
}

/// Shares are rounded down to 1/27720 byte/s, ends up to a picosecond.
void expect_time(const PlayedOnNodes& played, double ps) {
  EXPECT_NEAR(static_cast<double>(played.time.count()), ps, 10);
}

// --- Rings -----------------------------------------------------------------------------------------------------------

// n GPUs, 8 rings: a shard of a ring is V/8n, and each hop carries 2 (n-1) of them. Between nodes a ring has a NIC to
// itself, 50 GB/s; inside, at most 7 rings leave a GPU, at 450/7 = 64 GB/s or more each, so that the NICs set the pace:
// T = 2 (n-1) V/8n / 50 GB/s, and the bus bandwidth V/T 2 (n-1)/n is 8 x 50 GB/s. A shard of 50 kB takes 1 us.
constexpr Bytes shard = 50'000;

PlayedOnNodes play_rings(const ClusterSpec& cluster, Bytes gpus) {
  return play_on_nodes(cluster, spec_of(all_reduce, "ring", gpus * 8 * shard));
}

double bus_bandwidth(const PlayedOnNodes& played, double gpus) {
  return gpus * 8 * static_cast<double>(shard) / (static_cast<double>(played.time.count()) * 1e-12) * 2 * (gpus - 1) /
         gpus;
}

TEST(RingsOnNodes, EvenNodesStayOnTheirRails) {
  for (const int nodes : {4, 16}) {
    SCOPED_TRACE(nodes);
    const Bytes n = 8 * nodes;
    const PlayedOnNodes played = play_rings(rails({nodes}), n);
    EXPECT_EQ(played.time, Picoseconds(2 * (n - 1) * us));
    EXPECT_NEAR(bus_bandwidth(played, static_cast<double>(n)), 400e9, 1);
    const Bytes hop = 2 * (n - 1) * shard;
    EXPECT_EQ(played.carried.at("nic up"), 8 * nodes * hop) << "8 rings leave every node once";
    EXPECT_EQ(played.carried.at("nvlink up"), 8 * nodes * 7 * hop) << "and make 7 hops in it";
    EXPECT_EQ(played.fullest.at("nvlink up"), 7 * hop);
    EXPECT_EQ(played.fullest.at("nic down"), hop);
  }
}

// Of 3 nodes the last is left on the rail before the one on which the ring began. With one tier of switches that hop goes
// by NVLink to the GPU on the right rail first: all 8 rings leave each GPU of the last node by NVLink, at 450/8 = 56 GB/s,
// still above the NIC's 50.
TEST(RingsOnNodes, OddNodesCloseOverNVLink) {
  const PlayedOnNodes played = play_rings(rails({3}), 24);
  EXPECT_EQ(played.time, Picoseconds(2 * 23 * us));
  const Bytes hop = 2 * 23 * shard;
  EXPECT_EQ(played.carried.at("nic up"), 8 * 3 * hop);
  EXPECT_EQ(played.fullest.at("nic up"), hop);
  EXPECT_EQ(played.carried.at("nvlink up"), 8 * (3 * 7 + 1) * hop);
  EXPECT_EQ(played.fullest.at("nvlink up"), 8 * hop);
  EXPECT_EQ(played.fullest.at("nvlink down"), 8 * hop);
}

// With a spine, the closing hop changes rails there. Of 3 x 3 nodes, rings cross units three times, and the closing hop
// is one of these: the leaves carry no more than they would.
TEST(RingsOnNodes, OddNodesCloseOverTheSpine) {
  const PlayedOnNodes played = play_rings(rails({3, 3}), 72);
  EXPECT_EQ(played.time, Picoseconds(2 * 71 * us));
  const Bytes hop = 2 * 71 * shard;
  EXPECT_EQ(played.carried.at("leaf up"), 8 * 3 * hop);
  EXPECT_EQ(played.fullest.at("leaf up"), hop);
  EXPECT_EQ(played.carried.at("nvlink up"), 8 * 9 * 7 * hop);
}

// --- All-to-all ------------------------------------------------------------------------------------------------------

// 2 units of 4 nodes, N = 64, c bytes per pair. A GPU sends 56 c by its NIC. A leaf has 4 GPUs: of what one sends, only
// what goes to its rail in its unit (3 c) stays below the spine, so that 4 x 53 c go up, at 4 x 50 GB/s, or at half of
// that. 56 / 50 against 212 / 200 and 212 / 100.
TEST(AllToAllOnNodes, OversubscribedLeavesHoldUpWhatCrossesTheSpine) {
  constexpr Bytes c = 100'000;
  for (const std::string algorithm : {"pairwise", "direct"}) {
    SCOPED_TRACE(algorithm);
    const PlayedOnNodes full = play_on_nodes(rails({2, 4}), pairs_of(algorithm, 64, c));
    const PlayedOnNodes half = play_on_nodes(oversubscribed(rails({2, 4}), 2), pairs_of(algorithm, 64, c));
    expect_time(full, 112 * us);
    expect_time(half, 212 * us);
    for (const PlayedOnNodes& played : {full, half}) {
      EXPECT_EQ(played.carried.at("leaf up"), 64 * 53 * c);
      EXPECT_EQ(played.fullest.at("leaf up"), 4 * 53 * c);
      EXPECT_EQ(played.fullest.at("leaf down"), 4 * 53 * c);
      EXPECT_EQ(played.fullest.at("nic up"), 56 * c);
    }
  }
}

// By NVLink to the right rail first, only what goes to the other unit climbs: of the 8 GPUs of a node to the 4 there on
// the rail, 32 c for each of 4 nodes. 56 / 50 against 128 / 200 and 128 / 100.
TEST(AllToAllOnNodes, RelaysSpareTheSpine) {
  constexpr Bytes c = 100'000;
  const CollectiveSpec spec = pairs_of("pairwise", 64, c);
  const PlayedOnNodes full = play_on_nodes(relaying(rails({2, 4})), spec);
  const PlayedOnNodes half = play_on_nodes(oversubscribed(relaying(rails({2, 4})), 2), spec);
  expect_time(full, 112 * us);
  expect_time(half, 128 * us);
  EXPECT_EQ(half.carried.at("leaf up"), 64 * 32 * c);
  EXPECT_EQ(half.fullest.at("leaf up"), 4 * 32 * c);
  EXPECT_EQ(half.fullest.at("nvlink up"), (7 + 7 * 7) * c) << "to 7 in the node, and for 7 rails of 7 other nodes";
}

// Between like places of 4 units: all of it crosses the spine, at half the rate.
TEST(AllToAllOnNodes, OverUnitsTakesTwiceAsLongAtTwoToOne) {
  constexpr Bytes c = 100'000;
  const CollectiveSpec spec = pairs_of("pairwise", 4, c);
  expect_time(play_on_nodes(rails({4, 4}), spec, {"unit"}), 6 * us);
  expect_time(play_on_nodes(oversubscribed(rails({4, 4}), 2), spec, {"unit"}), 12 * us);
}

// 4 nodes of 4: what is for another rail of another node, 9 c of each GPU, goes by NVLink to its rail. A NIC then sends
// what 4 GPUs have for 3 others: 12 c, as many as with a spine.
TEST(AllToAllOnNodes, RailsAloneRelayOverNVLink) {
  constexpr Bytes c = 100'000;
  const ClusterSpec alone = without_latency(nodes_of(4, {4}, 4, Wiring::rail_only));
  const PlayedOnNodes played = play_on_nodes(alone, pairs_of("pairwise", 16, c));
  expect_time(played, 24 * us);
  EXPECT_EQ(played.fullest.at("nic up"), 12 * c);
  EXPECT_EQ(played.carried.at("nic up"), 16 * 12 * c);
  EXPECT_EQ(played.fullest.at("nvlink up"), (3 + 9) * c);
  EXPECT_EQ(played.carried.at("nvlink down"), 16 * (3 + 9) * c);
}

// 4 nodes of 8: to each of 7 in the node 4 c, then to each of 3 on the rail 8 c: 28 c / 450 + 24 c / 50 GB/s.
TEST(AllToAllOnNodes, HierarchicalSendsFewerMessagesAndAsManyBytes) {
  constexpr Bytes c = 450'000;
  const PlayedOnNodes direct = play_on_nodes(rails({4}), pairs_of("pairwise", 32, c), {}, false);
  const PlayedOnNodes phased = play_on_nodes(rails({4}), pairs_of("hierarchical", 32, c), {}, false);
  EXPECT_EQ(direct.transfers, 32U * 31);
  EXPECT_EQ(phased.transfers, 32U * (7 + 3));
  expect_time(direct, 216 * us);
  expect_time(phased, (28 + 216) * us);
  for (const PlayedOnNodes& played : {direct, phased}) {
    EXPECT_EQ(played.carried.at("nic up"), 32 * 24 * c);
    EXPECT_EQ(played.carried.at("nvlink up"), 32 * 28 * c) << "relays move as much inside as the first phase";
  }
}

// --- In the network --------------------------------------------------------------------------------------------------

// 8 members, 64 pieces p of each shard. First 7 pulls leave each member alone, then 63 times 7 pulls and a multicast, then
// the last multicast of each of 7 others comes in: (7 + 63 x 8 + 7) p against V = 8 x 64 p.
TEST(InNetworkOnANode, AllReduceTakesTheArrayOnce) {
  constexpr Bytes piece = 450'000;
  CollectiveSpec spec = spec_of(all_reduce, "in-network", 8 * 64 * piece);
  spec.chunk = piece;
  const PlayedOnNodes played = play_on_nodes(rails({1}), spec);
  expect_time(played, (7 + 63 * 8 + 7) * us);
  EXPECT_EQ(played.fullest.at("nvlink up"), spec.bytes);
  EXPECT_EQ(played.fullest.at("nvlink down"), spec.bytes);
  EXPECT_EQ(played.classes, 1U);
}

// 4 nodes of 8, 64 pieces q of each rail's eighth. On the NIC a piece takes 9 us, in the node 8: the NICs set the pace,
// between 7 pulls of the first piece and 7 multicasts of the last. The array crosses NVLink once each way, an eighth of
// it each NIC. A ring takes 2 x 31/32 of V / 400 GB/s.
TEST(InNetworkOnRails, AllReduceTakesTheArrayOnce) {
  constexpr Bytes piece = 450'000;
  CollectiveSpec spec = spec_of(all_reduce, "in-network-rails", 8 * 64 * piece);
  spec.chunk = piece;
  const PlayedOnNodes played = play_on_nodes(rails({4}), spec);
  expect_time(played, (7 + 64 * 9 + 7) * us);
  EXPECT_EQ(played.fullest.at("nvlink up"), spec.bytes);
  EXPECT_EQ(played.fullest.at("nvlink down"), spec.bytes);
  EXPECT_EQ(played.fullest.at("nic up"), spec.bytes / 8);
  EXPECT_EQ(played.fullest.at("nic down"), spec.bytes / 8);
  EXPECT_EQ(played.classes, 1U);
  const PlayedOnNodes ring = play_on_nodes(rails({4}), spec_of(all_reduce, "ring", spec.bytes));
  expect_time(ring, 2 * 31.0 / 32 * 576 * us);
}

// 2 units of 4 nodes: leaves add up before the spine does, so that what goes up from a leaf is what one NIC sends.
// Oversubscription 4 to 1 then costs nothing.
TEST(InNetworkOnRails, LeavesAddUpBeforeTheSpine) {
  constexpr Bytes piece = 450'000;
  CollectiveSpec spec = spec_of(all_reduce, "in-network-rails", 8 * 16 * piece);
  spec.chunk = piece;
  const PlayedOnNodes full = play_on_nodes(rails({2, 4}), spec);
  const PlayedOnNodes quarter = play_on_nodes(oversubscribed(rails({2, 4}), 4), spec);
  expect_time(full, (7 + 16 * 9 + 7) * us);
  expect_time(quarter, (7 + 16 * 9 + 7) * us);
  EXPECT_EQ(full.fullest.at("leaf up"), spec.bytes / 8);
  EXPECT_EQ(full.fullest.at("leaf down"), spec.bytes / 8);
  EXPECT_EQ(full.fullest.at("nic up"), spec.bytes / 8);
  const PlayedOnNodes whole = play_on_nodes(rails({2, 4}), spec, {}, false);
  EXPECT_EQ(whole.time, full.time);
  EXPECT_EQ(whole.carried, full.carried);
}

// --- 4,096 GPUs ------------------------------------------------------------------------------------------------------

// 16 units of 32 nodes of 8, 1 GiB. Nodes of a unit differ by where they stand in it (what leaves the unit climbs to the
// spine), GPUs of a node do not differ.
TEST(FatTreeOf4096, AllReduceIsBoundByTheNics) {
  constexpr Bytes gib = Bytes{1} << 30;
  const PlayedOnNodes played = play_on_nodes(rails({16, 32}), spec_of(all_reduce, "ring", gib));
  expect_time(played, 2 * 4095 * (static_cast<double>(gib) / 4096 / 8) / 50e9 * 1e12);
  EXPECT_LE(played.classes, 32U);
}

// Each has 1 GiB for all; 4,088 of 4,096 parts leave by its NIC. In two phases, 7 x 512 parts go to the node first.
TEST(FatTreeOf4096, AllToAllIsBoundByTheNics) {
  constexpr Bytes part = (Bytes{1} << 30) / 4096;
  const double by_nic = 4088 * static_cast<double>(part) / 50e9 * 1e12;
  const double in_node = 7 * 512 * static_cast<double>(part) / 450e9 * 1e12;
  const PlayedOnNodes direct = play_on_nodes(rails({16, 32}), pairs_of("direct", 4096, part));
  const PlayedOnNodes phased = play_on_nodes(rails({16, 32}), pairs_of("hierarchical", 4096, part));
  expect_time(direct, by_nic);
  expect_time(phased, in_node + by_nic);
  for (const PlayedOnNodes& played : {direct, phased}) {
    EXPECT_EQ(played.classes, 1U);
    EXPECT_EQ(played.fullest.at("nic up"), 4088 * part);
  }
  EXPECT_EQ(direct.transfers, 4095U) << "one GPU is played";
  EXPECT_EQ(phased.transfers, 7U + 511);
}

}  // namespace
}  // namespace stepsim::testing
