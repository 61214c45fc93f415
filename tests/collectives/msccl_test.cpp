// MSCCL files: look-alikes of what msccl-tools writes (msccl/language/ir.py) and ROCm/rccl ships
// (tools/msccl-algorithms), played against the closed forms of the algorithms they write down; and broken ones.
#include "collectives/msccl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "sim/input_error.h"
#include "tests/collectives/causality.h"
#include "tests/collectives/star.h"

namespace stepsim {
namespace {

constexpr Picoseconds us{1'000'000};
const std::vector<Star> gigabyte_star{{1'000'000'000, us}};  // 1000 bytes take 1 us

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(STEPSIM_SOURCE_DIR) + "/tests/collectives/msccl/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Row {
  std::string file;
  CollectiveKind kind;
  int members;
  Bytes bytes;  // so that a chunk is 1000
  Picoseconds end;
  bool bound_is_exact;
  Bytes sent;  // by all members, chunks
};

// Times by hand, in steps of latency 1 + chunks. Ring: 2 (n-1) steps; two channels share the link. All pairs: two phases of
// n-1 chunks. Tree: 3 steps up; down 3 + 1, 2 + 1, 1 + 1, as the sends to all children share the link. Recursive doubling:
// 1 + 1, 2 + 1. Two-step all-to-all: 1 + 1 in the node, then 1 in the node and 2 across, which share the link: 3 + 1. Chain
// of two pieces: 1 + 1, then 2 + 1.
const std::vector<Row> rows{
    {"allreduce_ring_2.xml", CollectiveKind::all_reduce, 2, 2000, us * 4, true, 4},
    {"allreduce_ring_4.xml", CollectiveKind::all_reduce, 4, 4000, us * 12, true, 24},
    {"allreduce_ring_8_2ch.xml", CollectiveKind::all_reduce, 8, 16000, us * 42, false, 224},
    {"allreduce_allpairs_4.xml", CollectiveKind::all_reduce, 4, 4000, us * 8, false, 24},
    {"allreduce_allpairs_8.xml", CollectiveKind::all_reduce, 8, 8000, us * 16, false, 112},
    {"allreduce_tree_8.xml", CollectiveKind::all_reduce, 8, 1000, us * 15, false, 14},
    {"allgather_ring_4.xml", CollectiveKind::all_gather, 4, 4000, us * 6, true, 12},
    {"allgather_allpairs_8.xml", CollectiveKind::all_gather, 8, 16000, us * 15, true, 112},
    {"allgather_recursive_doubling_4.xml", CollectiveKind::all_gather, 4, 4000, us * 5, true, 12},
    {"reducescatter_ring_4.xml", CollectiveKind::reduce_scatter, 4, 4000, us * 6, true, 12},
    {"alltoall_direct_4.xml", CollectiveKind::all_to_all, 4, 16000, us * 4, true, 12},
    {"alltoall_two_step_2x2.xml", CollectiveKind::all_to_all, 4, 16000, us * 6, false, 16},
    {"broadcast_chain_3.xml", CollectiveKind::broadcast, 3, 2000, us * 5, true, 4}};

CollectiveSpec spec_of(const Row& row) {
  return {.kind = row.kind, .shape = {ring_of(row.members)}, .bytes = row.bytes};
}

TEST(Msccl, FilesTakeTheTimeOfTheirAlgorithm) {
  for (const Row& row : rows) {
    const MscclAlgorithm algorithm = parse_msccl(text_of(row.file), row.file);
    EXPECT_EQ(play_on_stars(msccl_pattern(algorithm, spec_of(row)), gigabyte_star).end, row.end) << row.file;
    const auto bound = std::llround(msccl_bound(algorithm, spec_of(row), {{1e9}, {1e-6}}) * 1e12);
    if (row.bound_is_exact) {
      EXPECT_EQ(bound, row.end.count()) << row.file;
    }
    EXPECT_LE(bound, row.end.count()) << row.file;
    EXPECT_GT(bound, row.end.count() / 3) << row.file;
  }
}

TEST(Msccl, FilesMoveAndRestOnWhatTheOperationsSay) {
  for (const Row& row : rows) {
    const TransferPlan plan = tabulate(msccl_pattern(parse_msccl(text_of(row.file), row.file), spec_of(row)));
    check(plan);
    const Causality played = CausalityPlayer(plan).play();
    EXPECT_TRUE(played.finished) << row.file;
    Bytes sent = 0;
    for (const Bytes bytes : played.sent) sent += bytes;
    EXPECT_EQ(sent, row.sent * 1000) << row.file;
    for (const std::vector<bool>& rests_on : played.rests_on) {
      if (row.kind == CollectiveKind::broadcast) {
        EXPECT_TRUE(rests_on[0]) << row.file;
      } else {
        EXPECT_EQ(rests_on, std::vector<bool>(plan.members, true)) << row.file;
      }
    }
  }
}

// A ring from a file is the ring of ring.h, member by member.
TEST(Msccl, ARingIsTheRing) {
  const CollectiveSpec spec{.kind = CollectiveKind::all_reduce,
                            .shape = {ring_of(4)},
                            .bytes = 40000,
                            .algorithm = "torus",
                            .ring = RingStyle::one_way};
  const MscclAlgorithm algorithm = parse_msccl(text_of("allreduce_ring_4.xml"), "ring");
  const Played ours = play_on_stars(pattern_of(spec), gigabyte_star);
  const Played file = play_on_stars(msccl_pattern(algorithm, spec), gigabyte_star);
  EXPECT_EQ(ours.left, file.left);
  EXPECT_EQ(ours.carried, file.carried);
}

TEST(Msccl, ReadsWhatTheFileSays) {
  const MscclAlgorithm algorithm = parse_msccl(text_of("allreduce_allpairs_4.xml"), "pairs.xml");
  EXPECT_EQ(algorithm.name, "allreduce_pairs");
  EXPECT_EQ(algorithm.protocol, "LL");
  EXPECT_EQ(algorithm.collective, "allreduce");
  EXPECT_TRUE(algorithm.in_place);
  ASSERT_EQ(algorithm.gpus.size(), 4u);
  EXPECT_EQ(algorithm.gpus[3].scratch_chunks, 3);
  ASSERT_EQ(algorithm.gpus[0].blocks.size(), 4u);
  const MscclStep& wait = algorithm.gpus[0].blocks[0].steps.at(0);
  EXPECT_EQ(wait.op, MscclOp::nop);
  EXPECT_EQ(wait.block, 2);
  EXPECT_EQ(wait.step, 1);
}

// Chunks are padded up: 1001 bytes in 4 chunks are 251 each; 6 sends by each of 4.
TEST(Msccl, ChunksArePaddedUp) {
  CollectiveSpec spec{.kind = CollectiveKind::all_reduce, .shape = {ring_of(4)}, .bytes = 1001};
  const TransferPlan plan = tabulate(msccl_pattern(parse_msccl(text_of("allreduce_ring_4.xml"), "ring"), spec));
  EXPECT_EQ(bytes_sent(plan, 2), 6 * 251);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string problem_of(const std::string& text) {
  try {
    parse_msccl(text, "f.xml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Msccl, NamesWhatIsMalformed) {
  const std::string good = text_of("allreduce_ring_2.xml");
  ASSERT_EQ(problem_of(good), "none");
  EXPECT_EQ(problem_of(""), "f.xml:1:1: not XML: No document element found");
  EXPECT_EQ(problem_of(good.substr(0, good.size() - 9)).substr(0, 7), "f.xml:1");
  EXPECT_EQ(problem_of("<algorithm/>"),
            "f.xml:1:2: expected <algo> only, found <algorithm>\nf.xml:1:1: expected one <algo>, found 0");
  EXPECT_EQ(
      problem_of(replaced(good, "coll=", "collective=")),
      "f.xml:2:2: algo: unknown attribute 'collective' (expected name, proto, nchannels, nchunksperloop, ngpus, coll, "
      "inplace, outofplace, minBytes, maxBytes, redop)\nf.xml:2:2: algo.coll: missing");
  EXPECT_EQ(problem_of(replaced(good, "hasdep=\"0\"", "hasdeps=\"0\"")),
            "f.xml:5:8: gpu[0].tb[0].step[0]: unknown attribute 'hasdeps' (did you mean 'hasdep'?)\n"
            "f.xml:5:8: gpu[0].tb[0].step[0].hasdep: missing");
  EXPECT_EQ(problem_of(replaced(good, "cnt=\"1\"", "cnt=\"0\"")),
            "f.xml:5:8: gpu[0].tb[0].step[0].cnt: expected a whole number of 1 to 1048576, found '0'");
  EXPECT_EQ(
      problem_of(replaced(good, "type=\"s\"", "type=\"put\"")).substr(0, 107),
      "f.xml:5:8: gpu[0].tb[0].step[0].type: expected one of nop, s, r, rcs, rrs, rrc, rrcs, cpy, re, found 'put'");
  EXPECT_EQ(problem_of(replaced(good, "ngpus=\"2\"", "ngpus=\"3\"")),
            "f.xml:2:2: algo.ngpus: says 3, but there are 2 <gpu>");
  EXPECT_EQ(problem_of(replaced(good, "<gpu id=\"1\"", "<gpu id=\"2\"")),
            "f.xml:10:4: gpu[1].id: expected 1, found '2'");
  EXPECT_EQ(problem_of(replaced(good, "step s=\"2\"", "step s=\"3\"")),
            "f.xml:7:8: gpu[0].tb[0].step[2].s: expected 2, found '3'");
  EXPECT_EQ(problem_of(replaced(good, "srcoff=\"0\"", "srcoff=\"2\"")),
            "f.xml:5:8: gpu[0].tb[0].step[0].srcoff: chunks 2 to 2 of a buffer of 2 (i_chunks)");
  EXPECT_EQ(problem_of(replaced(good, "send=\"1\"", "send=\"0\"")).substr(0, 61),
            "f.xml:4:6: gpu[0].tb[0].send: a GPU does not send to itself");
}

// The ring of two: steps s, rrcs, r on either side.
TEST(Msccl, NamesWhatNeverMeets) {
  const std::string good = text_of("allreduce_ring_2.xml");
  EXPECT_EQ(problem_of(replaced(good, "type=\"rrcs\"", "type=\"rrc\"")),
            "f.xml:14:8: gpu[1].tb[0].step[2]: receives from gpu 0 on channel 0, where nothing sends it");
  EXPECT_EQ(problem_of(replaced(good, "type=\"r\"", "type=\"nop\"")),
            "f.xml:13:8: gpu[1].tb[0].step[1]: sends to gpu 0 on channel 0, where nothing receives it");
  EXPECT_EQ(problem_of(replaced(replaced(good, "srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\"",
                                         "srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\""),
                                "nchunks", "nchunks")),
            "f.xml:5:8: gpu[0].tb[0].step[0]: sends 2 chunks, but gpu[1].tb[0].step[1] receives 1");
  EXPECT_EQ(problem_of(replaced(good, "recv=\"1\"", "recv=\"-1\"")),
            "f.xml:6:8: gpu[0].tb[0].step[1]: receives, but the thread block has recv=\"-1\"\n"
            "f.xml:7:8: gpu[0].tb[0].step[2]: receives, but the thread block has recv=\"-1\"");
}

TEST(Msccl, NamesBlocksThatShareAConnection) {
  const std::string good = text_of("alltoall_direct_4.xml");
  const std::string text =
      problem_of(replaced(good, "<tb id=\"2\" send=\"2\" recv=\"2\"", "<tb id=\"2\" send=\"1\" recv=\"2\""));
  EXPECT_NE(
      text.find("gpu[0].tb[2].step[0]: sends to gpu 1 on channel 0, as thread block 1 does (expected one per peer and "
                "channel)"),
      std::string::npos)
      << text;
}

TEST(Msccl, NamesWaitsThatNeverEnd) {
  const std::string good = text_of("allreduce_allpairs_4.xml");
  EXPECT_NE(problem_of(replaced(good, "depid=\"2\" deps=\"1\"", "depid=\"2\" deps=\"-1\""))
                .find("gpu[0].tb[0].step[0]: depid and deps: expected both or neither (-1)"),
            std::string::npos);
  EXPECT_EQ(problem_of(replaced(good, "depid=\"2\" deps=\"1\"", "depid=\"9\" deps=\"1\"")),
            "f.xml:4:8: gpu[0].tb[0].step[0]: depid: expected a thread block of 0 to 3, found 9");
  EXPECT_EQ(problem_of(replaced(good, "depid=\"2\" deps=\"1\"", "depid=\"2\" deps=\"7\"")),
            "f.xml:4:8: gpu[0].tb[0].step[0]: deps: thread block 2 has 4 steps, found 7");
  EXPECT_EQ(problem_of(replaced(good, "depid=\"2\" deps=\"1\"", "depid=\"2\" deps=\"0\"")),
            "f.xml:4:8: gpu[0].tb[0].step[0]: waits for gpu[0].tb[2].step[0], which has hasdep=\"0\"");
}

// Both first receive, then send.
TEST(Msccl, NamesACircle) {
  std::string text = text_of("allreduce_ring_2.xml");
  for (int gpu = 0; gpu < 2; ++gpu) {
    text = replaced(text, "type=\"s\"", "type=\"rcs\"");
    text = replaced(text, "type=\"rrcs\"", "type=\"nop\"");
    text = replaced(text, "type=\"r\"", "type=\"nop\"");
  }
  EXPECT_EQ(problem_of(text),
            "f.xml:5:8: gpu[0].tb[0].step[0]: can never run: it waits for gpu[1].tb[0].step[0], which waits for it");
}

std::string pattern_problem(const CollectiveSpec& spec) {
  try {
    msccl_pattern(parse_msccl(text_of("allreduce_ring_4.xml"), "f.xml"), spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Msccl, RefusesOtherKindsAndGroups) {
  EXPECT_EQ(pattern_problem({.kind = CollectiveKind::all_gather, .shape = {ring_of(4)}, .bytes = 1}),
            "collectives.algorithm: 'f.xml' does not do all-gather (it does all-reduce)");
  EXPECT_EQ(pattern_problem({.kind = CollectiveKind::all_reduce, .shape = {ring_of(8)}, .bytes = 1}),
            "collectives.shape: 'f.xml' is for 4 members, found 8");
  EXPECT_EQ(pattern_problem({.kind = CollectiveKind::all_reduce, .shape = {ring_of(4)}, .bytes = -1}),
            "collectives.bytes: expected 0 or more, found -1");
  EXPECT_EQ(pattern_problem({.kind = CollectiveKind::all_reduce, .shape = {ring_of(2), ring_of(2)}, .bytes = 1}),
            "none");
}

// Files with one character changed: refused, or plans that are whole and end.
TEST(Msccl, ChangedFilesAreRefusedOrEnd) {
  std::mt19937 random(11);
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string digits = "0123456789";
  const std::string letters = "0123456789-\"<>/= srciore";
  int accepted = 0;
  for (const Row& row : rows) {
    const std::string good = text_of(row.file);
    for (int i = 0; i < 60; ++i) {
      std::string text = good;
      std::size_t at = pick(text.size());
      if (i % 2 == 0) {
        text[at] = letters[pick(letters.size())];
      } else {  // another number
        at = text.find_first_of(digits, at);
        if (at != std::string::npos) text[at] = digits[pick(digits.size())];
      }
      try {
        const TransferPlan plan = tabulate(msccl_pattern(parse_msccl(text, "f.xml"), spec_of(row)));
        check(plan);
        EXPECT_TRUE(CausalityPlayer(plan).play().finished) << text;
        ++accepted;
      } catch (const InputError& error) {
        EXPECT_FALSE(error.problems().empty());
      }
    }
  }
  EXPECT_GT(accepted, 20);  // of 780: most are refused
}

}  // namespace
}  // namespace stepsim
