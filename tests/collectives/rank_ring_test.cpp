// Rings over ranks by the cluster's routes. On a star of 1 GB/s each way a byte takes a nanosecond, so that times are bytes
// and latencies in nanoseconds. Laws: Patarasuk & Yuan 2009; pipelined chains: Thakur, Rabenseifner & Gropp 2005.
#include "collectives/rank_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

using enum CollectiveKind;
using Order = std::vector<std::uint32_t>;

constexpr Picoseconds ns{1'000};
constexpr std::int64_t byte_per_ns = 1'000'000'000;

CollectiveSpec ring(CollectiveKind kind, std::uint32_t n, Bytes bytes) {
  return {.kind = kind, .shape = {line_of(static_cast<int>(n))}, .bytes = bytes, .algorithm = "ring"};
}

std::vector<Star> star(std::int64_t latency = 0) {
  return {{byte_per_ns, ns * latency}};
}

/// As if each channel had links of its own to a switch of its own.
TransferPattern on_own_links(const CollectiveSpec& spec) {
  TransferPattern pattern = pattern_of(spec);
  pattern.port = [port = pattern.port](std::uint32_t member, std::uint32_t channel) {
    Port own = port(member, channel);
    own.axis = static_cast<std::int32_t>(channel);
    return own;
  };
  return pattern;
}

TEST(RankRing, TakesTheTimeOfTheLaw) {
  for (const std::uint32_t n : {2U, 3U, 8U, 13U}) {
    const std::int64_t step = 50 + 1000;
    EXPECT_EQ(play_on_stars(pattern_of(ring(all_reduce, n, 1000 * n)), star(50)).end, ns * (2 * (n - 1) * step)) << n;
    EXPECT_EQ(play_on_stars(pattern_of(ring(all_gather, n, 1000 * n)), star(50)).end, ns * ((n - 1) * step)) << n;
    EXPECT_EQ(play_on_stars(pattern_of(ring(reduce_scatter, n, 1000 * n)), star(50)).end, ns * ((n - 1) * step)) << n;
    EXPECT_EQ(bound_ps(ring(all_reduce, n, 1000 * n), star(50)), 2'000 * (n - 1) * step) << n;
  }
}

// V (n-1)/n per phase over every link of the ring, and a shard is padded to whole bytes: 7,999 bytes are 8 shards of 1,000.
TEST(RankRing, CarriesAShardLessThanTheArrayPerPhase) {
  for (const auto& [kind, phases] :
       {std::pair(all_gather, 1), std::pair(reduce_scatter, 1), std::pair(all_reduce, 2)}) {
    for (const Bytes carried : play_on_stars(pattern_of(ring(kind, 8, 7999)), star()).carried) {
      EXPECT_EQ(carried, phases * 7000) << to_string(kind);
    }
  }
}

// Two channels have half the array each. On the same links they share the rate: without latency the time stays.
TEST(RankRing, ChannelsOnTheSameLinksTakeTheTimeOfOne) {
  CollectiveSpec spec = ring(all_reduce, 4, 8000);
  EXPECT_EQ(play_on_stars(pattern_of(spec), star()).end, ns * 6 * 2000);
  spec.channels = 2;
  EXPECT_EQ(play_on_stars(pattern_of(spec), star()).end, ns * 6 * 2000);
  EXPECT_EQ(play_on_stars(pattern_of(spec), star(50)).end, ns * 6 * 2050) << "they pay their latencies together";
}

// On links of their own their rates add up: V / (n C) takes 1 / (C w). A bound may not assume that they share.
TEST(RankRing, ChannelsOnLinksOfTheirOwnAddUp) {
  for (const std::uint32_t channels : {2U, 4U}) {
    CollectiveSpec spec = ring(all_reduce, 4, 8000);
    spec.channels = channels;
    const std::vector<Star> stars(channels, star(50)[0]);
    EXPECT_EQ(play_on_stars(on_own_links(spec), stars).end, ns * (6 * (2000 / channels + 50)));
    spec.rings = {{0, 1, 2, 3}};
    EXPECT_EQ(play_on_stars(on_own_links(spec), stars).end, ns * (6 * (2000 / channels + 50)));
    EXPECT_EQ(bound_ps(spec, star(50)), 6000 * (2000 / channels + 50)) << "given orders may have links of their own";
  }
}

// The first piece takes n-1 hops, the P-1 others follow it: (n-1) a + (n-2+P) V/P / w.
TEST(RankRing, ChainsArePipelined) {
  for (const CollectiveKind kind : {broadcast, reduce}) {
    CollectiveSpec spec = ring(kind, 5, 1000);
    spec.root = 3;
    EXPECT_EQ(play_on_stars(pattern_of(spec), star(50)).end, ns * (4 * (50 + 1000))) << "in one piece";
    spec.chunk = 100;
    const Played ten = play_on_stars(pattern_of(spec), star(50));
    EXPECT_EQ(ten.end, ns * (4 * 50 + (3 + 10) * 100)) << to_string(kind);
    EXPECT_EQ(ten.transfers, 4U * 10);
    spec.chunk = 1;  // in 64 at most: 63 of 16 bytes
    EXPECT_EQ(play_on_stars(pattern_of(spec), star(50)).end, ns * (4 * 50 + (3 + 63) * 16)) << to_string(kind);
    EXPECT_LE(bound_ps(spec, star(50)), 4000 * 50 + 66'000 * 16);
  }
}

// Every link between root and end carries the array once, none carries more.
TEST(RankRing, ChainsCarryTheArrayOnce) {
  for (const CollectiveKind kind : {broadcast, reduce}) {
    CollectiveSpec spec = ring(kind, 6, 1000);
    spec.root = 4;
    spec.chunk = 100;
    const Played played = play_on_stars(pattern_of(spec), star());
    const std::uint32_t idle_up = kind == broadcast ? 3 : 4;    // the last of the chain: the one before the root
    const std::uint32_t idle_down = kind == broadcast ? 4 : 3;  // a reduction goes the other way: it begins there
    for (std::uint32_t m = 0; m < 6; ++m) {
      EXPECT_EQ(played.carried[star_link(m, 1, 0, false)], m == idle_up ? 0 : 1000) << to_string(kind) << " up " << m;
      EXPECT_EQ(played.carried[star_link(m, 1, 0, true)], m == idle_down ? 0 : 1000)
          << to_string(kind) << " down " << m;
    }
  }
}

TEST(RankRing, RestsOnWhatItMust) {
  for (const std::uint32_t n : {1U, 2U, 6U}) {
    for (const CollectiveKind kind : {all_gather, reduce_scatter, all_reduce, broadcast, reduce}) {
      for (const std::uint32_t node : {1U, 2U}) {
        CollectiveSpec spec = ring(kind, n, 1000);
        spec.channels = 2;
        spec.chunk = 60;
        spec.node = n % 2 == 0 ? node : 1;
        spec.root = n - 1;
        const TransferPlan plan = tabulate(pattern_of(spec));
        check(plan);
        const Causality played = CausalityPlayer(plan).play();
        EXPECT_TRUE(played.finished);
        for (std::uint32_t m = 0; m < n; ++m) {
          if (kind == broadcast) {
            EXPECT_TRUE(played.rests_on[m][spec.root]);
          } else if (kind != reduce || m == spec.root) {
            EXPECT_EQ(played.rests_on[m], std::vector<bool>(n, true)) << to_string(kind) << " " << n << " " << m;
          }
        }
      }
    }
  }
}

std::uint32_t rail_changes(const Order& order, std::uint32_t node, bool closing_only) {
  std::uint32_t changes = 0;
  for (std::size_t i = closing_only ? order.size() - 1 : 0; i < order.size(); ++i) {
    const std::uint32_t next = order[(i + 1) % order.size()];
    if (order[i] / node != next / node && order[i] % node != next % node) ++changes;
  }
  return changes;
}

// Channel 1 on 4 nodes of 4 enters each node on the rail on which it left the last, and closes on the rail it began.
TEST(RankRing, StaysOnARailBetweenNodes) {
  CollectiveSpec spec = ring(all_reduce, 16, 1600);
  spec.node = 4;
  spec.channels = 4;
  EXPECT_EQ(ring_order(spec, 1), (Order{1, 2, 3, 0, 4, 7, 6, 5, 9, 10, 11, 8, 12, 15, 14, 13}));
  for (std::uint32_t nodes = 2; nodes <= 7; ++nodes) {
    spec.shape = {line_of(static_cast<int>(4 * nodes))};
    for (std::uint32_t c = 0; c < 8; ++c) {
      const Order order = ring_order(spec, c);
      Order sorted = order;
      std::sort(sorted.begin(), sorted.end());
      Order all(4U * nodes);
      std::iota(all.begin(), all.end(), 0U);
      EXPECT_EQ(sorted, all) << "every member once";
      EXPECT_EQ(rail_changes(order, 4, false), nodes % 2) << nodes;
      EXPECT_EQ(rail_changes(order, 4, true), nodes % 2) << nodes << ": it is the hop that closes the ring";
    }
  }
}

// As many channels as rails: each leaves a node by a rail of its own.
TEST(RankRing, ChannelsUseAllRails) {
  CollectiveSpec spec = ring(all_reduce, 16, 1600);
  spec.node = 4;
  spec.channels = 4;
  for (std::uint32_t node = 0; node < 4; ++node) {
    std::vector<bool> left_by(4, false);
    for (std::uint32_t c = 0; c < 4; ++c) {
      const Order order = ring_order(spec, c);
      left_by[order[node * 4 + 3] % 4] = true;
    }
    EXPECT_EQ(left_by, std::vector<bool>(4, true)) << node;
  }
}

// Two NICs for four ranks: two channels, two ranks apart, so that each leaves by a NIC of its own.
TEST(RankRing, FewerChannelsStandEvenlyApart) {
  CollectiveSpec spec = ring(all_reduce, 16, 1600);
  spec.node = 4;
  spec.channels = 2;
  for (std::uint32_t node = 0; node < 4; ++node) {
    std::vector<bool> left_by(2, false);
    for (std::uint32_t c = 0; c < 2; ++c) left_by[ring_order(spec, c)[node * 4 + 3] % 4 / 2] = true;
    EXPECT_EQ(left_by, std::vector<bool>(2, true)) << node;
  }
}

TEST(RankRing, TakesRingsThatAreGiven) {
  CollectiveSpec spec = ring(all_reduce, 4, 400);
  spec.rings = {{0, 2, 1, 3}, {3, 1, 2, 0}};
  spec.channels = 3;
  EXPECT_EQ(ring_order(spec, 1), (Order{3, 1, 2, 0}));
  EXPECT_EQ(ring_order(spec, 2), (Order{0, 2, 1, 3}));
  EXPECT_EQ(rank_ring_pattern(spec).port(2, 0).to, 1U);
  for (const Order& broken : {Order{0, 1, 1, 3}, Order{0, 1, 2}, Order{0, 1, 2, 4}, Order{0, 1, 2, 3, 3}}) {
    spec.rings[1] = broken;
    EXPECT_THROW(rank_ring_pattern(spec), InputError);
  }
}

TEST(RankRing, RefusesWhatItDoesNotCover) {
  for (const CollectiveKind kind : {all_to_all, gather, scatter, barrier, point_to_point}) {
    EXPECT_THROW(rank_ring_pattern(ring(kind, 4, 4)), InputError) << to_string(kind);
  }
  CollectiveSpec spec = ring(all_reduce, 6, 6);
  spec.node = 4;
  EXPECT_THROW(rank_ring_pattern(spec), InputError);
  spec = ring(broadcast, 6, 6);
  spec.root = 6;
  EXPECT_THROW(rank_ring_pattern(spec), InputError);
  spec = ring(all_reduce, 6, -1);
  EXPECT_THROW(rank_ring_pattern(spec), InputError);
  spec = ring(all_reduce, 6, 6);
  spec.channels = 0;
  EXPECT_THROW(rank_ring_pattern(spec), InputError);
}

}  // namespace
}  // namespace stepsim
