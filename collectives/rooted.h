// rooted.h: what the collectives with a root have in common: broadcast, reduce, gather, scatter.
//
// Algorithms number the members from the root: relative rank 0 is the root, r is member (root + r) mod N.
#pragma once

#include <string>

#include "collectives/collective.h"
#include "collectives/refusal.h"

namespace stepsim {

/// Does the data run from the root?
inline bool from_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
}

/// Does every member have a shard of its own (else: all of the array)?
inline bool in_shards(CollectiveKind kind) {
  return kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

inline std::uint32_t relative_rank(std::uint32_t member, std::uint32_t root, std::uint32_t n) {
  return member >= root ? member - root : member + (n - root);
}

inline std::uint32_t member_at(std::uint32_t relative, std::uint32_t root, std::uint32_t n) {
  return relative < n - root ? relative + root : relative - (n - root);
}

inline void check_rooted(const CollectiveSpec& spec, const std::string& algorithm) {
  SpecCheck(spec, algorithm)
      .kinds({CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::gather, CollectiveKind::scatter})
      .bytes()
      .root()
      .done();
}

}  // namespace stepsim
