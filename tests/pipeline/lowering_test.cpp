// What PyTorch's own passes make of an order (vectors/torch_lowered.json: pytorch 2.8.0, _add_send_recv,
// _add_unshard_reshard, _merge_bw, _simulate_comms_compute), and sends that wait for their receives.
#include "schedules/pipeline/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/pipeline/csv.h"
#include "schedules/pipeline/lowered_clock.h"
#include "sim/input_error.h"
#include "tests/pipeline/vectors.h"

namespace stepsim {
namespace {

using ::testing::HasSubstr;

std::string text_of(const nlohmann::json& rows) {
  std::string text;
  for (const nlohmann::json& row : rows) text += row.get<std::string>() + "\n";
  return text;
}

std::string joined_rows(const std::vector<LoweredRank>& ranks) {
  std::string text;
  for (const LoweredRank& rank : ranks) {
    std::string row;
    for (const std::string& cell : cells(rank)) row += (row.empty() ? "" : ",") + cell;
    text += row + "\n";
  }
  return text;
}

class TorchLowered : public ::testing::TestWithParam<Vector> {
 protected:
  [[nodiscard]] const nlohmann::json& json() const { return GetParam().json; }
  [[nodiscard]] ImportedOrder imported() const { return read_pipeline_csv(text_of(json()["compute_only"]), "torch"); }
};

TEST_P(TorchLowered, PlacementIsRead) {
  const PipelineOrder order = imported().order;
  EXPECT_EQ(order.stages, json()["p"].get<int>() * json()["v"].get<int>());
  EXPECT_EQ(order.units, json()["m"].get<int>());
  ASSERT_EQ(order.copies(), 1);
  EXPECT_EQ(order.rank_of[0], json()["stage_rank"].get<std::vector<std::int32_t>>());
}

TEST_P(TorchLowered, SendsAndReceives) {
  EXPECT_EQ(joined_rows(lower(imported().order)), text_of(json()["compute_comms"]));
}

TEST_P(TorchLowered, GatheredStages) {
  LoweringOptions options;
  options.gather = true;
  EXPECT_EQ(joined_rows(lower(imported().order, options)), text_of(json()["compute_comms_fsdp"]));
}

TEST_P(TorchLowered, MergedBackwards) {
  if (!json().contains("merged_bw")) GTEST_SKIP() << "no I and W in this one";
  EXPECT_EQ(write_pipeline_csv(merge_backwards(imported().order)), text_of(json()["merged_bw"]));
}

TEST_P(TorchLowered, StepsOfTheDryRun) {
  const ImportedOrder read = read_pipeline_csv(text_of(json()["compute_comms"]), "torch");
  EXPECT_TRUE(read.with_communication);
  EXPECT_EQ(dry_run_steps(read.order, read.lowered), json()["simulate_steps"].get<int>());
}

TEST_P(TorchLowered, CommunicationIsReadBack) {
  const ImportedOrder read = read_pipeline_csv(text_of(json()["compute_comms_fsdp"]), "torch");
  EXPECT_EQ(joined_rows(read.lowered), text_of(json()["compute_comms_fsdp"]));
  EXPECT_EQ(write_pipeline_csv(read.order), write_pipeline_csv(imported().order));
}

TEST_P(TorchLowered, IdleSlotsAreKept) {
  const ImportedOrder read = imported();
  EXPECT_EQ(write_pipeline_csv(read.order, read.idle), text_of(json()["compute_only"]));
}

INSTANTIATE_TEST_SUITE_P(Vectors, TorchLowered, ::testing::ValuesIn(vectors({"torch_lowered"})),
                         [](const ::testing::TestParamInfo<Vector>& info) {
                           return info.param.json["schedule"].get<std::string>() + "_" +
                                  std::to_string(info.param.place);
                         });

PipelineOrder one_forward_one_backward(int p, int m) {
  PipelineSizes sizes;
  sizes.ranks = p;
  sizes.microbatches = m;
  return pipeline_order("1f1b", sizes);
}

/// What is refused, or "".
template <class Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.problems().front().message;
  }
  return "";
}

// Rank 0 sends 0F1 and rank 1, which has done 1F0 and 1B0, sends 1B0: neither is at its receive.
TEST(BlockingSends, PlainOneForwardOneBackwardStandsStill) {
  const PipelineOrder order = one_forward_one_backward(2, 3);
  ClockOptions options;
  options.blocking_sends = true;
  EXPECT_EQ(refusal([&] { play(order, options); }),
            "deadlock: rank 0 at cell 2 cannot end the send of 0F1 until rank 1 comes to 1F1; "
            "rank 1 at cell 2 cannot end the send of 1B0 until rank 0 comes to 0B0");
  options.blocking_sends = false;
  EXPECT_NO_THROW(play(order, options));
}

// Written out, the receives stand where PyTorch puts them: rank 1 takes 0F1 before it sends 1B0.
TEST(BlockingSends, PyTorchsReceivesLetItPass) {
  const PipelineOrder order = one_forward_one_backward(2, 3);
  ClockOptions options;
  options.blocking_sends = true;
  const std::vector<LoweredRank> lowered = lower(order);
  EXPECT_NO_THROW(play(order, lowered, options));
}

TEST(BlockingSends, TheCircleOfSendsAndReceivesIsNamed) {
  const std::string text =
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";
  const ImportedOrder read = read_pipeline_csv(text, "crossed.csv");  // sends that do not block pass
  ClockOptions options;
  options.blocking_sends = true;
  EXPECT_EQ(refusal([&] { play(read.order, read.lowered, options); }),
            "deadlock: rank 0 at cell 4 (0SEND_F1) until rank 1 comes to 1RECV_F1; "
            "rank 1 at cell 4 (1SEND_B0) until rank 0 comes to 0RECV_B0");
}

// By hand, F 1, B 2, latency 1: rank 0 has 0F0 at 1, both ranks go on at 2; 1F0 3, 1B0 5, both at 6, 0B0 8.
TEST(BlockingSends, TimesOfTheMeeting) {
  const std::string text = "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n";
  const ImportedOrder read = read_pipeline_csv(text, "one.csv");
  ClockOptions options;
  options.blocking_sends = true;
  options.costs.send = ticks_per_unit;
  const PlayedLowered played = play(read.order, read.lowered, options);
  EXPECT_EQ(played.ranks[0][1].end, ticks(2));  // F 1, meeting 1
  EXPECT_EQ(played.ranks[1][2].end, ticks(5));  // F 1, B 2
  EXPECT_EQ(played.makespan, ticks(8));         // meeting 1, B 2
}

TEST(Reductions, StandBehindTheLastWeightGradient) {
  LoweringOptions options;
  options.reduce_gradients = true;
  EXPECT_EQ(write_pipeline_csv_with_communication(one_forward_one_backward(2, 1), options),
            "0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD\n");
}

}  // namespace
}  // namespace stepsim
