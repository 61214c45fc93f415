#include "collectives/refusal.h"

#include <algorithm>

namespace stepsim {

SpecCheck& SpecCheck::expect(bool right, const std::string& key, const std::string& message) {
  if (!right) problems_.push_back({{}, "collectives." + key, message});
  return *this;
}

SpecCheck& SpecCheck::kinds(const std::vector<CollectiveKind>& kinds) {
  std::string list;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) list += i + 1 == kinds.size() ? " and " : ", ";
    list += to_string(kinds[i]);
  }
  return expect(std::find(kinds.begin(), kinds.end(), spec_.kind) != kinds.end(), "algorithm",
                "'" + algorithm_ + "' does not do " + to_string(spec_.kind) + " (it does " + list + ")");
}

SpecCheck& SpecCheck::bytes() {
  return expect(spec_.bytes >= 0, "bytes", "expected 0 or more, found " + std::to_string(spec_.bytes));
}

SpecCheck& SpecCheck::chunk() {
  return expect(spec_.chunk >= 0, "chunk", "expected 0 or more, found " + std::to_string(spec_.chunk));
}

SpecCheck& SpecCheck::channels() {
  return expect(spec_.channels > 0, "channels", "expected 1 or more, found 0");
}

SpecCheck& SpecCheck::root() {
  const std::uint32_t n = members(spec_.shape);
  return expect(spec_.root < n, "root",
                "expected a rank of 0 to " + std::to_string(n - 1) + ", found " + std::to_string(spec_.root));
}

SpecCheck& SpecCheck::node() {
  const std::uint32_t n = members(spec_.shape);
  return expect(spec_.node > 0 && n % spec_.node == 0, "node",
                "expected a divisor of the " + std::to_string(n) + " members, found " + std::to_string(spec_.node));
}

SpecCheck& SpecCheck::alike() {
  return expect(spec_.sends.empty(), "sends", "'" + algorithm_ + "' sends all alike (ragged: use 'pairwise')");
}

void SpecCheck::done() const {
  if (!problems_.empty()) throw InputError(problems_);
}

}  // namespace stepsim
