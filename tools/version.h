// version.h: the release.
#pragma once

#include <string>

namespace stepsim {

std::string version();  // "0.1.0"

}  // namespace stepsim
