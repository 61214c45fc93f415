// Flows on shared links: worked cases, and laws that hold for every system. Times in picoseconds; at 1 GB/s a byte
// takes 1000.

#include "sim/flows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "sim/input_error.h"
#include "sim/int128.h"
#include "tests/sim/flow_list.h"
#include "tests/sim/small_program.h"

namespace stepsim {
namespace {

using Times = std::vector<std::int64_t>;

Network links(const std::vector<std::int64_t>& capacities) {
  Network network;
  for (const std::int64_t capacity : capacities) network.add_link(capacity, Picoseconds(0));
  return network;
}

RouteId over(Network& network, const std::vector<LinkId>& route) {
  return network.add_route(std::span<const LinkId>(route));
}

// x: 3000 bytes, y: 1000 bytes, both from 0 over 1 GB/s. Each gets half: y ends at 2000 ns, x has 2000 bytes left and
// the link to itself: 4000 ns.
TEST(Flows, TwoOnOneLinkGetHalfUntilTheShortOneDrains) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  EXPECT_EQ(play_flows(network, {{a, 3000}, {a, 1000}}).drained, (Times{4 * us, 2 * us}));
}

// x, y: 6000 bytes from 0; z: 1000 bytes from 3 us. Until 3 us x and y have 1500 each; three share until z has its 1000
// at 6 us; x and y have 2500, 3500 left at half rate: 13 us.
TEST(Flows, OneJoinsAndLeaves) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  EXPECT_EQ(play_flows(network, {{a, 6000}, {a, 6000}, {a, 1000, ps(3 * us)}}).drained,
            (Times{13 * us, 13 * us, 6 * us}));
}

// A long flow over a, b, c of 9 GB/s against one short on each: all at 4.5 GB/s. Short a (45,000 bytes) ends at 10 us,
// which frees nothing for the long one: b and c still hold it to 4.5. Long and b (90,000) end at 20 us; c has 45,000 of
// 135,000 left at 9 GB/s: 25 us. (Case "parking lot"; Bertsekas & Gallager, "Data Networks", 6.5.2, has the topology.)
TEST(Flows, ParkingLot) {
  Network network = links({9 * GB, 9 * GB, 9 * GB});
  const RouteId all = over(network, {0, 1, 2});
  const RouteId a = over(network, {0});
  const RouteId b = over(network, {1});
  const RouteId c = over(network, {2});
  EXPECT_EQ(play_flows(network, {{all, 90000}, {a, 45000}, {b, 90000}, {c, 135000}}).drained,
            (Times{20 * us, 10 * us, 20 * us, 25 * us}));
}

// a 10, b 4, c 10 GB/s; flows 1: a b, 2: b c, 3: a, 4: c, 5: a c.
// b offers 4/2 = 2 and is the least: 1 and 2 get 2. a and c have 8 left for two each: 3, 4, 5 get 4.
// With 1 MB each and 2 MB for 4: 3 and 5 end at 250 us, when 1 and 2 have half. 1, 2 stay at 2 (b): 500 us. 4 has 1 MB
// left and 8 GB/s: 375 us.
TEST(Flows, TheTightestLinkFreezesItsFlowsFirst) {
  Network network = links({10 * GB, 4 * GB, 10 * GB});
  const RouteId ab = over(network, {0, 1});
  const RouteId bc = over(network, {1, 2});
  const RouteId a = over(network, {0});
  const RouteId c = over(network, {2});
  const RouteId ac = over(network, {0, 2});
  EXPECT_EQ(play_flows(network, {{ab, 1000000}, {bc, 1000000}, {a, 1000000}, {c, 2000000}, {ac, 1000000}}).drained,
            (Times{500 * us, 500 * us, 250 * us, 375 * us, 250 * us}));
}

// Removing a flow may slow another down: f1 on a (10), f2 on a and b, f3 on b (2). f2 and f3 get 1, f1 gets 9. When f3
// (1000 bytes) has gone at 1 us, f2 gets 2 and f1 only 8 GB/s: of its 17,000 bytes 9000 are done, 1 us more.
TEST(Flows, AnEndMaySlowAnotherFlowDown) {
  Network network = links({10 * GB, 2 * GB});
  const RouteId a = over(network, {0});
  const RouteId ab = over(network, {0, 1});
  const RouteId b = over(network, {1});
  EXPECT_EQ(play_flows(network, {{a, 17000}, {ab, 100000}, {b, 1000}}).drained[0], 2 * us);
}

