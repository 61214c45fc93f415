#include "collectives/point_to_point.h"

#include <stdexcept>
#include <string>

#include "collectives/refusal.h"
#include "collectives/stage.h"

namespace stepsim {

namespace {

std::uint32_t group_of(const CollectiveSpec& spec) {
  return spec.shape.empty() ? 2 : members(spec.shape);
}

void validate(const CollectiveSpec& spec) {
  const std::uint32_t group = group_of(spec);
  SpecCheck(spec, "point-to-point")
      .kinds({CollectiveKind::point_to_point})
      .expect(group >= 2 && spec.root < group && spec.to < group && spec.root != spec.to, "shape",
              "point-to-point: expected two of " + std::to_string(group) + " members, found " +
                  std::to_string(spec.root) + " and " + std::to_string(spec.to))
      .bytes()
      .done();
}

Role sender(Bytes bytes) {
  Role role;
  role.lanes = {{.first_run = 0, .runs = 1}};
  role.runs = {{.port = 0, .count = 1, .bytes = bytes}};
  return role;
}

/// Of the receiver and of the bystanders.
Role idle() {
  Role role;
  role.lanes = {{.first_run = 0, .runs = 0}};
  return role;
}

}  // namespace

TransferPattern point_to_point_pattern(const CollectiveSpec& spec) {
  validate(spec);
  TransferPattern pattern;
  pattern.members = group_of(spec);
  pattern.ports = 1;
  pattern.roles = {sender(spec.bytes), idle(), idle()};
  pattern.eager = !spec.rendezvous;
  pattern.bystanders = pattern.members > 2;
  pattern.role_of = [from = spec.root, to = spec.to](std::uint32_t member) {
    return member == from ? 0U : member == to ? 1U : 2U;
  };
  pattern.port = [from = spec.root, to = spec.to](std::uint32_t member, std::uint32_t) {
    return Port{.to = member == from ? to : no_member};
  };
  return pattern;
}

double point_to_point_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  if (rates.rate.size() != 1 || rates.latency.size() != 1)
    throw std::invalid_argument("bound: point-to-point has one rate and one latency");
  return LinkCost{rates.rate[0], rates.latency[0]}.transfer(spec.bytes);
}

}  // namespace stepsim
