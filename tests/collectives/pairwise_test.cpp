// Pairwise all-to-all, uniform and ragged: the busiest member's port decides.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
const std::vector<Star> gigabyte_star{{1'000'000'000, us}};  // a byte is 1 ns

CollectiveSpec exchange(int n, Bytes bytes, std::vector<Bytes> sends = {}) {
  return {.kind = CollectiveKind::all_to_all,
          .shape = {jumps_of(n)},
          .bytes = bytes,
          .algorithm = "pairwise",
          .sends = std::move(sends)};
}

// N-1 parts of V/N^2 out of each member: 7 x 1000 bytes.
TEST(Pairwise, UniformTakesWhatLeavesAMember) {
  const CollectiveSpec spec = exchange(8, 64'000);
  const Played played = play_on_stars(pattern_of(spec), gigabyte_star);
  EXPECT_EQ(played.left, std::vector<Picoseconds>(8, us * 8));
  EXPECT_EQ(played.carried, std::vector<Bytes>(16, 7000));
  EXPECT_EQ(bound_ps(spec, gigabyte_star), (us * 8).count());
  EXPECT_EQ(pattern_of(spec).roles.size(), 1u);
}

// By hand, three members: 0 sends 1000 bytes to 1 and 3000 to 2, 1 sends 2000 to 2; what they keep (9999) is not sent. 0's
// link out and 2's link in carry two transfers each, all at 0.5 GB/s. At 2 us 0's to 1 has drained, at 4 us 1's to 2; the
// last 1000 bytes of 0's to 2 go at 1 GB/s until 5 us and are there at 6 us.
TEST(Pairwise, RaggedSendsWhatItIsTold) {
  const CollectiveSpec spec = exchange(3, 0, {9999, 1000, 3000, 0, 9999, 2000, 0, 0, 9999});
  const Played played = play_on_stars(pattern_of(spec), gigabyte_star);
  EXPECT_EQ(played.left, (std::vector<Picoseconds>{us * 5, us * 4, us * 6}));
  EXPECT_EQ(played.transfers, 3u);
  EXPECT_EQ(bound_ps(spec, gigabyte_star), (us * 6).count());
}

TEST(Pairwise, RaggedNeverBeatsTheBusiestPortAndMovesEveryByte) {
  std::mt19937 random(7);
  for (int n = 2; n < 9; ++n) {
    std::vector<Bytes> sends(static_cast<std::size_t>(n * n));
    for (Bytes& bytes : sends) bytes = std::uniform_int_distribution<Bytes>(0, 3)(random) * 1000;
    const CollectiveSpec spec = exchange(n, 0, sends);
    const TransferPattern pattern = pattern_of(spec);
    const Causality counted = CausalityPlayer(tabulate(pattern)).play();
    EXPECT_TRUE(counted.finished);
    for (std::size_t m = 0; m < counted.sent.size(); ++m) {
      Bytes out = -sends[m * counted.sent.size() + m];
      Bytes in = out;
      for (std::size_t other = 0; other < counted.sent.size(); ++other) {
        out += sends[m * counted.sent.size() + other];
        in += sends[other * counted.sent.size() + m];
      }
      EXPECT_EQ(counted.sent[m], out);
      EXPECT_EQ(counted.received[m], in);
    }
    EXPECT_GE(play_on_stars(pattern, gigabyte_star).end.count(), bound_ps(spec, gigabyte_star));
  }
}

// A ragged exchange of equal sizes is the uniform one.
TEST(Pairwise, EqualSizesAreUniform) {
  const Played uniform = play_on_stars(pattern_of(exchange(5, 25'000)), gigabyte_star);
  const Played ragged = play_on_stars(pattern_of(exchange(5, 0, std::vector<Bytes>(25, 1000))), gigabyte_star);
  EXPECT_EQ(uniform.left, ragged.left);
  EXPECT_EQ(uniform.carried, ragged.carried);
}

TEST(Pairwise, OneMemberSendsNothing) {
  EXPECT_EQ(bytes_sent(tabulate(pattern_of(exchange(1, 1000))), 0), 0);
  EXPECT_EQ(bytes_sent(tabulate(pattern_of(exchange(1, 0, {1000}))), 0), 0);
}

TEST(Pairwise, RefusesWhatItDoesNotCover) {
  CollectiveSpec spec = exchange(2, 0);
  spec.kind = CollectiveKind::gather;
  EXPECT_EQ(problem_of(spec), "collectives.algorithm: 'pairwise' does not do gather (it does all-to-all)");
  EXPECT_EQ(problem_of(exchange(2, 0, {1, 2, 3})), "collectives.sends: expected 2 x 2 sizes, found 3");
  EXPECT_EQ(problem_of(exchange(2, 0, {1, -2, 3, 4})), "collectives.sends: expected 0 or more, found -2");
  EXPECT_EQ(problem_of(exchange(2, -1)), "collectives.bytes: expected 0 or more, found -1");
}

}  // namespace
}  // namespace stepsim
