#include "scenarios/quantities.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepsim {

std::vector<std::string> quantities(const StepPlan& plan) {
  std::vector<std::string> names = {"step_time",
                                    "tokens_per_s",
                                    "tokens_per_s_per_chip",
                                    "mfu",
                                    "peak_memory",
                                    "model_flops_per_s_per_chip",
                                    "forward",
                                    "backward_input",
                                    "backward_weight",
                                    "recompute",
                                    "optimizer",
                                    "straggler",
                                    "idle.run_ahead",
                                    "idle.end"};
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (plan.order.ranks.size() > 1) {
    for (const char* part : {"bubble.warmup", "bubble.steady", "bubble.drain"}) add(part);
  }
  for (const CollectiveRequest& request : plan.collectives) {
    const std::string axis = group_name(request.axes);
    add("exposed." + axis);
    for (const char* figure : {"issued", "exposed", "communicating", "overlap"}) {
      add(fmt::format("{}.{}.{}", figure, axis, to_string(request.kind)));
    }
  }
  return names;
}

}  // namespace stepsim
