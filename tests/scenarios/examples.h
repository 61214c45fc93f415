// examples.h: the shipped scenarios, for what plays every one of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace stepsim {

/// Names of scenarios/examples/NAME.yaml, sorted.
inline std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSIM_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline Scenario load_example(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return load(STEPSIM_SOURCE_DIR "/scenarios/examples/" + name + ".yaml", overrides,
              STEPSIM_SOURCE_DIR "/scenarios/catalog");
}

}  // namespace stepsim
