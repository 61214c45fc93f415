#include "collectives/recursive.h"

#include <algorithm>
#include <bit>
#include <string>

#include "collectives/member_links.h"
#include "collectives/refusal.h"
#include "collectives/role_writer.h"

namespace stepsim {

namespace {

enum class Way { doubling, halving };

void validate(const CollectiveSpec& spec, Way way) {
  const bool doubling = way == Way::doubling;
  const CollectiveKind half = doubling ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
  SpecCheck(spec, doubling ? "recursive-doubling" : "recursive-halving")
      .kinds({half, CollectiveKind::all_reduce})
      .bytes()
      .done();
}

// Who takes part in the steps: `core` members, by place; the extras stand beside places 0 ... extras - 1.
struct Fold {
  explicit Fold(std::uint32_t members) : core(std::bit_floor(members)), extras(members - core) {}

  [[nodiscard]] bool is_extra(std::uint32_t rank) const { return rank < 2 * extras && rank % 2 == 0; }
  [[nodiscard]] std::uint32_t place(std::uint32_t rank) const { return rank < 2 * extras ? rank / 2 : rank - extras; }
  [[nodiscard]] std::uint32_t rank(std::uint32_t place) const {
    return place < extras ? 2 * place + 1 : place + extras;
  }
  // Members, extras too, of the aligned block of `size` places around one.
  [[nodiscard]] Bytes block(std::uint32_t place, std::uint32_t size) const {
    const std::uint32_t first = place / size * size;
    return size + (extras > first ? std::min(size, extras - first) : 0);
  }

