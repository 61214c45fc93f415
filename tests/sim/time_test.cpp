// Integer time, names and the registry.

#include "sim/time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/network.h"
#include "sim/registry.h"

namespace stepsim {
namespace {

TEST(Time, StreamingTimeIsTheCeilingOfBytesOverCapacity) {
  EXPECT_EQ(streaming_time(0, 7), Picoseconds(0));
  EXPECT_EQ(streaming_time(1, 1'000'000'000'000), Picoseconds(1));
  EXPECT_EQ(streaming_time(1, 1'000'000'000'001), Picoseconds(1));                        // 0.999.. up
  EXPECT_EQ(streaming_time(1, 450'000'000'000), Picoseconds(3));                          // 2.22 up
  EXPECT_EQ(streaming_time(9, 450'000'000'000), Picoseconds(20));                         // whole
  EXPECT_EQ(streaming_time(1, 3), Picoseconds(333'333'333'334));                          // a third of a second
  EXPECT_EQ(streaming_time(1'073'741'824, 50'000'000'000), Picoseconds(21'474'836'480));  // 1 GiB at 50 GB/s
}

TEST(Time, WhatDoesNotFitThrows) {
  EXPECT_THROW(streaming_time(INT64_MAX, 1), TimeOverflow);
  EXPECT_THROW(streaming_time(9'223'373, 1), TimeOverflow);  // 2^63 ps are 9,223,372.04 s
  EXPECT_NO_THROW(streaming_time(9'223'372, 1));
  EXPECT_THROW(Picoseconds::max() + Picoseconds(1), TimeOverflow);
  EXPECT_THROW(Picoseconds(-2) - Picoseconds::max(), TimeOverflow);
  EXPECT_THROW(Picoseconds::max() * 2, TimeOverflow);
  EXPECT_THROW(from_seconds(9.3e6), TimeOverflow);
  EXPECT_THROW(from_seconds(std::numeric_limits<double>::infinity()), TimeOverflow);
  EXPECT_THROW(from_seconds(-1e-12), std::invalid_argument);
  EXPECT_THROW(from_seconds(std::nan("")), std::invalid_argument);
}

TEST(Time, SecondsBecomeTheLeastWholePicosecondsNotBelow) {
  EXPECT_EQ(from_seconds(0), Picoseconds(0));
  EXPECT_EQ(from_seconds(1e-13), Picoseconds(1));
  EXPECT_EQ(from_seconds(1.5e-12), Picoseconds(2));
  EXPECT_EQ(from_seconds(1), Picoseconds(1'000'000'000'000));
}

// "35.7 ns" is 35,700 ps whatever 35.7e-9 * 1e12 comes to in double (2.7 % of such products lie a hair above).
TEST(Time, WholePicosecondsWrittenAsDecimalSecondsStayWhole) {
  for (std::int64_t k = 1; k < 200'000; ++k) {
    ASSERT_EQ(from_seconds(std::stod(std::to_string(k) + "e-9")), Picoseconds(k * 1000)) << k;
  }
}

TEST(Names, TheNearestIsByEditDistanceAndOnlyIfNear) {
  const std::vector<std::string> known = {"tensor", "pipeline", "fsdp", "data"};
  EXPECT_EQ(nearest("tenser", known), "tensor");  // one replaced
  EXPECT_EQ(nearest("pipelin", known), "pipeline");
  EXPECT_EQ(nearest("fdsp", known), "fsdp");  // two replaced
  EXPECT_EQ(nearest("expert", known), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Registry, ANameGivenTwiceIsAnErrorAndAnUnknownOneListsAll) {
  Registry<int> registry;
  registry.add("ring", "a ring", 1);
  registry.add("torus", "a torus", 2);
  EXPECT_THROW(registry.add("ring", "again", 3), std::logic_error);
  EXPECT_EQ(registry.at("topology", "torus"), 2);
  EXPECT_EQ(registry.find("mesh"), nullptr);
  try {
    static_cast<void>(registry.at("topology", "rign"));
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].key, "topology");
    EXPECT_EQ(error.problems()[0].message, "unknown name 'rign', did you mean 'ring'? (known: ring, torus)");
  }
}

TEST(InputError, APlaceIsPrintedAsFarAsItIsKnown) {
  EXPECT_EQ(to_string(Problem{{"a.yaml", 3, 7}, "chip.name", "unknown"}), "a.yaml:3:7: chip.name: unknown");
  EXPECT_EQ(to_string(Problem{{"a.yaml", 0, 0}, "", "is empty"}), "a.yaml: is empty");
  EXPECT_EQ(to_string(Problem{{}, "chip", "unknown"}), "chip: unknown");
}

TEST(Network, RefusesWhatCannotCarryAFlow) {
  Network network;
  EXPECT_THROW(network.add_link(0, Picoseconds(0)), InputError);
  EXPECT_THROW(network.add_link(max_capacity + 1, Picoseconds(0)), InputError);
  EXPECT_THROW(network.add_link(1, Picoseconds(-1)), InputError);
  const LinkId link = network.add_link(max_capacity, Picoseconds(5));
  const std::vector<Hop> unknown = {{link + 1, 1}};
  const std::vector<Hop> empty = {{link, 0}};
  const std::vector<Hop> twice = {{link, 1}, {link, 1}};
  EXPECT_THROW(network.add_route(unknown, Picoseconds(0)), std::logic_error);
  EXPECT_THROW(network.add_route(empty, Picoseconds(0)), std::logic_error);
  EXPECT_THROW(network.add_route(twice, Picoseconds(0)), std::logic_error);
  const std::vector<LinkId> again = {link, link};  // there and back over one link: crosses it twice
  const RouteId route = network.add_route(std::span<const LinkId>(again));
  ASSERT_EQ(network.hops(route).size(), 1U);
  EXPECT_EQ(network.hops(route)[0].count, 2U);
  EXPECT_EQ(network.route_latency(route), Picoseconds(10));
}

}  // namespace
}  // namespace stepsim
