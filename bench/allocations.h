// allocations.h: how often this program has asked for memory: calls of operator new, which allocations.cpp replaces in
// whatever links it.
#pragma once

#include <cstdint>

namespace stepsim {

/// Calls so far.
std::uint64_t allocations();

}  // namespace stepsim