  std::uint32_t core;
  std::uint32_t extras;
};

// A step: how far the partner is, and what a member sends to it.
enum class Content {
  whole,      // the array
  own_block,  // shards of the block around the member
  far_block,  // shards of the block around the partner
  part        // of the array: 1 / (2 x distance)
};
struct Step {
  std::uint32_t distance = 0;
  Content content = Content::whole;
};

std::vector<Step> steps_of(const CollectiveSpec& spec, Way way) {
  const std::uint32_t core = Fold(members(spec.shape)).core;
  const bool all_reduce = spec.kind == CollectiveKind::all_reduce;
  std::vector<Step> steps;
  if (way == Way::doubling) {
    const Content content = all_reduce ? Content::whole : Content::own_block;
    for (std::uint32_t d = 1; d < core; d *= 2) steps.push_back({d, content});
  } else {
    for (std::uint32_t d = 1; d < core; d *= 2) steps.push_back({d, all_reduce ? Content::part : Content::far_block});
    const std::vector<Step> nearest_first = steps;
    std::reverse(steps.begin(), steps.end());
    if (all_reduce) steps.insert(steps.begin(), nearest_first.begin(), nearest_first.end());
  }
  return steps;
}

Bytes bytes_of(const CollectiveSpec& spec, const Fold& fold, const Step& step, std::uint32_t place) {
  const Bytes shard = shard_bytes(spec.bytes, members(spec.shape));
  switch (step.content) {
    case Content::own_block:
      return shard * fold.block(place, step.distance);
    case Content::far_block:
      return shard * fold.block(place ^ step.distance, step.distance);
    case Content::part:
      return shard_bytes(spec.bytes, fold.core) * (fold.core / 2 / step.distance);
    case Content::whole:
      break;
  }
  return spec.bytes;
}

// What an extra gives before the steps, and gets after them.
struct Extra {
  Bytes gives = 0;
  Bytes gets = 0;
};

Extra extra_of(const CollectiveSpec& spec) {
  const std::uint32_t count = members(spec.shape);
  const Bytes shard = shard_bytes(spec.bytes, count);
  if (spec.kind == CollectiveKind::all_gather) return {shard, shard * (count - 1)};
  if (spec.kind == CollectiveKind::reduce_scatter) return {spec.bytes, shard};
  return {spec.bytes, spec.bytes};
}

// Ports: one per step, then between an extra and its stand-in: before and after.
Role role_of(const CollectiveSpec& spec, const Fold& fold, const std::vector<Step>& steps, std::uint32_t rank) {
  const auto before = static_cast<std::uint32_t>(steps.size());
  const std::uint32_t after = before + 1;
  const bool stands_in = rank < 2 * fold.extras;
  RoleWriter role;
  role.lane();
  if (fold.is_extra(rank)) {
    role.run(before, 1, extra_of(spec).gives);
    return role.role();
  }
  std::vector<Need> came_in;
  if (stands_in) came_in.push_back({before, 1, 0});
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    role.run(s, 1, bytes_of(spec, fold, steps[s], fold.place(rank)), came_in);
    came_in.push_back({s, 1, 0});
  }
  if (stands_in) role.run(after, 1, extra_of(spec).gets, came_in);
  return role.role();
}

Port port_of(const Fold& fold, const std::vector<Step>& steps, std::uint32_t rank, std::uint32_t port) {
  const bool paired = rank < 2 * fold.extras;
  const bool extra = fold.is_extra(rank);
  if (port < steps.size()) {
    if (extra) return {.to = no_member};
    return {.to = fold.rank(fold.place(rank) ^ steps[port].distance), .to_port = port};
  }
  if (!paired || extra != (port == steps.size())) return {.to = no_member};
  return {.to = extra ? rank + 1 : rank - 1, .to_port = port};
}

TransferPattern pattern_of(const CollectiveSpec& spec, Way way) {
  validate(spec, way);
  TransferPattern pattern;
  pattern.members = members(spec.shape);
  const Fold fold(pattern.members);
  const std::vector<Step> steps = steps_of(spec, way);
  pattern.ports = static_cast<std::uint32_t>(steps.size()) + (fold.extras > 0 ? 2 : 0);
  RoleTable table;
  for (std::uint32_t rank = 0; rank < pattern.members; ++rank) {
    table.add(spec.bytes == 0 ? Role() : role_of(spec, fold, steps, rank));
  }
  pattern.roles = table.roles();
  pattern.role_of = [role_of = table.role_of()](std::uint32_t rank) { return role_of[rank]; };
  pattern.port = [fold, steps](std::uint32_t rank, std::uint32_t port) { return port_of(fold, steps, rank, port); };
  return pattern;
}

// When each place is ready for its next step, every transfer alone on its links.
double bound_of(const CollectiveSpec& spec, const AxisRates& rates, Way way) {
  validate(spec, way);
  const Fold fold(members(spec.shape));
  if (fold.core < 2 || spec.bytes == 0) return 0;
  const LinkCost link = best_link(rates);
  std::vector<double> ready(fold.core, 0);
  std::fill_n(ready.begin(), fold.extras, link.transfer(extra_of(spec).gives));
  for (const Step& step : steps_of(spec, way)) {
    const std::vector<double> start = ready;
    for (std::uint32_t place = 0; place < fold.core; ++place) {
      const std::uint32_t partner = place ^ step.distance;
      const double drained = start[place] + static_cast<double>(bytes_of(spec, fold, step, place)) / link.rate;
      ready[place] = std::max(drained, start[partner] + link.transfer(bytes_of(spec, fold, step, partner)));
    }
  }
  for (std::uint32_t place = 0; place < fold.extras; ++place) ready[place] += link.transfer(extra_of(spec).gets);
  return *std::max_element(ready.begin(), ready.end());
}

}  // namespace

TransferPattern recursive_doubling_pattern(const CollectiveSpec& spec) {
  return pattern_of(spec, Way::doubling);
}
TransferPattern recursive_halving_pattern(const CollectiveSpec& spec) {
  return pattern_of(spec, Way::halving);
}

double recursive_doubling_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  return bound_of(spec, rates, Way::doubling);
}
double recursive_halving_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  return bound_of(spec, rates, Way::halving);
}

}  // namespace stepsim
