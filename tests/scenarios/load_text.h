// load_text.h: a scenario written down in a test, read the way a user's file is.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"

namespace stepsim {

/// Goes through a file of this process alone, so that tests may run side by side.
inline Scenario load_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const std::string file = ::testing::TempDir() + "stepsim_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(file) << text;
  try {
    Scenario scenario = load(file, overrides, default_catalog());
    std::remove(file.c_str());
    return scenario;
  } catch (...) {
    std::remove(file.c_str());
    throw;
  }
}

}  // namespace stepsim
