// prefetch.h: fetches into the cache what will be written soon.
//
// Like chips end and start by the ten thousand at one instant, and the state of a pod does not fit the cache: without
// this, four fifths of the time would go into waiting for memory. Where one address is read from another, that one is
// fetched first ("far"), what it leads to later ("near").
#pragma once

#include <cstddef>

namespace stepsim {

/// How many items ahead of its use.
inline constexpr std::size_t prefetch_far = 16;
inline constexpr std::size_t prefetch_near = 8;

/// Always inline, as is whatever does nothing but call it: g++ deletes calls of functions that only prefetch, as if
/// they had no effect.
template <class T>
[[gnu::always_inline]] inline void prefetch(const T* soon) {
  __builtin_prefetch(soon, 1);
  if constexpr (alignof(T) < sizeof(T))  // NOLINT(misc-redundant-expression): they differ with T
    __builtin_prefetch(reinterpret_cast<const char*>(soon) + sizeof(T) - 1, 1);
}

}  // namespace stepsim
