#include "scenarios/collective_methods.h"

#include <algorithm>
#include <utility>

#include "scenarios/algorithm_file.h"
#include "scenarios/link_rates.h"
#include "topology/ring_order.h"

namespace stepsim {
namespace {

/// On a torus the algorithms that use its axes; elsewhere whatever is fastest.
std::string usual_algorithm(const Scenario& scenario, CollectiveKind kind) {
  if (kind == CollectiveKind::point_to_point) return "point-to-point";
  if (scenario.cluster.kind != "torus") return "auto";
  if (kind == CollectiveKind::all_to_all) return "direct";
  const bool on_axes = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                       kind == CollectiveKind::all_reduce;
  return on_axes ? "torus" : "auto";
}

}  // namespace

CollectiveMethods::CollectiveMethods(const Scenario& scenario, const Cluster& cluster, std::vector<GroupAxis> shape,
                                     MethodsAsked asked)
    : scenario_(scenario),
      cluster_(cluster),
      shape_(std::move(shape)),
      asked_(std::move(asked)),
      algorithms_(collective_algorithms()) {
  if (cluster_.spec().kind != "torus" && cluster_.spec().kind != "nodes") order_rings();
  read_file();
  check_sends();
  choose();
}

void CollectiveMethods::read_file() {
  const std::optional<AlgorithmFile> file = algorithm_file(asked_.algorithm);
  if (!file) return;
  algorithms_.add(asked_.algorithm, "from a file", file->algorithm);
  if (!asked_.protocol.empty()) return;
  for (const Protocol& one : scenario_.protocols) {
    if (one.name == file->protocol) asked_.protocol = one.name;
  }
}

void CollectiveMethods::check_sends() const {
  const SendMatrix& sends = asked_.sends;
  if (sends.members == 0) return;
  if (asked_.kind != CollectiveKind::all_to_all)
    throw InputError("--sends", "expected an all_to_all, found " + to_string(asked_.kind));
  if (sends.members != members()) {
    throw InputError("--sends", "'" + sends.file + "' is for " + std::to_string(sends.members) +
                                    " members, the group has " + std::to_string(members()));
  }
}

/// Where links are listed, rings go round by the best ways there are, both ways.
void CollectiveMethods::order_rings() {
  const Groups groups(cluster_.axes(), shape_);
  std::vector<ChipId> chips;
  for (std::uint32_t rank = 0; rank < groups.members(); ++rank) chips.push_back(groups.member(0, rank));
  for (const std::vector<std::uint32_t>& order : ring_orders(cluster_, chips)) {
    rings_.push_back(order);
    rings_.emplace_back(order.rbegin(), order.rend());
  }
}

bool CollectiveMethods::spans_nodes() const {
  const Groups groups(cluster_.axes(), shape_);
  return cluster_.host_of(0) != cluster_.host_of(groups.member(0, groups.members() - 1));
}

/// With each protocol that serves the algorithm. One that none serves is driven as rings are, if it was asked for by name;
/// a network adds and copies only where a protocol says so, or when asked.
void CollectiveMethods::add(const std::string& algorithm, bool unasked) {
  const std::vector<Protocol>& all = scenario_.protocols;
  const auto serves = [&](const std::string& name) {
    return [&, name](const Protocol& protocol) { return protocol.serves(name); };
  };
  const bool served = std::any_of(all.begin(), all.end(), serves(algorithm));
  const bool by_network = algorithms_.at(asked_.algorithm_key, algorithm).by_network;
  if (all.empty() && !(unasked && by_network)) methods_.push_back({algorithm, SIZE_MAX, algorithm});
  if (!served && unasked) return;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].one_node && spans_nodes()) continue;
    if (!asked_.protocol.empty() && all[p].name != asked_.protocol) continue;
    if (serves(served ? algorithm : "ring")(all[p])) methods_.push_back({algorithm, p, algorithm + ", " + all[p].name});
  }
}

