// refusal.h: how an algorithm refuses a spec that it does not cover: every reason at once.
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"
#include "sim/input_error.h"

namespace stepsim {

/// What each check finds wrong is kept; done() throws it all as one InputError.
class SpecCheck {
 public:
  /// algorithm: as users write it.
  SpecCheck(const CollectiveSpec& spec, std::string algorithm) : spec_(spec), algorithm_(std::move(algorithm)) {}

  /// One of these: "'ring' does not do barrier (it does all-gather and all-reduce)".
  SpecCheck& kinds(const std::vector<CollectiveKind>& kinds);
  SpecCheck& bytes();     // 0 or more
  SpecCheck& chunk();     // 0 or more
  SpecCheck& channels();  // 1 or more
  SpecCheck& root();      // a rank
  SpecCheck& node();      // divides the members
  SpecCheck& alike();     // no ragged sends
  /// Anything else: key without "collectives.".
  SpecCheck& expect(bool right, const std::string& key, const std::string& message);
  void done() const;

 private:
  const CollectiveSpec& spec_;
  std::string algorithm_;
  std::vector<Problem> problems_;
};

}  // namespace stepsim
