#include "tools/version.h"

namespace stepsim {

std::string version() {
  return STEPSIM_VERSION;
}

}  // namespace stepsim
