#include "collectives/point_to_point.h"

#include <stdexcept>
#include <string>

#include "collectives/stage.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

void validate(const CollectiveSpec& spec) {
  if (spec.kind != CollectiveKind::point_to_point)
    throw InputError("collectives.algorithm",
                     "'point-to-point' does not do " + to_string(spec.kind) + " (use 'torus')");
  if (!spec.shape.empty() && members(spec.shape) != 2)
    throw InputError("collectives.shape",
                     "point-to-point: expected 2 members, found " + std::to_string(members(spec.shape)));
  if (spec.bytes < 0) throw InputError("collectives.bytes", "expected 0 or more, found " + std::to_string(spec.bytes));
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

TransferPlan point_to_point_plan(const CollectiveSpec& spec) {
  validate(spec);
  TransferPlan plan;
  plan.members = 2;
  plan.ports = 1;
  plan.roles = {sender(spec.bytes), receiver()};
  plan.role_of = {0, 1};
  plan.port = {{.to = 1}, {.to = 1}};
  plan.eager = true;
  return plan;
}

double point_to_point_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  if (rates.rate.size() != 1 || rates.latency.size() != 1)
    throw std::invalid_argument("bound: point-to-point has one rate and one latency");
  return LinkCost{rates.rate[0], rates.latency[0]}.transfer(spec.bytes);
}

}  // namespace stepsim