// Alone for 2 us: 4000 of 6000 bytes are left when the other comes. Each has half until the other's 1000 have drained at
// 4 us; 3000 are left then.
TEST(Flows, OneThatWasAloneSharesFromWhenAnotherComes) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  EXPECT_EQ(play_flows(network, {{a, 6000}, {a, 1000, ps(2 * us)}}).drained, (Times{7 * us, 4 * us}));
}

// a 10, b 5, c 1 GB/s: what goes over a and b has 5 with or without what goes over a and c.
TEST(Flows, OneThatWasAloneKeepsItsRateIfTheOtherIsHeldElsewhere) {
  Network network = links({10 * GB, 5 * GB, GB});
  const RouteId ab = over(network, {0, 1});
  const RouteId ac = over(network, {0, 2});
  const auto played = play_flows(network, {{ab, 50000}, {ac, 1000, ps(2 * us)}});
  EXPECT_EQ(played.drained, (Times{10 * us, 3 * us}));
  EXPECT_EQ(played.links[0].peak_flows, 2U);
  EXPECT_EQ(played.links[0].busy, ps(10 * us));
}

// 3000 bytes at 3 GB/s: 1 us alone. The other holds 1 GB/s of them from 0.2 to 0.7 us (500 bytes): 500 / 3 ns later,
// rounded up once.
TEST(Flows, OneThatIsAloneAgainHasLostWhatItShared) {
  Network network = links({3 * GB, GB});
  const RouteId a = over(network, {0});
  const RouteId ab = over(network, {0, 1});
  EXPECT_EQ(play_flows(network, {{a, 3000}, {ab, 500, ps(200 * ns)}}).drained, (Times{us + 166'667, 700 * ns}));
}

TEST(Flows, TwelveEqualFlowsEndTogetherExactly) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  for (std::int64_t k = 1; k <= 12; ++k) {
    const std::vector<ListedFlow> list(static_cast<std::size_t>(k), {a, 5000});
    for (const std::int64_t t : play_flows(network, list).drained) EXPECT_EQ(t, k * 5 * us);
  }
}

// 13 does not divide 27720, so the rate is rounded down: at most a picosecond late, never early, and all alike.
TEST(Flows, ThirteenEqualFlowsEndTogetherWithinAPicosecond) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  const Times drained = play_flows(network, std::vector<ListedFlow>(13, {a, 1000})).drained;
  for (const std::int64_t t : drained) {
    EXPECT_EQ(t, drained[0]);
    EXPECT_GE(t, 13 * us);
    EXPECT_LE(t, 13 * us + 1);
  }
}

TEST(Flows, OneThatNeverSharesTakesTheCeilingOfItsStreamingTime) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t wide = 1 + static_cast<std::int64_t>(random() % max_capacity);
    const std::int64_t narrow = std::max<std::int64_t>(1, wide >> (random() % 20));
    const Bytes bytes = 1 + static_cast<Bytes>(random() % 1'000'000);
    Network network = links({wide, narrow});
    const RouteId both = over(network, {0, 1});
    const Int128 scaled = static_cast<Int128>(bytes) * 1'000'000'000'000;
    const auto expected = static_cast<std::int64_t>(scaled / narrow + (scaled % narrow == 0 ? 0 : 1));
    ASSERT_EQ(play_flows(network, {{both, bytes, ps(17)}}).drained[0], 17 + expected) << bytes << " B, " << narrow;
  }
}

TEST(Flows, LinkUseCountsBytesBusyTimeAndFlowsAtOnce) {
  Network network = links({GB, 2 * GB});
  const RouteId a = over(network, {0});
  const RouteId ab = over(network, {0, 1});
  // Link 0: two flows at half rate until 2 us, the long one alone until 4 us; idle; one more from 10 to 11 us.
  const auto played = play_flows(network, {{a, 3000}, {ab, 1000}, {a, 1000, ps(10 * us)}});
  EXPECT_EQ(played.links[0].bytes, 5000);
  EXPECT_EQ(played.links[0].busy, ps(5 * us));
  EXPECT_EQ(played.links[0].peak_flows, 2U);
  EXPECT_EQ(played.links[1].bytes, 1000);
  EXPECT_EQ(played.links[1].busy, ps(2 * us));
  EXPECT_EQ(played.links[1].peak_flows, 1U);
}

TEST(Flows, AFlowThatStartsWhenAnotherEndsDoesNotShareWithIt) {
  Network network = links({GB});
  const RouteId a = over(network, {0});
  const auto played = play_flows(network, {{a, 1000}, {a, 1000, ps(us)}});
  EXPECT_EQ(played.drained, (Times{us, 2 * us}));
  EXPECT_EQ(played.links[0].peak_flows, 1U);
  EXPECT_EQ(played.links[0].busy, ps(2 * us));
}

