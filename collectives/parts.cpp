#include "collectives/parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/balance.h"

namespace stepsim {

namespace {

using Order = std::vector<std::uint32_t>;

Order axes_in_use(const std::vector<GroupAxis>& shape) {
  Order axes;
  for (std::uint32_t a = 0; a < shape.size(); ++a) {
    if (shape[a].extent > 1) axes.push_back(a);
  }
  return axes;
}

std::vector<Order> cyclic_orders(Order axes) {
  std::vector<Order> orders;
  for (std::size_t p = 0; p < axes.size(); ++p) {
    orders.push_back(axes);
    std::rotate(axes.begin(), axes.begin() + 1, axes.end());
  }
  return orders;
}

std::vector<Bytes> equal_sizes(Bytes shard, std::size_t parts) {
  const Bytes count = static_cast<Bytes>(parts);
  std::vector<Bytes> sizes(parts, shard / count);
  for (Bytes p = 0; p < shard % count; ++p) ++sizes[static_cast<std::size_t>(p)];
  return sizes;
}

// Whole bytes nearest to the weights (largest remainder first), adding up to the shard.
std::vector<Bytes> weighted_sizes(Bytes shard, const std::vector<double>& weights) {
  std::vector<Bytes> sizes;
  std::vector<double> rest;
  for (const double w : weights) {
    const double exact = std::max(0.0, w) * static_cast<double>(shard);
    sizes.push_back(static_cast<Bytes>(std::floor(exact)));
    rest.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> by_rest(weights.size());
  std::iota(by_rest.begin(), by_rest.end(), std::size_t{0});
  std::stable_sort(by_rest.begin(), by_rest.end(), [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  Bytes missing = shard - std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
  for (std::size_t i = 0; missing > 0; i = (i + 1) % by_rest.size(), --missing) ++sizes[by_rest[i]];
  for (std::size_t i = 0; missing < 0; i = (i + 1) % by_rest.size()) {  // weights above 1 by rounding
    if (sizes[by_rest[i]] == 0) continue;
    --sizes[by_rest[i]];
    ++missing;
  }
  return sizes;
}

// What one stage costs, in times a bundle takes on a link: `link` on the busiest link of the axis over the whole
// collective, `alone` from start to end.
struct AxisCost {
  double link = 0;
  double alone = 0;
};

AxisCost axis_cost(const CollectiveSpec& spec, const GroupAxis& axis) {
  const double n = axis.extent;
  const double phases = spec.kind == CollectiveKind::all_reduce ? 2 : 1;
  if (!axis.closed) return {phases == 2 ? n : n - 1, phases * (n - 1)};  // line.h: no link carries more than n in all
  double steps = n - 1;
  if (spec.ring == RingStyle::halves) steps = (n - 1) / 2;
  const int half = axis.extent / 2;
  if (spec.ring == RingStyle::whole_shards) steps = half;
  return {phases * steps, phases * steps};
}

// Rows: the load of each axis, then each part alone; columns: parts (see parts.h).
Balance balanced(const CollectiveSpec& spec, const Order& axes, const std::vector<Order>& orders) {
  const double total = members(spec.shape);
  std::vector<std::vector<double>> cost(axes.size() + orders.size(), std::vector<double>(orders.size(), 0.0));
  for (std::size_t p = 0; p < orders.size(); ++p) {
    double gathered = 1 / total;
    for (const std::uint32_t axis : orders[p]) {
      const auto row = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
      const AxisCost of = axis_cost(spec, spec.shape[axis]);
      cost[row][p] = gathered * of.link;
      cost[axes.size() + p][p] += gathered * of.alone;
      gathered *= spec.shape[axis].extent;
    }
  }
  return balance(cost);
}

}  // namespace

std::vector<ArrayPart> cut_in_parts(const CollectiveSpec& spec) {
  const Order axes = axes_in_use(spec.shape);
  if (axes.empty()) return {};
  const std::vector<Order> orders = cyclic_orders(axes);
  const Bytes shard = shard_bytes(spec.bytes, members(spec.shape));
  const std::vector<Bytes> sizes = spec.weighted_parts ? weighted_sizes(shard, balanced(spec, axes, orders).weights)
                                                       : equal_sizes(shard, orders.size());
  std::vector<ArrayPart> parts;
  for (std::size_t p = 0; p < orders.size(); ++p) {
    if (sizes[p] > 0) parts.push_back({orders[p], sizes[p]});
  }
  return parts;
}

std::vector<AxisStage> stages(const CollectiveSpec& spec, const ArrayPart& part) {
  std::vector<AxisStage> gather;
  Bytes bundle = part.bytes;
  for (const std::uint32_t axis : part.order) {
    gather.push_back({CollectivePhase::all_gather, axis, bundle});
    bundle *= spec.shape[axis].extent;
  }
  std::vector<AxisStage> played;
  if (spec.kind != CollectiveKind::all_gather) {
    played.assign(gather.rbegin(), gather.rend());
    for (AxisStage& stage : played) stage.phase = CollectivePhase::reduce_scatter;
  }
  if (spec.kind != CollectiveKind::reduce_scatter) played.insert(played.end(), gather.begin(), gather.end());
  return played;
}

}  // namespace stepsim
