// test_name.h: the name of a test whose parameter is the name of a scenario.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace stepsim {

/// Names of tests are words of letters, digits and underscores.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace stepsim
