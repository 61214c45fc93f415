// Point-to-point: latency + V / rate; eager.
#include <gtest/gtest.h>

#include "tests/collectives/play.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};

CollectiveSpec send(Bytes bytes) {
  return {.kind = CollectiveKind::point_to_point, .shape = {}, .bytes = bytes, .algorithm = "point-to-point"};
}

// Cut-through: the sender is free when drained, the receiver has it a latency later.
TEST(PointToPoint, TakesLatencyAndStreaming) {
  const Played played = play(send(90'000), {.rate = 45'000'000'000, .latency = us});
  EXPECT_EQ(played.left, (std::vector<Picoseconds>{us * 2, us * 3}));
  const Algorithm algorithm = collective_algorithms().at("algorithm", "point-to-point");
  EXPECT_DOUBLE_EQ(algorithm.bound(send(90'000), {{45e9}, {1e-6}}), 3e-6);
}

TEST(PointToPoint, DoesNotWaitForTheReceiver) {
  const Surroundings around{.rate = 45'000'000'000, .latency = us, .late = {{1, us * 10}}};
  EXPECT_EQ(play(send(90'000), around).left, (std::vector<Picoseconds>{us * 2, us * 10}));
}

TEST(PointToPoint, AnEmptyMessageStillTakesItsLatency) {
  EXPECT_EQ(play(send(0), {.rate = 1'000'000'000, .latency = us}).left[1], us);
}

}  // namespace
}  // namespace stepsim
