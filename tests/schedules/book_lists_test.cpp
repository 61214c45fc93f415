// The book's dependency lists ("How to parallelize a transformer for training", backward from its appendix A), line
// by line: order of the ops of a layer and what each waits for. The middle layers of a stack of five are compared;
// what the book writes as In, Tmp, dOut comes from the op that made it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/schedules/reading.h"

namespace stepsim {
namespace {

using reading::lines;
using reading::mlp_stack;
using testing::ElementsAre;

StepPlan stack_of_five(const Strategy& s) {
  return plan(mlp_stack(5, 64, 256), s, reading::flop_counter());
}

TEST(BookLists, DataParallel) {
  Strategy s = reading::strategy({{"data", 4}}, 64, 0);
  s.bucket = 1;  // the book reduces each matrix by itself
  const StepPlan p = stack_of_five(s);
  EXPECT_THAT(lines(p, 1, false), ElementsAre("mlp.in [mlp.out@0, adam mlp.in']",   // F1
                                              "mlp.out [mlp.in, adam mlp.out']"));  // F2
  EXPECT_THAT(lines(p, 1, true), ElementsAre("mlp.out dW [mlp.in, mlp.in dX@2]",    // B1
                                             "all-reduce mlp.out [mlp.out dW]",     // B2 async
                                             "mlp.out dX [mlp.in dX@2]",            // B3
                                             "mlp.in dW [mlp.out@0, mlp.out dX]",   // B4
                                             "all-reduce mlp.in [mlp.in dW]",       // B5 async
                                             "mlp.in dX [mlp.out dX]"));            // B6
}

TEST(BookLists, Fsdp) {
  const StepPlan p = stack_of_five(reading::strategy({{"fsdp", 4}}, 64, 3));
  // Gathers of layer 2 start when layer 1 does, that is after layer 0: "prefetch during the previous layer".
  EXPECT_THAT(lines(p, 2, false), ElementsAre("all-gather mlp.in [mlp.out@0, adam mlp.in']",    // F1 async
                                              "all-gather mlp.out [mlp.out@0, adam mlp.out']",  // F3 async
                                              "mlp.in [all-gather mlp.in, mlp.out@1]",          // F2
                                              "mlp.out [all-gather mlp.out, mlp.in]"));         // F4
  EXPECT_THAT(lines(p, 1, true), ElementsAre("all-gather mlp.out [mlp.in dX@3]",                // B3 async
                                             "all-gather mlp.in [mlp.in dX@3]",                 // B7 async
                                             "mlp.out dW [mlp.in, mlp.in dX@2]",                // B1
                                             "reduce-scatter mlp.out [mlp.out dW]",             // B2 async
                                             "mlp.out dX [all-gather mlp.out, mlp.in dX@2]",    // B4
                                             "mlp.in dW [mlp.out@0, mlp.out dX]",               // B5
                                             "reduce-scatter mlp.in [mlp.in dW]",               // B6 async
                                             "mlp.in dX [all-gather mlp.in, mlp.out dX]"));     // B8
}

TEST(BookLists, Tensor) {
  const StepPlan p = stack_of_five(reading::strategy({{"tensor", 4}}, 64, 3));
  EXPECT_THAT(lines(p, 1, false), ElementsAre("all-gather mlp In [reduce-scatter mlp Out@0]",   // F1 crit
                                              "mlp.in [all-gather mlp In, adam mlp.in']",       // F2
                                              "mlp.out [mlp.in, adam mlp.out']",                // F3
                                              "reduce-scatter mlp Out [mlp.out]"));             // F4 crit
  EXPECT_THAT(lines(p, 1, true), ElementsAre("all-gather mlp dOut [reduce-scatter mlp dIn@2]",  // B1 crit
                                             "mlp.out dW [mlp.in, all-gather mlp dOut]",        // B2
                                             "mlp.out dX [all-gather mlp dOut]",                // B3
                                             "mlp.in dW [all-gather mlp In, mlp.out dX]",       // B5, In kept
                                             "mlp.in dX [mlp.out dX]",                          // B6
                                             "reduce-scatter mlp dIn [mlp.in dX]"));            // B7 crit
}

TEST(BookLists, TensorGatheringInputAgain) {
  Strategy s = reading::strategy({{"tensor", 4}}, 64, 3);
  s.regather_tensor_input = true;
  EXPECT_THAT(lines(stack_of_five(s), 1, true),
              ElementsAre("all-gather mlp dOut [reduce-scatter mlp dIn@2]",  // B1 crit
                          "mlp.out dW [mlp.in, all-gather mlp dOut]",        // B2
                          "mlp.out dX [all-gather mlp dOut]",                // B3
                          "all-gather mlp In [reduce-scatter mlp Out@0]",    // B4
                          "mlp.in dW [mlp.out dX, all-gather mlp In]",       // B5
                          "mlp.in dX [mlp.out dX]",                          // B6
                          "reduce-scatter mlp dIn [mlp.in dX]"));            // B7 crit
}

TEST(BookLists, FsdpAndTensor) {
  Strategy s = reading::strategy({{"fsdp", 4}, {"tensor", 4}}, 64, 3);
  s.regather_tensor_input = true;
  const StepPlan p = stack_of_five(s);
  EXPECT_THAT(lines(p, 2, false),
              ElementsAre("all-gather mlp.in [mlp.out@0, adam mlp.in']",    // F2 async
                          "all-gather mlp.out [mlp.out@0, adam mlp.out']",  // F4 async
                          "all-gather mlp In [reduce-scatter mlp Out@1]",   // F1 crit
                          "mlp.in [all-gather mlp.in, all-gather mlp In]",  // F3
                          "mlp.out [all-gather mlp.out, mlp.in]",           // F5
                          "reduce-scatter mlp Out [mlp.out]"));             // F6 crit
  EXPECT_THAT(lines(p, 1, true),
              ElementsAre("all-gather mlp.out [mlp.in dX@3]",                      // line 5 async
                          "all-gather mlp.in [mlp.in dX@3]",                       // line 10 async
                          "all-gather mlp dOut [reduce-scatter mlp dIn@2]",        // line 2 crit
                          "mlp.out dW [mlp.in, all-gather mlp dOut]",              // line 3
                          "reduce-scatter mlp.out [mlp.out dW]",                   // line 4 async
                          "mlp.out dX [all-gather mlp.out, all-gather mlp dOut]",  // line 6
                          "all-gather mlp In [reduce-scatter mlp Out@0]",          // line 7 async
                          "mlp.in dW [mlp.out dX, all-gather mlp In]",             // line 8
                          "reduce-scatter mlp.in [mlp.in dW]",                     // line 9 async
                          "mlp.in dX [all-gather mlp.in, mlp.out dX]",             // line 11
                          "reduce-scatter mlp dIn [mlp.in dX]"));                  // line 12 crit
}

TEST(BookLists, OnlyTensorCollectivesAreCritical) {
  Strategy s = reading::strategy({{"data", 2}, {"fsdp", 4}, {"tensor", 4}}, 64, 3);
  for (const CollectiveRequest& request : stack_of_five(s).collectives) {
    EXPECT_EQ(request.critical, request.axes == std::vector<std::string>{"tensor"});
  }
  s.regather_tensor_input = true;  // line 7 is async, once per layer
  std::uint32_t floating = 0;
  for (const CollectiveRequest& request : stack_of_five(s).collectives) {
    if (request.axes == std::vector<std::string>{"tensor"} && !request.critical) floating += request.uses;
  }
  EXPECT_EQ(floating, 5U);
}

TEST(BookLists, PrefetchDepth) {
  Strategy s = reading::strategy({{"fsdp", 4}}, 64, 3);
  s.prefetch = 0;  // when the op that needs it is next
  EXPECT_THAT(lines(stack_of_five(s), 2, false),
              ElementsAre("all-gather mlp.in [mlp.out@1, adam mlp.in']", "mlp.in [mlp.out@1, all-gather mlp.in]",
                          "all-gather mlp.out [mlp.in, adam mlp.out']", "mlp.out [mlp.in, all-gather mlp.out]"));
  s.prefetch = 2;  // when the layer two before starts
  EXPECT_EQ(lines(stack_of_five(s), 3, false).front(), "all-gather mlp.in [mlp.out@0, adam mlp.in']");
  EXPECT_EQ(lines(stack_of_five(s), 2, false).front(), "all-gather mlp.in [adam mlp.in']");
}

}  // namespace
}  // namespace stepsim