/// Asked of the algorithms themselves: those that refuse the kind or the shape are no choice. The usual one is taken at
/// its word: it refuses when its pattern is wanted.
void CollectiveMethods::choose() {
  if (asked_.kind == CollectiveKind::point_to_point && members() != 2) {
    throw InputError(asked_.algorithm_key, "point-to-point: expected groups of 2, found " + std::to_string(members()));
  }
  const std::string usual = asked_.sends.members > 0 ? "pairwise" : usual_algorithm(scenario_, asked_.kind);
  const std::string asked = asked_.algorithm.empty() ? usual : asked_.algorithm;
  const std::vector<std::string> names = asked == "auto" ? algorithms_.names() : std::vector<std::string>{asked};
  std::vector<Problem> refusals;
  for (const std::string& name : names) {
    const Algorithm& algorithm = algorithms_.at(asked_.algorithm_key, name);
    if (asked == "auto" && members() > algorithm.tried_up_to) continue;
    try {
      if (asked == "auto" || !asked_.algorithm.empty())
        static_cast<void>(algorithm.pattern(spec({name, SIZE_MAX, name}, members())));
    } catch (const InputError& error) {
      refusals.insert(refusals.end(), error.problems().begin(), error.problems().end());
      continue;
    }
    add(name, asked == "auto");
  }
  if (!methods_.empty()) return;
  if (!refusals.empty() && asked != "auto") throw InputError(refusals);
  throw InputError(asked_.protocol.empty() ? asked_.algorithm_key : asked_.protocol_key,
                   "no algorithm and protocol of this system do " + to_string(asked_.kind) + " on " + shape_text());
}

std::string CollectiveMethods::shape_text() const {
  std::string text;
  for (const GroupAxis& axis : shape_) {
    const HardwareAxis& hardware = cluster_.axes()[static_cast<std::size_t>(axis.hardware_axis)];
    text += (text.empty() ? "" : ", ") + hardware.name +
            (hardware.direct ? " ("
             : axis.closed   ? " (ring of "
                             : " (line of ") +
            std::to_string(axis.extent) + (axis.hops > 1 ? ", stride " + std::to_string(axis.hops) : "") + ")";
  }
  return text.empty() ? "one chip" : text;
}

const Algorithm& CollectiveMethods::algorithm(const CollectiveMethod& method) const {
  return algorithms_.at(asked_.algorithm_key, method.algorithm);
}

CollectiveSpec CollectiveMethods::spec(const CollectiveMethod& method, Bytes array) const {
  CollectiveSpec spec;
  spec.kind = asked_.kind;
  spec.shape = shape_;
  spec.bytes = array;
  if (asked_.sends.members > 0) spec.sends = asked_.sends.at(array / static_cast<Bytes>(members()));
  spec.algorithm = method.algorithm;
  spec.ring = scenario_.ring;
  spec.weighted_parts = scenario_.weighted_parts;
  spec.rings = rings_;
  spec.chunk = scenario_.chunk;
  const ClusterSpec& cluster = scenario_.cluster;
  if (cluster.kind == "nodes" && !shape_.empty() &&
      shape_.back().hardware_axis + 1 == static_cast<int>(cluster_.axes().size())) {
    spec.node = static_cast<std::uint32_t>(shape_.back().extent);
    if (spec.node < members())
      spec.channels = std::min<std::uint32_t>(spec.node, static_cast<std::uint32_t>(cluster.nodes.nics));
  }
  spec.channels *= algorithm(method).channels_each;
  if (!rings_.empty()) spec.channels = static_cast<std::uint32_t>(rings_.size());
  if (method.protocol != SIZE_MAX) {
    const Protocol& protocol = scenario_.protocols[method.protocol];
    spec.chunk = protocol.chunk;
    if (protocol.channels > 0) spec.channels = protocol.channels;
  }
  return spec;
}

FamilyPattern CollectiveMethods::pattern(const CollectiveMethod& method, Bytes array) const {
  const Protocol protocol = method.protocol == SIZE_MAX ? Protocol() : scenario_.protocols[method.protocol];
  FamilyPattern one;
  one.pattern = on_the_wire(algorithm(method).pattern(spec(method, array)), protocol);
  one.used = ports_in_use(one.pattern);
  one.hops = protocol.hops;
  one.launch = protocol.launch;
  return one;
}

/// The best that the links can give. Hashing is luck: a bound is what even spraying would give.
AxisRates CollectiveMethods::rates(bool both_ways) const {
  ClusterSpec spec = cluster_.spec();
  if (spec.kind != "torus" && spec.kind != "nodes") return most_of_any_chip(cluster_, shape_);
  if (spec.nodes.uplinks == 0) return LinkRates(cluster_, both_ways).rates(shape_);
  spec.nodes.uplinks = 0;
  const Cluster even = build(spec);
  return LinkRates(even, both_ways).rates(shape_);
}

double CollectiveMethods::bound(const CollectiveMethod& method, Bytes array) const {
  const Algorithm& by = algorithm(method);
  return by.bound(spec(method, array), rates(by.both_ways && scenario_.ring != RingStyle::one_way));
}

}  // namespace stepsim
