#include "collectives/dissemination.h"

#include <bit>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"

namespace stepsim {

namespace {

std::uint32_t rounds(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

}  // namespace

TransferPattern dissemination_pattern(const CollectiveSpec& spec) {
  SpecCheck(spec, "dissemination").kinds({CollectiveKind::barrier}).done();
  const std::uint32_t n = members(spec.shape);
  TransferPattern pattern;
  pattern.members = n;
  pattern.ports = rounds(n);
  Role& role = pattern.roles.emplace_back();
  role.lanes = {{0, rounds(n)}};
  for (std::uint32_t k = 0; k < rounds(n); ++k) {
    role.runs.push_back({.port = k, .count = 1, .bytes = 0, .first_need = 0, .needs = k});  // all rounds before
    role.needs.push_back({k, 1, 0});
  }
  pattern.role_of = [](std::uint32_t) { return 0U; };
  pattern.port = [n](std::uint32_t member, std::uint32_t k) {
    return Port{.to = static_cast<std::uint32_t>((std::uint64_t{member} + (std::uint64_t{1} << k)) % n), .to_port = k};
  };
  return pattern;
}

double dissemination_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  SpecCheck(spec, "dissemination").kinds({CollectiveKind::barrier}).done();
  const std::uint32_t n = members(spec.shape);
  return n == 1 ? 0 : rounds(n) * best_link(rates).latency;
}

}  // namespace stepsim
