// refusal.h: how an algorithm refuses a kind of collective that it does not do.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "sim/input_error.h"

namespace stepsim {

/// InputError unless the spec's kind is one of these, saying which they are: "(it does all-gather and all-reduce)".
inline void check_kind(const CollectiveSpec& spec, const std::string& algorithm,
                       const std::vector<CollectiveKind>& kinds) {
  if (std::find(kinds.begin(), kinds.end(), spec.kind) != kinds.end()) return;
  std::string list;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) list += i + 1 == kinds.size() ? " and " : ", ";
    list += to_string(kinds[i]);
  }
  throw InputError("collectives.algorithm",
                   "'" + algorithm + "' does not do " + to_string(spec.kind) + " (it does " + list + ")");
}

}  // namespace stepsim
