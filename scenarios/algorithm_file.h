// algorithm_file.h: a collective algorithm that a user wrote down in a file, asked for as msccl:FILE.
//
// The file is an MSCCL algorithm (collectives/msccl.h). It is for one kind of collective and one number of members, and
// names the protocol it was written for: that one drives it where the system has it.
#pragma once

#include <optional>
#include <string>

#include "collectives/collective.h"

namespace stepsim {

struct AlgorithmFile {
  std::string protocol;  // "Simple", "LL", "LL128"
  Algorithm algorithm;
};

/// Nothing unless the name is msccl:FILE. InputError for a file that cannot be read or is malformed, with its own places.
std::optional<AlgorithmFile> algorithm_file(const std::string& name);

/// The same name with its file looked for beside the one that names it; other names as they are.
std::string beside(const std::string& name, const std::string& file);

}  // namespace stepsim
