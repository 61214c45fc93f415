#include "collectives/point_to_point.h"

#include <stdexcept>
#include <string>

#include "collectives/refusal.h"
#include "collectives/stage.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "point-to-point")
      .kinds({CollectiveKind::point_to_point})
      .expect(spec.shape.empty() || members(spec.shape) == 2, "shape",
              "point-to-point: expected 2 members, found " + std::to_string(members(spec.shape)))
      .bytes()
      .done();
}

Role sender(Bytes bytes) {
  Role role;
  role.lanes = {{.first_run = 0, .runs = 1}};
  role.runs = {{.port = 0, .count = 1, .bytes = bytes}};
  return role;
}

Role receiver() {
  Role role;
  role.lanes = {{.first_run = 0, .runs = 0}};
  return role;
}

}  // namespace

TransferPattern point_to_point_pattern(const CollectiveSpec& spec) {
  validate(spec);
  TransferPattern pattern;
  pattern.members = 2;
  pattern.ports = 1;
  pattern.roles = {sender(spec.bytes), receiver()};
  pattern.eager = true;
  pattern.role_of = [](std::uint32_t member) { return member; };
  pattern.port = [](std::uint32_t member, std::uint32_t) { return Port{.to = member == 0 ? 1 : no_member}; };
  return pattern;
}

double point_to_point_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  if (rates.rate.size() != 1 || rates.latency.size() != 1)
    throw std::invalid_argument("bound: point-to-point has one rate and one latency");
  return LinkCost{rates.rate[0], rates.latency[0]}.transfer(spec.bytes);
}

}  // namespace stepsim
