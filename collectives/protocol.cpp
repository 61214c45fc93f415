#include "collectives/protocol.h"

#include <algorithm>

#include "sim/int128.h"

namespace stepsim {

bool Protocol::serves(const std::string& algorithm) const {
  return algorithms.empty() || std::find(algorithms.begin(), algorithms.end(), algorithm) != algorithms.end();
}

TransferPattern on_the_wire(TransferPattern pattern, const Protocol& protocol) {
  if (protocol.share == protocol.of) return pattern;
  for (Role& role : pattern.roles) {
    for (Run& run : role.runs) {
      const Int128 bytes = static_cast<Int128>(run.bytes) * protocol.of + protocol.share - 1;
      run.bytes = static_cast<Bytes>(bytes / protocol.share);
    }
  }
  return pattern;
}

}  // namespace stepsim
