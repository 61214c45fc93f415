// size_grid.h: every registered schedule over a grid of sizes, those that it takes.
#pragma once

#include <functional>
#include <string>

#include "schedules/pipeline/family.h"

namespace stepsim {

inline std::string described(const std::string& name, const PipelineSizes& sizes) {
  return name + " p " + std::to_string(sizes.ranks) + " v " + std::to_string(sizes.stages_per_rank) + " m " +
         std::to_string(sizes.microbatches) + " group " + std::to_string(sizes.group) + " segments " +
         std::to_string(sizes.segments);
}

inline void for_all_schedules(
    const std::function<void(const std::string&, const PipelineSizes&, const PipelineOrder&)>& do_order) {
  for (const auto& entry : pipeline_families().entries()) {
    for (const int p : {1, 2, 3, 4, 6}) {
      for (const int v : {1, 2, 3, 4}) {
        for (const int m : {1, 2, 4, 5, 8, 12, 13}) {
          for (const int group : {0, 3, 4}) {
            for (const int segments : {1, 3}) {
              PipelineSizes sizes;
              sizes.ranks = p;
              sizes.stages_per_rank = v;
              sizes.microbatches = m;
              sizes.group = group;
              sizes.segments = segments;
              if (refusals(entry.value, sizes).empty()) do_order(entry.name, sizes, entry.value.make(sizes));
            }
          }
        }
      }
    }
  }
}

}  // namespace stepsim
