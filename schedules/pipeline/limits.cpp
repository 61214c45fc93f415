#include "schedules/pipeline/limits.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace stepsim {

std::string format_units(double units) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), units).ptr;
  return {text.data(), end};
}

std::vector<std::string> activation_refusals(const ActivationUnits& activation) {
  std::vector<std::string> problems;
  if (!(activation.after_forward > 0)) {
    problems.push_back("activation after F = " + format_units(activation.after_forward) + ": expected more than 0");
  }
  if (!(activation.after_input >= 0 && activation.after_input <= activation.after_forward)) {
    problems.push_back("activation after I = " + format_units(activation.after_input) +
                       ": expected at least 0 and at most what is held after F, " +
                       format_units(activation.after_forward));
  }
  return problems;
}

double most_held(const RankOrder& list, const ActivationUnits& activation) {
  double held = 0;
  double most = 0;
  for (const Action& action : list) {
    switch (action.kind) {
      case ActionKind::forward:
        held += activation.after_forward;
        break;
      case ActionKind::input_gradient:
        held -= activation.after_forward - activation.after_input;
        break;
      case ActionKind::weight_gradient:
        held -= activation.after_input;
        break;
      case ActionKind::backward:
        held -= activation.after_forward;
        break;
    }
    most = std::max(most, held);
  }
  return most;
}

double microbatches_per_activation(const PipelineOrder& order) {
  return static_cast<double>(order.ranks.size()) / (static_cast<double>(order.stages) * order.segments);
}

}  // namespace stepsim
