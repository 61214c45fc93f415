// compare_variants.h: which schedules, microbatches and stages a comparison runs.
#pragma once

#include <string>
#include <vector>

#include "scenarios/compare.h"

namespace stepsim {

struct Variant {
  std::string name;
  Strategy strategy;
};

struct Variants {
  std::vector<std::vector<Variant>> of_schedule;  // in the order in which they are asked for
  std::vector<std::string> notes;
};

/// InputError under "--schedules", "--microbatches", "--stages".
Variants variants(const Scenario& scenario, const CompareRequest& request);

/// How many of a planner's units of memory an activation of one stage and microbatch is.
double limit_units(const std::string& schedule);

}  // namespace stepsim