// 10 bytes a picosecond. x (2 bytes) has truly drained at 0.4 and ends at 1. y (6 bytes) has 4 left at 0.4 and would be
// done at 0.8 with the link to itself: at 1 it counts as done but for a rest, and the ends of that instant are over.
TEST(Flows, OneThatShouldHaveEndedInTheSamePicosecondEndsInTheNext) {
  Network network = links({10'000 * GB});
  const RouteId a = over(network, {0});
  EXPECT_EQ(play_flows(network, {{a, 2}, {a, 6}}).drained, (Times{1, 2}));
}

TEST(Flows, TotalsThatDoNotFitThrow) {
  Network network = links({max_capacity});
  const RouteId a = over(network, {0});
  const Bytes huge = 5'000'000'000'000'000'000;
  EXPECT_THROW(play_flows(network, {{a, huge}, {a, huge}}), std::overflow_error);
  Network slow = links({1});
  const RouteId b = over(slow, {0});
  EXPECT_THROW(play_flows(slow, {{b, 10'000'000}}), TimeOverflow);
}

/// A random system: routes of 1 to 3 of the links, sizes of 1 to `size_max` bytes, starts at few instants.
struct Random {
  std::mt19937_64 random;
  explicit Random(std::uint64_t seed) : random(seed) {}
  std::int64_t upto(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }

  std::vector<LinkId> route(LinkId links) {
    std::vector<LinkId> all(links);
    std::iota(all.begin(), all.end(), 0U);
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(upto(static_cast<std::int64_t>(i)))]);
    all.resize(static_cast<std::size_t>(1 + upto(std::min<std::int64_t>(3, links))));
    return all;
  }
  std::int64_t capacity() { return 1 + upto(100 * GB); }
};

struct System {
  std::vector<std::int64_t> capacities;
  std::vector<std::vector<LinkId>> routes;  // per flow
  std::vector<ListedFlow> flows;            // route: index in routes
};

System random_system(std::uint64_t seed) {
  Random draw(seed);
  System system;
  const auto n = static_cast<LinkId>(2 + draw.upto(6));
  for (LinkId l = 0; l < n; ++l) system.capacities.push_back(draw.capacity());
  const std::int64_t flows = 2 + draw.upto(14);
  for (std::uint32_t f = 0; f < flows; ++f) {
    system.routes.push_back(draw.route(n));
    system.flows.push_back({f, 1 + draw.upto(50'000), Picoseconds(draw.upto(4) * us)});
  }
  return system;
}

Network network_of(const System& system) {
  Network network = links(system.capacities);
  for (const auto& route : system.routes) over(network, route);
  return network;
}

TEST(Flows, TheOrderInWhichFlowsAreListedDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const System system = random_system(seed);
    const Network network = network_of(system);
    const Times expected = play_flows(network, system.flows).drained;
    std::vector<std::size_t> order(system.flows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 random(seed);
    for (int turn = 0; turn < 5; ++turn) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
      std::vector<ListedFlow> listed;
      for (const std::size_t i : order) listed.push_back(system.flows[i]);
      const Times drained = play_flows(network, listed).drained;
      for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(drained[i], expected[order[i]]) << "seed " << seed;
    }
  }
}

TEST(Flows, SystemsWithoutACommonLinkDoNotDisturbEachOther) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const System one = random_system(seed);
    const System two = random_system(seed + 1000);
    System both = one;
    both.capacities.insert(both.capacities.end(), two.capacities.begin(), two.capacities.end());
    for (std::size_t f = 0; f < two.flows.size(); ++f) {
      auto route = two.routes[f];
      for (LinkId& link : route) link += static_cast<LinkId>(one.capacities.size());
      both.flows.push_back({static_cast<RouteId>(both.routes.size()), two.flows[f].bytes, two.flows[f].at});
      both.routes.push_back(route);
    }
    Times expected = play_flows(network_of(one), one.flows).drained;
    const Times more = play_flows(network_of(two), two.flows).drained;
    expected.insert(expected.end(), more.begin(), more.end());
    ASSERT_EQ(play_flows(network_of(both), both.flows).drained, expected) << "seed " << seed;
  }
}

