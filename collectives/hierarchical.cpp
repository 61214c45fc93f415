#include "collectives/hierarchical.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "collectives/hierarchical_exchange.h"
#include "collectives/line.h"
#include "collectives/parts.h"
#include "collectives/refusal.h"
#include "collectives/ring.h"
#include "collectives/torus.h"

namespace stepsim {

namespace {

constexpr Bytes most_pieces = 64;

void validate(const CollectiveSpec& spec) {
  SpecCheck(spec, "hierarchical")
      .kinds({CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
              CollectiveKind::all_to_all})
      .bytes()
      .chunk()
      .alike()
      .done();
}

// Bytes of each piece of a shard: they differ by at most a byte; empty ones are left out.
std::vector<Bytes> pieces(const CollectiveSpec& spec) {
  const Bytes shard = shard_bytes(spec.bytes, members(spec.shape));
  Bytes count = 1;
  if (spec.chunk > 0) count = std::clamp<Bytes>((spec.bytes - 1) / spec.chunk + 1, 1, most_pieces);
  std::vector<Bytes> sizes;
  for (Bytes p = 0; p < count; ++p) {
    const Bytes size = shard / count + (p < shard % count ? 1 : 0);
    if (size > 0) sizes.push_back(size);
  }
  return sizes;
}

// An all-gather goes from the outermost axis to the innermost.
std::vector<std::vector<AxisStage>> stages_of_pieces(const CollectiveSpec& spec) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
    if (spec.shape[a].extent > 1) order.push_back(a);
  }
  std::vector<std::vector<AxisStage>> parts;
  if (order.empty()) return parts;
  for (const Bytes bytes : pieces(spec)) parts.push_back(stages(spec, {order, bytes}));
  return parts;
}

double stage_time(const CollectiveSpec& spec, const AxisStage& stage, const LinkCost& link) {
  const GroupAxis& axis = spec.shape[stage.axis];
  const auto n = static_cast<std::uint32_t>(axis.extent);
  return axis.closed ? ring_time(n, spec.ring, stage.bundle, link) : line_time(n, stage.bundle, link);
}

// How long the stages of one piece keep an axis from the next piece: until their last transfers have drained.
double occupied(const CollectiveSpec& spec, const std::vector<AxisStage>& part, std::uint32_t axis,
                const LinkCost& link) {
  const GroupAxis& of = spec.shape[axis];
  const auto n = static_cast<std::uint32_t>(of.extent);
  double up = 0;
  double down = 0;
  double line = 0;
  for (const AxisStage& stage : part) {
    if (stage.axis != axis) continue;
    const AxisFlows flows = ring_flows(n, spec.ring, stage.bundle);
    if (flows.up.sends > 0) up += flows.up.sends * link.transfer(flows.up.bytes) - link.latency;
    if (flows.down.sends > 0) down += flows.down.sends * link.transfer(flows.down.bytes) - link.latency;
    // No link of a line carries more than n - 1 bundles, n in both phases together (line.h).
    line = line == 0 ? (n - 1) * static_cast<double>(stage.bundle) / link.rate
                     : n * static_cast<double>(stage.bundle) / link.rate;
  }
  return of.closed ? std::max(up, down) : line;
}

// The stages of a piece before it first comes to the axis, and after it last leaves it.
double around(const CollectiveSpec& spec, const std::vector<AxisStage>& part, std::uint32_t axis,
              const std::vector<LinkCost>& links) {
  const auto is_here = [axis](const AxisStage& stage) { return stage.axis == axis; };
  const auto first = std::find_if(part.begin(), part.end(), is_here);
  const auto last = std::find_if(part.rbegin(), part.rend(), is_here);
  double time = 0;
  for (auto stage = part.begin(); stage != first; ++stage) time += stage_time(spec, *stage, links[stage->axis]);
  for (auto stage = part.rbegin(); stage != last; ++stage) time += stage_time(spec, *stage, links[stage->axis]);
  return time;
}

}  // namespace

TransferPattern hierarchical_pattern(const CollectiveSpec& spec) {
  validate(spec);
  if (spec.kind == CollectiveKind::all_to_all) return hierarchical_exchange_pattern(spec);
  CollectiveSpec turns = spec;
  turns.weighted_parts = true;  // one lane per link
  return pattern_of_parts(turns, stages_of_pieces(spec));
}

double hierarchical_bound(const CollectiveSpec& spec, const AxisRates& rates) {
  if (rates.rate.size() != spec.shape.size() || rates.latency.size() != spec.shape.size())
    throw std::invalid_argument("bound: one rate and one latency per group axis");
  if (spec.kind == CollectiveKind::all_to_all) return hierarchical_exchange_bound(spec, rates);
  const std::vector<std::vector<AxisStage>> parts = stages_of_pieces(spec);
  if (parts.empty()) return 0;
  std::vector<LinkCost> links;
  bool rings = true;
  for (std::size_t a = 0; a < spec.shape.size(); ++a) {
    links.push_back({rates.rate[a], rates.latency[a]});
    rings = rings && (spec.shape[a].closed || spec.shape[a].extent == 1);
  }
  double bound = 0;  // the largest piece comes first, the smallest last
  for (const AxisStage& stage : parts.front()) bound += stage_time(spec, stage, links[stage.axis]);
  for (std::uint32_t a = 0; a < spec.shape.size(); ++a) {
    if (spec.shape[a].extent == 1) continue;
    double time = links[a].latency + (rings ? around(spec, parts.back(), a, links) : 0);
    for (const std::vector<AxisStage>& part : parts) time += occupied(spec, part, a, links[a]);
    bound = std::max(bound, time);
  }
  return bound;
}

}  // namespace stepsim