// The folding law: k copies of a system that share some links and have the others to themselves, against one copy
// whose hops count k on the shared links. Every flow must end at the same picosecond.
TEST(Flows, KCopiesEndWithOneOfMultiplicityK) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const System system = random_system(seed);
    const auto n = static_cast<LinkId>(system.capacities.size());
    const auto k = static_cast<std::uint32_t>(2 + seed % 14);
    const auto is_shared = [&](LinkId link) { return (link + seed) % 2 == 0; };
    Network unfolded = links(system.capacities);  // copy 0, and the shared links of all
    std::vector<ListedFlow> all;
    for (std::uint32_t copy = 0; copy < k; ++copy) {
      if (copy > 0) {
        for (const std::int64_t capacity : system.capacities) unfolded.add_link(capacity, Picoseconds(0));
      }
      for (std::size_t f = 0; f < system.flows.size(); ++f) {
        auto route = system.routes[f];
        for (LinkId& link : route) link = is_shared(link) ? link : link + copy * n;
        all.push_back({over(unfolded, route), system.flows[f].bytes, system.flows[f].at});
      }
    }
    Network folded = links(system.capacities);
    for (const auto& route : system.routes) {
      std::vector<Hop> hops;
      for (const LinkId link : route) hops.push_back({link, is_shared(link) ? k : 1});
      folded.add_route(std::span<const Hop>(hops), Picoseconds(0));
    }
    const PlayedFlows one = play_flows(folded, system.flows);
    const PlayedFlows many = play_flows(unfolded, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(many.drained[i], one.drained[i % system.flows.size()]) << "seed " << seed << ", k " << k;
    }
    for (LinkId link = 0; link < n; ++link) {
      ASSERT_EQ(many.links[link].bytes, one.links[link].bytes);
      ASSERT_EQ(many.links[link].busy, one.links[link].busy);
      ASSERT_EQ(many.links[link].peak_flows, one.links[link].peak_flows);
    }
  }
}

TEST(Flows, ALinkCarriesTheBytesOfItsFlowsAndIsBusyAtLeastTheirStreamingTime) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const System system = random_system(seed);
    const PlayedFlows played = play_flows(network_of(system), system.flows);
    std::vector<Bytes> sum(system.capacities.size(), 0);
    for (std::size_t f = 0; f < system.flows.size(); ++f) {
      for (const LinkId link : system.routes[f]) sum[link] += system.flows[f].bytes;
    }
    for (std::size_t l = 0; l < sum.size(); ++l) {
      ASSERT_EQ(played.links[l].bytes, sum[l]);
      ASSERT_GE(played.links[l].busy, streaming_time(sum[l], system.capacities[l])) << "no link above its capacity";
    }
  }
}

// Rates are read off times: one flow at a time is made to end first (10^5 bytes against 10^9), so its rate until then
// is that of the whole system. At most 100 GB/s: at least 10^6 ps, so a rate is known to 10^-6.
TEST(Flows, EveryFlowHasAFullLinkOnWhichNoneIsFaster) {
  constexpr double tolerance = 2e-6;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const System system = random_system(seed);
    const Network network = network_of(system);
    std::vector<double> rate;
    for (std::size_t f = 0; f < system.flows.size(); ++f) {
      std::vector<ListedFlow> flows;
      for (std::uint32_t g = 0; g < system.flows.size(); ++g)
        flows.push_back({g, g == f ? 100'000 : 1'000'000'000'000});
      rate.push_back(1e17 / static_cast<double>(play_flows(network, flows).drained[f]));
    }
    std::vector<double> load(system.capacities.size(), 0);
    std::vector<double> fastest(system.capacities.size(), 0);
    for (std::size_t f = 0; f < rate.size(); ++f) {
      for (const LinkId link : system.routes[f]) {
        load[link] += rate[f];
        fastest[link] = std::max(fastest[link], rate[f]);
      }
    }
    const auto capacity = [&](LinkId link) { return static_cast<double>(system.capacities[link]); };
    for (LinkId l = 0; l < load.size(); ++l) ASSERT_LE(load[l], capacity(l) * (1 + tolerance)) << "seed " << seed;
    for (std::size_t f = 0; f < rate.size(); ++f) {
      bool held = false;
      for (const LinkId link : system.routes[f]) {
        held = held || (load[link] >= capacity(link) * (1 - tolerance) && rate[f] >= fastest[link] * (1 - tolerance));
      }
      ASSERT_TRUE(held) << "seed " << seed << ", flow " << f;
    }
  }
}

// A link of 1 B/s offers rates down to 1/27720 B/s.
TEST(Flows, TooManyFlowsForALinkAreAnInputError) {
  Network network = links({1});
  const std::vector<Hop> hops = {{0, 27721}};
  const RouteId a = network.add_route(std::span<const Hop>(hops), Picoseconds(0));
  EXPECT_THROW(play_flows(network, {{a, 1}}), InputError);
}

}  // namespace
}  // namespace stepsim
